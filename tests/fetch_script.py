"""Fetch released annotations, or the comics of a list, in a process that tests kill.

fetch_script.py annotations MANIFEST OUT MIRROR | images IDS PINNED OUT JOURNAL ENTRIES MIRROR
"""

import sys
from pathlib import Path

from punchline.fetch.annotations import fetch_annotations
from punchline.fetch.images import fetch_images
from punchline.fetch.manifests import read_ids
from punchline.files import write_records

if __name__ == "__main__":
    kind, *paths, mirror = sys.argv[1:]
    files = list(map(Path, paths))
    if kind == "annotations":
        fetch_annotations(*files, mirror, report=print)
    else:
        ids, pinned, out, journal, entries = files
        write_records(entries, fetch_images(read_ids(ids), {}, pinned, out, journal, None, mirror))

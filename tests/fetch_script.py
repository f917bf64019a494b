"""Fetch released annotations, or the comics of a list, in a process that tests kill.

fetch_script.py annotations MANIFEST OUT MIRROR | images SELECTED PINNED OUT LOG ENTRIES MIRROR
"""

import sys
from pathlib import Path

from punchline.fetch.annotations import fetch_annotations
from punchline.fetch.images import fetch_images
from punchline.fetch.manifests import Selected, read_manifest
from punchline.fetch.web import online
from punchline.files import write_records

if __name__ == "__main__":
    kind, *paths, mirror = sys.argv[1:]
    files = list(map(Path, paths))
    if kind == "annotations":
        online(lambda web: fetch_annotations(web, *files, mirror))
    else:
        selected, pinned, out, log, entries = files
        chosen = read_manifest(selected, Selected)
        lock = Path("images.lock.csv")
        write_records(entries, online(lambda web: fetch_images(web, chosen, pinned, out, log, lock, mirror)))

"""Fetch in a process of its own, for tests that end it: JSON of the arguments of fetch_annotations or fetch_images.

Besides: `hosts`, {host: URL} of rerouted hosts, and `entries`, a file for the entries. Prints the id of each comic.
"""

import json
import sys
from functools import partial
from pathlib import Path

from punchline.errors import entry_point
from punchline.fetch.annotations import fetch_annotations
from punchline.fetch.images import fetch_images
from punchline.fetch.manifests import Selected, read_manifest
from punchline.fetch.web import Manners, online
from punchline.files import write_records

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.fetch_server import Rerouted


@entry_point
def main() -> None:
    given = json.loads(sys.argv[1])
    network = partial(Rerouted, hosts=given.pop("hosts", {}))
    mirror, entries = given.pop("mirror", None), given.pop("entries", None)
    paths = {name: Path(place) for name, place in given.items()}
    if "manifest" in paths:
        online(partial(fetch_annotations, mirror=mirror, **paths), Manners(pause=0), network)
        return
    about = {"selected": read_manifest(paths.pop("selected"), Selected), "mirror": mirror}
    work = partial(fetch_images, progress=lambda *now: print(now[-1].item_id, flush=True), **about, **paths)
    found = online(work, Manners(pause=0), network)
    if entries is not None:
        write_records(entries, found)


if __name__ == "__main__":
    main()

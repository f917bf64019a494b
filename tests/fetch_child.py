"""Fetch comics in a process of its own, for tests that end it: one argument, JSON of the ids, hosts and paths."""

import json
import sys
from pathlib import Path

from punchline.errors import entry_point
from punchline.fetch.images import fetch_images
from punchline.fetch.web import Manners
from punchline.schema import FetchEntry


def show(_done: int, _total: int, entry: FetchEntry) -> None:
    print(entry.item_id, flush=True)


@entry_point
def main() -> None:
    ids, hosts, *paths = json.loads(sys.argv[1])
    root, out, ledger, lock, manifest = (Path(path) if path else None for path in paths)
    assert root and out and ledger
    pages = {comic_id: f"https://xkcd.com/{comic_id[5:]}/" for comic_id in ids}
    places = (manifest, out, ledger, lock)
    fetch_images(ids, pages, *places, manners=Manners(pause=0), hosts=hosts, root=root, progress=show)


if __name__ == "__main__":
    main()

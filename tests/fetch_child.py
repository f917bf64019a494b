"""Fetch comics in a process of its own, for tests that end it: one argument, JSON of the ids, hosts and paths."""

import json
import sys
from functools import partial
from pathlib import Path

from punchline.errors import entry_point
from punchline.fetch.images import fetch_images
from punchline.fetch.manifests import Selected
from punchline.fetch.web import Manners, online
from punchline.schema import FetchEntry

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.fetch_server import Rerouted


def show(_done: int, _total: int, entry: FetchEntry) -> None:
    print(entry.item_id, flush=True)


@entry_point
def main() -> None:
    ids, hosts, places = json.loads(sys.argv[1])
    selected = [Selected(item_id=name, source="xkcd", url=f"https://xkcd.com/{name[5:]}/") for name in ids]
    work = partial(fetch_images, selected=selected, progress=show, **{n: Path(p) for n, p in places.items()})
    online(work, Manners(pause=0), partial(Rerouted, hosts=hosts))


if __name__ == "__main__":
    main()

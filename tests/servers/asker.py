"""Ask an OpenAI-compatible server in a process of its own, for tests that end it: URL COUNT NAME OPTIONS."""

import json
import sys
from pathlib import Path

from tests.servers.runs import card, many, run

if __name__ == "__main__":
    url, count, name, options = sys.argv[1:]
    run(Path(), card(url, **json.loads(options)), many(int(count), name))

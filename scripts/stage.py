"""Run one job of the workflow: python scripts/stage.py RULE WILDCARD…"""

import sys

from punchline.start import start

if __name__ == "__main__":
    start("punchline.jobs", sys.argv[1:], last="stopped")

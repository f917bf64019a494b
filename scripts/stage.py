"""Run one job of the workflow: python scripts/stage.py RULE WILDCARD…"""

import sys

from punchline.jobs import main

if __name__ == "__main__":
    main(sys.argv[1:])

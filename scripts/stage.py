"""Run one job of the workflow: python scripts/stage.py RULE WILDCARD…"""

import signal
import sys

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C during the imports ends the job without a word
    from punchline.jobs import main

    signal.signal(signal.SIGINT, signal.default_int_handler)
    main(sys.argv[1:])

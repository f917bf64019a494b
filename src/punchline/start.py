"""Start of a program, whose imports take a second: Ctrl-C ends it with one line from the beginning."""

import sys
from importlib import import_module

STOPPED = "stopped early: files and answers are kept, and the same command resumes"


def start(module: str) -> None:
    """Import a module and call its `main`."""
    try:
        import_module(module).main()
    except KeyboardInterrupt:
        print(STOPPED, file=sys.stderr)
        sys.exit(130)

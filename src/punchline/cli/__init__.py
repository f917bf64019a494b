"""`punchline`: one module a group of commands."""

from __future__ import annotations

import signal
import sys

from punchline.cli import exports, pages, people, rating, running, start, tables, there
from punchline.cli.base import app
from punchline.core.errors import PunchlineError, of_system

__all__ = ["app", "exports", "main", "pages", "people", "rating", "running", "start", "tables", "there"]


def main() -> None:
    """Entry point: an error that the user can act on is one message and status 2."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` ends a command without a word
    try:
        app(prog_name="punchline")
    except PunchlineError as error:
        sys.stdout.flush()
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        sys.exit(f"error: {of_system(error)}")


if __name__ == "__main__":
    main()

"""`punchline`: one module per group of commands."""

from __future__ import annotations

import os
import sys

from punchline.cli import listing, new_benchmark, rating, run, running, share, tables
from punchline.cli.base import PANELS, app
from punchline.errors import PunchlineError, system_error

__all__ = ["app", "listing", "main", "new_benchmark", "rating", "run", "running", "share", "tables"]


def main() -> None:
    """Run a command. Bad input ends it with one message and status 2."""
    app.registered_commands.sort(key=lambda command: [*PANELS, command.rich_help_panel].index(command.rich_help_panel))
    try:
        app(prog_name="punchline")
    except PunchlineError as error:
        _flush()
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        sys.exit(f"error: {system_error(error)}")
    finally:
        _flush()


def _flush() -> None:
    """Write the rest of the output; without a reader it is dropped."""
    try:
        if sys.stdout is not None:  # None: it was closed from the start
            sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python writes it again when it ends
        if not isinstance(error, BrokenPipeError):
            sys.exit(f"error: {system_error(error)}")

"""All commands of `punchline`."""

from __future__ import annotations

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
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        sys.exit(f"error: {system_error(error)}")

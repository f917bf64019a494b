"""Templates of pages: whatever is put into one is escaped, and a name that it lacks is an error."""

from __future__ import annotations

from pathlib import Path

import jinja2

from punchline.text import escape_controls


def templates(folder: Path) -> jinja2.Environment:
    """Those of a folder. The filter `visible` shows what would steer a page."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["visible"] = escape_controls
    return environment

"""Templates of pages and texts: whatever is put into a page is escaped, and a name that one lacks is an error."""

from __future__ import annotations

from pathlib import Path

import jinja2

from punchline.text import escape_controls


def templates(folder: Path) -> jinja2.Environment:
    """Those of a folder. The filter `visible` shows what would steer a page."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=jinja2.select_autoescape(["html"]),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["visible"] = escape_controls
    return environment

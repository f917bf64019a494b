"""The documents as a site: `make docs`. Sphinx reads the Markdown where it lies, from the project's root."""

project = "Punchline"
author = "The Punchline contributors"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "Punchline"
root_doc = "README"
include_patterns = [
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "docs/*.md",
    "benchmarks/*.md",
    "data/replay/README.md",
    "src/punchline/read/README.md",
]
myst_heading_anchors = 3
suppress_warnings = ["toc.not_included", "misc.highlighting_failure"]  # README's own lists of links lead to all pages

PAGES = "\n```{toctree}\n:hidden:\n:glob:\n\ndocs/*\nCHANGELOG\nCONTRIBUTING\n```\n"


def setup(app):
    """README leads to every page, in the menu too; it needs no list of them."""

    def add(app, page, source):
        if page == root_doc:
            source[0] += PAGES

    app.connect("source-read", add)

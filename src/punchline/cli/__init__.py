"""`punchline`: one module per group of commands."""

from punchline.start import start


def main() -> None:
    """Run a command."""
    start("punchline.cli.commands")

"""python -m punchline.cli."""

from punchline.cli import main

main()

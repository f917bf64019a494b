"""Render the prompts of one benchmark's items."""

from punchline.stages.ask import write_requests
from punchline.stages.job import run

if __name__ == "__main__":
    run(write_requests, "ask")

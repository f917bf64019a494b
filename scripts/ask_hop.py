"""Render what one model's answers lead to in one hop."""

from punchline.stages.ask import write_hop_requests
from punchline.stages.job import run

if __name__ == "__main__":
    run(write_hop_requests, "ask_hop")

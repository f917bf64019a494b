"""The baselines for text, under the name that their cards have: `echo` and `overlap` of `baselines`."""

from punchline.engines.baselines import engine

__all__ = ["engine"]

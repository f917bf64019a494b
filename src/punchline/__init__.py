"""Punchline: evaluate large multimodal models on humour and comics, and show where every number comes from."""

__version__ = "0.1.0"

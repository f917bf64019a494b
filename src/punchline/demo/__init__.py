"""Drawings of the demo corpus: strokes, figures, panels; whose jokes they tell is each benchmark's."""

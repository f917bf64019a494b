"""Validity of scores: shortcuts, what pictures add, option order, judges, people, items (docs/validity.md)."""

"""Readers of answers: what an answer commits itself to, or nothing. Pure functions of text; they never raise on any."""

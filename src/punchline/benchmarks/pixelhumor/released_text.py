"""How the released code tells one panel's text from the next, in answers and in gold texts alike."""

from __future__ import annotations

import re

# The released pattern `(\d+):\s*(.*?)(?=(\d+: |$))` with possessive quantifiers and look-behinds: the same matches, in
# linear time (the original is quadratic in the length of a run of digits).
RELEASED_PANEL = re.compile(r"(?<!\d)(\d++):\s*+(.*?)(?=(?<!\d)\d++: |$)", re.DOTALL)

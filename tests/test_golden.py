"""Request ids, model keys, journals and readings are as pinned in tests/golden."""

import pytest
from tests.golden import offline
from tests.golden.compare import check


@pytest.mark.parametrize("part", offline.PARTS)
def test_nothing_moved(part: str) -> None:
    check(part, offline.PARTS[part]())

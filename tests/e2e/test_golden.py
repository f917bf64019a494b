"""Requests, scores and tables of the demo corpus and of the real data are as pinned in tests/golden."""

from pathlib import Path

import pytest
from tests.golden.compare import check
from tests.golden.runs import DEMO_PARTS, RELEASED_PARTS, demo, released
from tests.golden.upstream import UPSTREAM_PARTS

from .project import Project

pytestmark = [pytest.mark.long, pytest.mark.timeout(2400)]


@pytest.fixture(scope="module")
def demo_run(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return demo(tmp_path_factory.mktemp("demo"))


@pytest.fixture(scope="module")
def released_run(mirror: Path, tmp_path_factory: pytest.TempPathFactory) -> Project:
    return released(tmp_path_factory.mktemp("released"), mirror)


@pytest.mark.parametrize("part", DEMO_PARTS)
def test_nothing_of_the_demo_moved(part: str, demo_run: Project) -> None:
    check({part: DEMO_PARTS[part]}, demo_run)


@pytest.mark.real
@pytest.mark.parametrize("part", UPSTREAM_PARTS)
def test_nothing_of_the_real_data_moved(part: str, mirror: Path) -> None:
    check({part: UPSTREAM_PARTS[part]}, mirror)


@pytest.mark.real
@pytest.mark.parametrize("part", RELEASED_PARTS)
def test_nothing_of_the_released_runs_moved(part: str, released_run: Project) -> None:
    check({part: RELEASED_PARTS[part]}, released_run)

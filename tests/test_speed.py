"""How fast a model answered, by hand: what is noted, and what a plan makes of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from punchline.core.records import Message, ModelCard, Request, Response, Sampling, Text, Usage
from punchline.project import paths
from punchline.stages import cost, speed
from punchline.stages.speed import Meter, Speed, measured

CARD = ModelCard(name="m", engine="vllm")
CPU = ModelCard(name="m", engine="vllm", gpus=0)
KEY = "k" * 64
COUNTED = Usage(prompt=100, completion=20)
WARM = {"benchmark": "b", "gpus": 1, "answers": 3, "tokens_in": 300, "tokens_out": 60, "seconds": 2.0}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Clock:
    """Time as answers say that it passes."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(speed, "time", clock)
    return clock


def answers(clock: Clock, *seconds: float, usage: Usage = COUNTED) -> Iterator[Response]:
    for at in seconds:
        clock.now = at
        about: dict[str, Any] = {"request_id": "r", "model_key": KEY, "engine": "e", "engine_version": "1"}
        yield Response(**about, state="ok", text="x", usage=usage)


def noted() -> list[bytes]:
    file = Path(paths.speeds(KEY))
    return file.read_bytes().splitlines() if file.exists() else []


def test_the_start_is_left_out(clock: Clock) -> None:
    # A batch of two after 100 s, which the model took to start; then three in the two seconds after the first one.
    given = answers(clock, 100.0, 100.1, 101.5, 102.5, 103.0)
    assert len(list(Meter(KEY, "b", 1).over(given))) == 5
    assert measured(KEY, CARD, "b") == Speed(**WARM)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("seconds", "usage"),
    [
        ((), Usage(prompt=1, completion=1)),
        ((5.0, 5.9), Usage(prompt=1, completion=1)),  # all within the first second
        ((5.0, 7.0), Usage()),  # nobody counted tokens
        ((5.0, 7.0), Usage(prompt=100)),
    ],
)
def test_what_is_too_short_or_not_counted_is_not_noted(clock: Clock, seconds: tuple[float, ...], usage: Usage) -> None:
    list(Meter(KEY, "b", 1).over(answers(clock, *seconds, usage=usage)))
    assert noted() == []


def test_a_job_that_is_ended_notes_what_it_was_answered(clock: Clock) -> None:
    going = Meter(KEY, "b", 1).over(answers(clock, 1.0, 3.0, 4.0, 5.0))
    for _ in range(3):
        next(going)
    going.close()
    (line,) = noted()
    assert b'"answers":2' in line and b'"seconds":2.0' in line

    def fails() -> Iterator[Response]:
        yield from answers(clock, 1.0, 3.0)
        raise RuntimeError("out of memory")

    with pytest.raises(RuntimeError, match="out of memory"):
        list(Meter(KEY, "b", 1).over(fails()))
    assert len(noted()) == 2


def note(**changed: Any) -> None:
    made = Speed(**{**WARM, **changed})  # type: ignore[arg-type]
    Meter(KEY, made.benchmark, made.gpus)._note(made)


def test_which_measurement_counts() -> None:
    assert measured(KEY, CARD, "b") is None
    note(benchmark="other", answers=1000)
    assert measured(KEY, CARD, "b").answers == 1000  # type: ignore[union-attr]
    note(answers=3)
    note(answers=30)
    note(gpus=0, answers=300)
    assert measured(KEY, CARD, "b").answers == 30  # type: ignore[union-attr]
    assert measured(KEY, CPU, "b").answers == 300  # type: ignore[union-attr]
    assert measured("j" * 64, CARD, "b") is None
    with Path(paths.speeds(KEY)).open("ab") as file:
        file.write(b'{"answers": 10')  # cut off
    assert measured(KEY, CARD, "b").answers == 30  # type: ignore[union-attr]


def test_a_folder_that_may_not_be_written_to(clock: Clock) -> None:
    Path(".punchline").write_text("a file")
    assert len(list(Meter(KEY, "b", 1).over(answers(clock, 1.0, 3.0)))) == 2


@pytest.mark.parametrize(
    ("made", "benchmark", "expected"),
    [
        # 36,000 answers of 120 tokens at 180 a second: 24,000 s, by four jobs.
        ({}, "b", {"tokens_s": 180, "hours": 1.67, "gpu_hours": 6.67}),
        ({"gpus": 2}, "b", {"hours": 1.67, "gpu_hours": 13.33}),
        ({"gpus": 0}, "b", {"hours": 1.67, "gpu_hours": None}),
        # Of another benchmark only the speed and the length of answers: (1,440,000 + 36,000 * 20) / 180 s.
        ({}, "c", {"hours": 0.83, "gpu_hours": 3.33}),
    ],
)
def test_hours(made: dict[str, Any], benchmark: str, expected: dict[str, Any]) -> None:
    sampling = Sampling(temperature=0, max_tokens=100)
    said = Message(role="user", content=(Text(text="x" * 160),))  # about 40 tokens
    request = Request(benchmark=benchmark, item_id="i", task="t", condition="c", messages=(said,), sampling=sampling)
    left = [request] * 36_000
    speed = Speed(**{**WARM, **made})  # type: ignore[arg-type]
    row: dict[str, Any] = cost.plan_row(
        benchmark, "m", "answer", CARD, left, left, {}, {request.request_id: 9}, "", 4, speed
    )
    assert {name: row.get(name) for name in expected} == pytest.approx(expected, abs=0.01)
    assert cost.plan_row(benchmark, "m", "answer", CARD, left, [], {}, {}, "", 4, speed).get("hours") is None

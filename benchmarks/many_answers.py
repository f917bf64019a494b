"""One model's answers by the hundred thousand and the million, through the engine replay: memory, time, bytes.

    .venv/bin/python benchmarks/many_answers.py [100000 1000000]

Requests of made-up comics, eight a comic, and their answers in PixelHumor's released form, which the engine holds in
memory whole (row "engine"). Each row is a process of its own: "infer" asks all and writes journal and snapshot, "open"
opens the journal, "again" finds nothing to ask and writes the snapshot, "gather" takes over the journals of four
shards, "compact" rewrites a journal that holds each answer twice. Seconds are CPU seconds; megabytes the peak of a
process's RSS.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from punchline.benchmarks.pixelhumor.replay import TASK_OF  # noqa: E402
from punchline.core import engine as engines  # noqa: E402
from punchline.core.journal import Journal, compact  # noqa: E402
from punchline.core.records import Message, ModelCard, Request, Sampling, Text  # noqa: E402
from punchline.core.storage import Stored, write_table  # noqa: E402
from punchline.stages.infer import infer  # noqa: E402

FIELDS = ("Q1", "Q2", "Q3", "Q4", "Q5", "Q6", *TASK_OF)
PROMPT = "You see a comic of several panels. Read it and answer in one word or in one sentence. " * 6
SAID = "The second panel turns the first one round: "
STEPS = ("engine", "infer", "open", "again", "gather", "compact")
JOURNAL, SNAPSHOT = Path("journal.jsonl"), "snapshot.parquet"
SHARDS = [Path(f"shard{number}.jsonl") for number in range(4)]


def requests(comics: int) -> Iterator[Request]:
    for comic in range(comics):
        for field in FIELDS:
            yield Request(
                benchmark="pixelhumor",
                item_id=f"comic_{comic}",
                task=TASK_OF.get(field, field),
                condition="default",
                messages=(Message(role="user", content=(Text(text=f"{PROMPT} {field}"),)),),
                sampling=Sampling(temperature=0.0, max_tokens=256),
            )


def prepare(comics: int) -> None:
    """Requests and answers, in this folder."""
    write_table("requests.parquet", requests(comics), Request)
    with Path("answers.json").open("w") as file:
        for comic in range(comics):
            said = {field: f"{SAID}{comic} {field}" for field in FIELDS}
            file.write(("{" if comic == 0 else ",") + f'"comic_{comic}":{json.dumps(said)}')
        file.write("}")


def step(name: str) -> None:
    """One step, in this folder."""
    stored = Stored("requests.parquet", Request)
    card = ModelCard(name="m", engine="replay", options={"format": "pixelhumor", "path": "answers.json"})
    engine = engines.load(card, 0)
    key = engines.model_key(engine, card, "pixelhumor")
    began = time.process_time()
    if name == "engine":
        assert sum(response.state == "ok" for response in engine.answer(stored, {}, key)) == len(stored)
    elif name == "open":
        with Journal(JOURNAL) as journal:
            assert len(journal) == len(stored)
    elif name == "compact":
        before, after = compact(JOURNAL)
        assert before == 2 * after
    else:
        parts = SHARDS if name == "gather" else ()
        states = infer(
            engine if name == "infer" else None,
            stored,
            {},
            journal=JOURNAL,
            snapshot=SNAPSHOT,
            label=name,
            key=key,
            parts=parts,
        )
        assert states == {"ok": len(stored)}
    seconds = time.process_time() - began
    print(json.dumps([seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))


def measured(name: str, folder: Path) -> tuple[float, float]:
    done = subprocess.run(
        [sys.executable, __file__, "--step", name], cwd=folder, capture_output=True, text=True, check=True
    )
    seconds, megabytes = json.loads(done.stdout.splitlines()[-1])
    return seconds, megabytes


def between(folder: Path, name: str) -> None:
    """What a step finds: for `gather` the journal in four parts, for `compact` everything twice."""
    journal = folder / JOURNAL
    if name == "gather":
        files = [(folder / shard).open("wb") for shard in SHARDS]
        with journal.open("rb") as lines:
            for number, line in enumerate(lines):
                files[number % len(files)].write(line)
        for file in files:
            file.close()
        journal.unlink()
    elif name == "compact":
        with journal.open("ab") as file, journal.open("rb") as lines:
            size = journal.stat().st_size
            while lines.tell() < size:
                file.write(lines.read(min(2**20, size - lines.tell())))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("answers", nargs="*", type=int, default=[100_000, 1_000_000])
    parser.add_argument("--step", choices=[*STEPS, "prepare"], help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.step:
        prepare(args.answers[0] // len(FIELDS)) if args.step == "prepare" else step(args.step)
        return
    print("| answers | step | CPU s | us an answer | MB | |")
    print("| ---: | --- | ---: | ---: | ---: | --- |")
    for count in args.answers:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            subprocess.run([sys.executable, __file__, "--step", "prepare", str(count)], cwd=name, check=True)
            for one in STEPS:
                between(folder, one)
                seconds, megabytes = measured(one, folder)
                each = (
                    f"journal {(folder / JOURNAL).stat().st_size / count:,.0f} B, snapshot " if one == "infer" else ""
                )
                each += f"{(folder / SNAPSHOT).stat().st_size / count:,.0f} B an answer" if one == "infer" else ""
                print(
                    f"| {count:,} | {one} | {seconds:,.1f} | {seconds / count * 1e6:,.0f} | {megabytes:,.0f} | {each} |"
                )
                sys.stdout.flush()


if __name__ == "__main__":
    main()

"""User files spoilt at random: each is read, or ends in one PunchlineError that names it, and soon."""

from __future__ import annotations

import contextlib
import random
import shutil
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from benchmarks.torture.ground import Ground, Row
from tests.asked import answers_in

from punchline.artifacts.lineage import read_lineage
from punchline.benchmarks.stripcipher.strips import read_strips
from punchline.config.cards import read_card
from punchline.config.recipes import read_recipe
from punchline.config.selection import read_corpus, read_selection
from punchline.core import benchmark as benchmarks
from punchline.core import engine as engines
from punchline.core.storage import read_table
from punchline.engines.openai.refusals import read_refusal
from punchline.engines.openai.replies import Unusable, read_reply
from punchline.errors import PunchlineError
from punchline.fetch import manifests
from punchline.fetch.log import read_log
from punchline.files import read_records
from punchline.prepare import select
from punchline.schema import Gold, Item, Request, Response
from punchline.scores import items_frame, read_scores, scores_frame
from punchline.tables.ratings import read_ratings
from punchline.tables.render import read_published

NONE = items_frame({}, {})
FULL = 100_000
LONGEST_S = 60.0  # of CPU: more is a reader that hangs, on any machine
TOKENS = [
    *(b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b"\n\n", b'"', b"'", b",", b";", b":", b"{", b"}", b"[", b"]"),
    *(
        b"null",
        b"true",
        b"NaN",
        b"Infinity",
        b"-1",
        b"1e400",
        b"9" * 400,
        b"../../etc/passwd",
        b"/dev/zero",
        b"%s",
        b"{0}",
    ),
    *(b"\xed\xa0\x80", "\u202e".encode(), b"!!python/object:os.system", b"&a [*a]", b"*a", b"<<: *a", b"- ", b"\t"),
    *(b"[" * 3000, b'{"a":' * 3000, b"a" * 70_000, b"<script>", b"=1+1", b"\\ud800", b"\\u0000", b"${oc.env:HOME}"),
]


def _replay(path: Path) -> None:
    card = read_card("first")
    engine = engines.load(card, 0)
    engine.identity()
    list(engine.answer(read_table("data/requests/pixelhumor.parquet", Request), {}, ""))


def _raw(benchmark: str, path: Path) -> None:
    """A released file, as items and as gold."""
    files = {p.name: p.read_bytes() for p in path.parent.iterdir() if p.is_file() and not p.name.endswith(".made.json")}
    loaded = benchmarks.load(benchmark)
    listed = loaded.listing(files)
    loaded.items(files, {item[0]: "none" for item in listed})
    list(loaded.golds(files))


def _said(path: Path) -> None:
    """What a server says, as a reply and as a refusal."""
    read_refusal(500, path.read_bytes())
    with contextlib.suppress(Unusable):  # its own word for a reply that is none
        read_reply(path.read_bytes())


def _subset(path: Path) -> None:
    select([("borderless_1", "a", "u"), ("borderless_2", "a", "u")], None, str(path), None, ())


# A file of the project: how it is read. Each reader is what a command uses.
READERS: dict[str, Callable[[Path], object]] = {
    "config/run.yaml": lambda path: read_selection({}),
    "config/corpus/demo.yaml": lambda path: read_corpus("demo"),
    "config/model/served.yaml": lambda path: read_card("served"),
    "config/model/random.yaml": lambda path: read_card("random"),
    "config/finetune/*.yaml": lambda path: read_recipe(path.stem),
    "config/published/pixelhumor.csv": read_published,
    "config/subset.csv": _subset,
    "data/replay/first.json": _replay,
    "data/manifests/pixelhumor/*.csv": lambda path: [
        manifests.read_manifest(path, kind) for kind in (manifests.Annotation, manifests.Pin)
    ],
    "data/items/pixelhumor/selected.csv": lambda path: manifests.read_manifest(path, manifests.Selected),
    "data/items/pixelhumor/ledger.jsonl": read_log,
    "data/items/pixelhumor/items.jsonl": lambda path: read_records(path, Item),
    "data/items/pixelhumor/gold.jsonl": lambda path: read_records(path, Gold),
    "data/raw/demo/pixelhumor/*.csv": lambda path: _raw("pixelhumor", path),
    "data/raw/demo/humorbench/*.csv": lambda path: _raw("humorbench", path),
    "data/requests/pixelhumor.parquet": lambda path: read_table(path, Request),
    "data/responses/pixelhumor/served.jsonl": answers_in,
    "data/responses/pixelhumor/served.parquet": lambda path: read_table(path, Response),
    "results/pixelhumor/scores/served.parquet": lambda path: (
        list(read_scores(path)),
        scores_frame(path, NONE, "paper"),
    ),
    "results/table8.lineage.json": read_lineage,
    "ratings.csv": lambda path: read_ratings(path.read_bytes(), path.name),
    "strips.json": lambda path: read_strips(path.read_bytes()),
    "reply.json": _said,
}
SEEDS = {
    "config/subset.csv": b"comic_id\nborderless_1\nborderless_2\n",
    "ratings.csv": b"item_id,rater,source,score,choice\na,1,served,3,\na,2,first,4,\nb,1,,,served\n",
    "strips.json": b'[{"id": "a", "panels": ["1", "2"], "text": "b"}]\n',
    "reply.json": b'{"id": "x", "model": "m", "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": '
    b'"assistant", "content": "B"}}], "usage": {"prompt_tokens": 3, "completion_tokens": 5}}',
}


def spoilt(content: bytes, draw: random.Random) -> bytes:
    """One to four changes: a bit, a span gone, twice or elsewhere, a nasty token, the end cut off."""
    bad = bytearray(content)
    for _ in range(draw.randint(1, 4)):
        start = draw.randrange(len(bad) + 1)
        end = min(len(bad), start + draw.choice((1, 1, 2, 8, 64, 1024)))
        what = draw.randrange(6)
        if what == 0 and start < len(bad):
            bad[start] ^= 1 << draw.randrange(8)
        elif what == 1:
            del bad[start:end]
        elif what == 2:
            bad[start:start] = bad[start:end]
        elif what == 3:
            span = bytes(bad[start:end])
            del bad[start:end]
            at = draw.randrange(len(bad) + 1)
            bad[at:at] = span
        elif what == 4:
            bad[start:end] = draw.choice(TOKENS)
        elif draw.random() < 0.2:
            del bad[start:]
    return bytes(bad)


def fault(read: Callable[[Path], object], path: Path) -> tuple[str, bool]:
    """(what is wrong or "", whether it was read) of one file."""
    began = time.process_time()
    try:
        read(path)
        good = True
    except PunchlineError as error:
        good = False
        if not str(error).strip():
            return "an error without a word", False
    except Exception as error:  # the fault that is looked for
        return f"raises {type(error).__name__}: {str(error)[:120]}", False
    took = time.process_time() - began
    return (f"takes {took:.1f} s" if took > LONGEST_S else ""), good


def run(ground: Ground, n: int, seed: int) -> Row:
    draw = random.Random(seed)
    row = Row("user files", "", "", seed)
    read = Counter[bool]()
    with ground.copied() as folder, contextlib.chdir(folder.path):
        for name, content in SEEDS.items():
            Path(name).write_bytes(content)
        files = [(reader, path) for name, reader in READERS.items() for path in sorted(Path().glob(name))]
        whole = {path: path.read_bytes() for _, path in files}
        for reader, path in files:
            if wrong := fault(reader, path)[0]:
                row.failures.append(f"{path} as it is: {wrong}")
        for turn in range(n):
            reader, path = files[turn % len(files)]
            bad = spoilt(whole[path], draw)
            path.write_bytes(bad)
            wrong, good = fault(reader, path)
            read[good] += 1
            if wrong:
                left = ground.work / f"fault-{len(row.failures)}{path.suffix}"
                shutil.copy(path, left)
                row.failures.append(f"{path}: {wrong}")
            path.write_bytes(whole[path])
    row.done = f"{n} spoilt files of {len(READERS)} kinds"
    row.checked = f"{read[True]} read, {read[False]} refused with one message; none over {LONGEST_S:g} s"
    return row

"""Two of every command at once, of every stage too: both end, or one says that the other is at work; all is whole."""

from __future__ import annotations

import random
import re
import time

from benchmarks.torture.ground import Ground, Row, differences, fair, lacking, unmake

FULL = 200
PUNCHLINE = ("python", "-m", "punchline.cli")
LOOKS = """audit {table}|print {table}|ranks {table}|tables|runs|models
benchmarks|judges|compare first second|compare first second --json|show borderless_1
retry --images {config}|plan {config}|retry|restore --no-pull
export hf -o hf|export inspect -o inspect
audit results/cost.csv|init new"""
# What one says to whom another is in the way of. All else that ends badly alone may end badly beside another.
AT_WORK = re.compile(
    "another run|at work|writ\\w+ to this journal|is there already|it is there|not an empty folder", re.IGNORECASE
)


def run(ground: Ground, n: int, seed: int) -> Row:
    draw = random.Random(seed)
    row = Row("commands in pairs", "", "", seed)
    alone: dict[tuple[str, ...], int] = {}
    commands = [
        (*PUNCHLINE, *look.format(table=ground.tables[0], config=ground.config).split())
        for look in LOOKS.replace("\n", "|").split("|")
    ]
    by_rule = {stage.rule: stage for stage in ground.stages}
    pairs = [*commands, *(by_rule[rule].command for rule in sorted(by_rule)), ground.whole_run()]
    stages = {stage.command: stage for stage in by_rule.values()}
    waited = 0
    for turn in range(n):
        command = pairs[turn % len(pairs)]
        stage = stages.get(command)
        if command not in alone:
            with ground.copied() as folder:
                alone[command] = ground.finish(folder, command)[0]
        with ground.copied() as folder:
            if stage is not None:
                unmake(folder, stage, delete=draw.random() < 0.5)
            first = ground.start(folder, command)
            time.sleep(draw.choice((0, 0, draw.uniform(0, 1.5))))
            both = [first, ground.start(folder, command)]
            output = [child.communicate(timeout=500)[0] for child in both]
            what = " ".join(command[1:])
            for child, text in zip(both, output, strict=True):
                if "Traceback" in text or (child.returncode and not alone[command] and not AT_WORK.search(text)):
                    row.failures.append(f"{what}: status {child.returncode}: {text[-400:]}")
                waited += bool(child.returncode and AT_WORK.search(text))
            if not alone[command] and all(child.returncode for child in both):
                row.failures.append(f"{what}: neither did it: {output[0][-200:]} / {output[1][-200:]}")
            strict = stage is None or not stage.asks
            others = differences(ground, folder.path, lambda name, strict=strict: not strict and not fair(name))
            others = [name for name in others if name in ground.digests]  # what they write besides is their own
            row.failures += [f"{what}: {name} is not as it was" for name in [*others, *lacking(ground, folder.path)]]
    row.done = f"{n} pairs of {len(pairs)} commands, stages and runs"
    row.checked = f"both end, {waited} saying that another is at work; every file of the run as it was"
    return row

"""A disk that is full, at any page that a stage writes: a clear end, no torn file, and on it goes with room."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

from benchmarks.torture.ground import Ground, Row, Stage, differences, lacking, unmake
from tests.e2e.project import Project

FULL = 300
PAGE = 4096
SIZE = 512 * 2**20  # of the disk: RAM, as far as it is used


class SmallDisk:
    """A tmpfs. Raises PermissionError for who may not mount one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)
        command = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(folder)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise PermissionError(f"mounting a tmpfs needs root: {done.stderr.strip()}")
        self.ballast = folder / "ballast"

    def leave(self, pages: int) -> None:
        """Fill it but for so many pages."""
        self.ballast.unlink(missing_ok=True)
        stat = os.statvfs(self.folder)
        size = (stat.f_bavail - pages) * stat.f_frsize
        with self.ballast.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, size)

    def close(self) -> None:
        subprocess.run(["umount", "-l", str(self.folder)], check=False)


def pages(folder: Project, stage: Stage) -> int:
    """What a stage writes, in pages, roughly."""
    result = [folder.path / name for name in stage.outputs]
    files = [path for one in result for path in one.parent.glob(f"{one.stem}*") if path.is_file()]
    return sum(-(-path.stat().st_size // PAGE) for path in files) + len(files)


def run(ground: Ground, n: int, seed: int) -> Row:
    draw = random.Random(seed)
    row = Row("full disk", "", "", seed)
    disk = SmallDisk(ground.work / "small")
    stopped, rules = 0, set()
    by_rule: dict[str, list[Stage]] = {}
    for stage in ground.stages:
        if not stage.asks:
            by_rule.setdefault(stage.rule, []).append(stage)
    try:
        for turn in range(n):
            stage = draw.choice(by_rule[sorted(by_rule)[turn % len(by_rule)]])
            with ground.copied(disk.folder / "project") as folder:
                most = pages(folder, stage)
                unmake(folder, stage, delete=draw.random() < 0.5)
                room = draw.randint(0, most)
                disk.leave(room)
                status, output = ground.finish(folder, stage.command, TMPDIR=str(disk.folder))
                stopped += bool(status)
                rules |= {stage.rule} if status else set()
                what = f"{stage} with room for {room} of {most} pages"
                if status and ("Traceback" in output or "No space left" not in output):
                    row.failures.append(f"{what}: status {status}: {output[-300:]}")
                row.failures += [f"{what}: torn {name}" for name in differences(ground, folder.path)]
                disk.ballast.unlink()
                status, output = ground.finish(folder, stage.command)
                if status:
                    row.failures.append(f"{what}: with room again: status {status}: {output[-300:]}")
                others = [*differences(ground, folder.path), *lacking(ground, folder.path)]
                row.failures += [f"{what}: with room again: {name} is not as it was" for name in others]
    finally:
        disk.close()
    row.done = f"{n} runs of {len(by_rule)} stages with room for some of their pages, {stopped} stopped by it"
    row.checked = f"{len(rules)} stages stopped: each says what is full, tears nothing, and goes on with room"
    return row

"""DVC over SSH, on a real sshd on loopback: push, clone elsewhere, pull, restore, nothing to do."""

import getpass
import subprocess
from pathlib import Path

import pytest
from tests.e2e.project import Project
from tests.e2e.test_versioning import start

from .conftest import Sshd

pytestmark = pytest.mark.timeout(900)


def test_what_one_machine_pushed_another_restores(sshd: Sshd, tmp_path: Path) -> None:
    store, clone = tmp_path / "store", tmp_path / "elsewhere/clone"
    first = start(tmp_path / "first")
    first.dvc("repro")
    first.dvc("remote", "add", "-d", "store", f"ssh://{getpass.getuser()}@127.0.0.1:{sshd.port}{store}")
    first.dvc("remote", "modify", "--local", "store", "keyfile", str(sshd.key))
    first.dvc("remote", "modify", "store", "verify", "true")
    assert "pushed" in first.dvc("push")
    first.run("git", "add", "-A")
    first.run("git", "commit", "-qm", "run")
    assert "keyfile" not in first.run("git", "show", "HEAD:.dvc/config").stdout

    subprocess.run(["git", "clone", "-q", str(first.path), str(clone)], check=True, env=first.environment)
    second = Project(clone)
    refused = second.punchline("restore", fails=True)  # no key yet
    assert "dvc pull failed" in refused and "docs/data.md" in refused
    second.dvc("remote", "modify", "--local", "store", "keyfile", str(sshd.key))
    label = next(path for path in store.rglob("*") if path.is_file() and path.read_bytes()[:8] == b"comic_id")
    good = label.read_bytes()
    label.chmod(0o644)
    label.write_bytes(good + b"\n")
    assert "dvc pull failed" in second.punchline("restore", fails=True), "verify: bytes that are not dvc.lock's"
    label.write_bytes(good)
    second.punchline("restore")
    assert second.wanted("all") == set() and second.journal_lines() == first.journal_lines() == 2 * 4 * 8
    assert sshd.log.read_text().count("Accepted publickey") >= 2, "it went through this server"

"""Readers that go: of a command's output, which ends quietly, and of a server's answer, which ends no server."""

import os
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import ROOT
from tests.ran import ran

from punchline.files import write_text
from punchline.rating.votes import Sheet, Votes

COMMAND = [sys.executable, "-m", "punchline.cli"]
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT / "src")}
NAMES = {"benchmark": "pixelhumor", "study": "relevance", "run": "default", "title": "", "note": ""}
SHEET = Sheet(**NAMES, seed=0, models=(), intro=(), options=(), questions={}, units=())
GET = b"GET /static/mode.js HTTP/1.1\r\nHost: localhost\r\n\r\n"


def started(project: Path, arguments: str, **more: str) -> subprocess.Popen[str]:
    """A command in the project, whose output somebody may read."""
    pipes: Any = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen([*COMMAND, *arguments.split()], cwd=project, env=ENVIRONMENT | more, text=True, **pipes)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a report and a study without raters."""
    write_text(tmp_path / "Snakefile", "")
    write_text(tmp_path / "results/report/index.html", "text\n" * 200_000)
    (tmp_path / "data").mkdir()
    for name in ("config", "data/demo", "data/manifests"):
        (tmp_path / name).symlink_to(ROOT / name)
    Votes.make(str(tmp_path / "data/ratings/pixelhumor/relevance.sqlite"), SHEET, {})
    return tmp_path


@pytest.fixture(params=["view --no-browser", "rate serve relevance"])
def served(request: pytest.FixtureRequest, project: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A server's process and port."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = started(project, f"{request.param} --port {port}")
    assert process.stdout is not None
    assert str(port) in process.stdout.readline()
    yield process, port
    process.kill()
    process.communicate()


def test_a_client_that_goes_ends_no_server(served: tuple[subprocess.Popen[str], int]) -> None:
    process, port = served
    for resets in [1, 0] * 30:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port)) as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", resets, 0))
            client.sendall(2 * GET)
    with socket.create_connection(("127.0.0.1", port), timeout=30) as client:
        client.sendall(GET)
        assert client.recv(9) == b"HTTP/1.1 "
    assert process.poll() is None


@pytest.mark.parametrize("arguments", ["tables", "--version", "--help", "view --no-browser"])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_command_whose_reader_goes_ends_quietly(project: Path, arguments: str, unbuffered: str) -> None:
    process = started(project, arguments, PYTHONUNBUFFERED=unbuffered)
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait(30) in (0, 1)


@pytest.mark.parametrize(
    ("arguments", "output", "status", "said"),
    [
        ("tables", "&-", 0, ""),
        ("print none", "&-", 2, "error: no table 'none'. "),
        ("print none", "/dev/full", 2, "error: no table 'none'. "),
        ("tables", "/dev/full", 1, "error: No space left on device\n"),
    ],
)
def test_a_full_or_closed_pipe(project: Path, arguments: str, output: str, status: int, said: str) -> None:
    command = ["sh", "-c", f'exec "$@" >{output}', "sh", *COMMAND, *arguments.split()]
    done = ran(*command, cwd=project, env=ENVIRONMENT)
    assert done.returncode == status
    assert done.stderr.startswith(said) and done.stderr.count("\n") == bool(said)

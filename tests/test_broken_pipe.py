"""Readers that go: of a command's output, which ends quietly, and of a server's answer, which ends no server."""

import os
import socket
import struct
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from tests.conftest import ROOT
from tests.ran import ran

from punchline.files import write_text

COMMAND = [sys.executable, "-m", "punchline.cli"]
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT / "src")}
GET = b"GET /static/mode.js HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a report."""
    write_text(tmp_path / "Snakefile", "")
    write_text(tmp_path / "results/report/index.html", "text\n")
    (tmp_path / "data").mkdir()
    for name in ("config", "data/demo", "data/manifests"):
        (tmp_path / name).symlink_to(ROOT / name)
    return tmp_path


def test_a_client_that_goes_ends_no_server(project: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [*COMMAND, "view", "--no-browser", "--port", str(port)]
    with subprocess.Popen(command, cwd=project, env=ENVIRONMENT, text=True, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None and str(port) in server.stdout.readline()
        for resets in [1, 0] * 30:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port)) as client:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", resets, 0))
                client.sendall(2 * GET)
        with socket.create_connection(("127.0.0.1", port), timeout=30) as client:
            client.sendall(GET)
            assert client.recv(9) == b"HTTP/1.1 "
        server.kill()


@pytest.mark.parametrize(
    ("output", "said"),
    [("| true", ""), (">&-", ""), (">/dev/full", "error: No space left on device\n")],
)
def test_a_command_whose_output_nobody_takes(project: Path, output: str, said: str) -> None:
    done = ran("bash", "-c", f'"$@" {output}', "bash", *COMMAND, "tables", cwd=project, env=ENVIRONMENT)
    assert (done.returncode, done.stderr) == (bool(said), said)

"""A real SLURM and a real sshd, started for the session and stopped after it; where that cannot be, a loud skip."""

import importlib.util
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

SLURM = Path(__file__).with_name("slurm.sh")
CANNOT = 77  # of slurm.sh: no root, no apt, no network, somebody else's SLURM


def needs(package: str) -> None:
    """Skip, loudly, where a package of requirements-cluster.lock is not installed."""
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"PACKAGE {package} ABSENT: make cluster installs it into .venv-cluster")


@pytest.fixture(scope="session")
def slurm() -> Iterator[None]:
    """A SLURM of one node with two GPUs."""
    needs("snakemake_executor_plugin_slurm")
    started = subprocess.run(["sh", str(SLURM), "start"], capture_output=True, text=True, check=False)
    if started.returncode == CANNOT:
        pytest.skip(started.stderr.strip())
    assert started.returncode == 0, started.stderr
    yield
    subprocess.run(["sh", str(SLURM), "stop"], check=True)


class Sshd(NamedTuple):
    """A server on loopback that lets one key in."""

    port: int
    key: Path
    log: Path


@pytest.fixture(scope="session")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    """An sshd with its own host key, port and authorized_keys; root installs OpenSSH with apt where it is not."""
    needs("dvc_ssh")
    path, folder = os.pathsep.join([os.environ["PATH"], "/usr/sbin"]), tmp_path_factory.mktemp("sshd")
    if os.geteuid() == 0:
        if not shutil.which("sshd", path=path) and shutil.which("apt-get"):
            install = "apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq openssh-server"
            subprocess.run(install, shell=True, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # where root's sshd separates its privileges
    program = shutil.which("sshd", path=path)
    if program is None:
        pytest.skip("SSHD ABSENT: none on PATH, and none could be installed (root, apt-get and a network are needed)")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    for name in ("host_key", "key"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True)
    options = [f"ListenAddress=127.0.0.1:{port}", f"HostKey={folder}/host_key", f"AuthorizedKeysFile={folder}/key.pub"]
    options += [f"PidFile={folder}/pid", "UsePAM=no", "StrictModes=no", "Subsystem=sftp internal-sftp"]
    command = [program, "-D", "-f", "/dev/null", "-E", str(folder / "log"), *(f"-o{option}" for option in options)]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL) as server:  # -D: our child, so that we can end it
        for _ in range(100):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield Sshd(port, folder / "key", folder / "log")
        server.terminate()

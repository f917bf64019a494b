"""A real SLURM and a real sshd, started for the session and stopped after it; where that cannot be, a loud skip."""

import importlib.util
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

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


class Sshd:
    """A server on loopback that lets one key in; all that belongs to it is in `folder`."""

    def __init__(self, folder: Path, program: str) -> None:
        self.folder = folder
        self.key = folder / "key"
        self.log = folder / "sshd.log"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        for name in ("host_key", "key"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True)
        shutil.copy(folder / "key.pub", folder / "authorized_keys")
        lines = (
            f"ListenAddress 127.0.0.1:{self.port}",
            f"HostKey {folder}/host_key",
            f"AuthorizedKeysFile {folder}/authorized_keys",
            f"PidFile {folder}/sshd.pid",
            "AuthenticationMethods publickey",
            "UsePAM no",
            "StrictModes no",  # a temporary folder's parents are anybody's
            "Subsystem sftp internal-sftp",
        )
        (folder / "sshd_config").write_text("\n".join(lines) + "\n")
        # -D: our child, so that we can end it
        command = [program, "-D", "-f", str(folder / "sshd_config"), "-E", str(self.log)]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
        for _ in range(100):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            assert self.process.poll() is None, self.log.read_text()
            time.sleep(0.1)
        raise AssertionError(self.log.read_text())

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(timeout=10)


@pytest.fixture(scope="session")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    """An sshd with its own host key, port and authorized_keys; root installs OpenSSH with apt where it is not."""
    needs("dvc_ssh")
    path = os.pathsep.join([os.environ["PATH"], "/usr/sbin", "/usr/local/sbin"])
    if not shutil.which("sshd", path=path) and os.geteuid() == 0 and shutil.which("apt-get"):
        install = "apt-get update -qq && apt-get install -y -qq --no-install-recommends openssh-server openssh-client"
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(install, shell=True, env=environment, check=False, **quiet)
    program = shutil.which("sshd", path=path)
    if program is None:
        pytest.skip("SSHD ABSENT: none on PATH, and none could be installed (root, apt-get and a network are needed)")
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # where root's sshd separates its privileges
    server = Sshd(tmp_path_factory.mktemp("sshd"), program)
    yield server
    server.stop()

"""`python -m` in forks of one process that has imported the large libraries: each start costs a second less."""

import functools
import gc
import importlib
import json
import os
import runpy
import subprocess
import sys
import threading
from pathlib import Path
from tempfile import TemporaryDirectory

LIBRARIES = ["snakemake.cli", "snakemake.api", "snakemake.workflow", "snakemake.report.html_reporter", "smart_open"]
LIBRARIES += ["hydra.compose", "hydra._internal.core_plugins.basic_sweeper", "omegaconf", "msgspec", "yaml"]
LIBRARIES += ["pandas", "pyarrow.parquet", "scipy.stats", "jiwer", "cv2", "PIL.Image", "jinja2"]
LIBRARIES += ["typer", "rich.table", "pygments.lexers", "httpx", "protego"]
LOCK = threading.Lock()


@functools.cache
def _server() -> subprocess.Popen[str]:
    """The process that forks. It ends with this one, which holds its input open."""
    left_out = ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE")  # what is imported has to come from a project's own src/
    environment = {name: value for name, value in os.environ.items() if name not in left_out}
    command, pipe = [sys.executable, __file__], subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment)


def run_module(words: list[str], cwd: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a module with its arguments to its end."""
    with LOCK, TemporaryDirectory() as folder:
        output = [Path(folder, name) for name in ("stdout", "stderr")]
        streams = _server().stdin, _server().stdout
        assert streams[0] is not None and streams[1] is not None
        print(json.dumps([words, str(cwd), env, [os.devnull, *map(str, output)]]), file=streams[0], flush=True)
        status = int(streams[1].readline())
        return subprocess.CompletedProcess(words, status, *(path.read_text() for path in output))


def main() -> None:
    """Fork for each line of the input; the fork becomes the process that the line describes."""
    del sys.path[0]
    for name in LIBRARIES:
        importlib.import_module(name)
    gc.freeze()
    for line in sys.stdin:
        if pid := os.fork():
            print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
            continue
        (module, *arguments), cwd, env, files = json.loads(line)
        for descriptor, file in enumerate(files):
            os.dup2(os.open(file, os.O_RDWR | os.O_CREAT), descriptor)
        os.chdir(cwd)
        os.environ.clear()
        os.environ.update(env)
        sys.path[:0] = [cwd, *env["PYTHONPATH"].split(os.pathsep)]
        sys.argv = [module, *arguments]
        runpy.run_module(module, run_name="__main__", alter_sys=True)
        return


if __name__ == "__main__":
    main()

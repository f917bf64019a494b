"""Fixtures shared by all tests."""

import os
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from playwright.sync_api import Browser, Page, sync_playwright
from tests.small_models import smollm2_folder, tiny_folder

ROOT = Path(__file__).resolve().parent.parent

# What a first import or a busy machine takes is no fault of what is tested. The same examples each time, so that a
# change is told of what it does; others are drawn with --hypothesis-profile=random.
hypothesis.settings.register_profile("here", deadline=None, derandomize=True)
hypothesis.settings.register_profile("random", deadline=None)
hypothesis.settings.load_profile("here")

# A shell's background jobs ignore Ctrl-C, and so do their children, those included that tests send it to.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's root."""
    return ROOT


@pytest.fixture(scope="session")
def mirror() -> Path:
    """The folder with real data: $PUNCHLINE_MIRROR, else ../shared/upstream; skips loudly where neither is there."""
    path = Path(os.environ.get("PUNCHLINE_MIRROR", ROOT.parent / "shared" / "upstream")).resolve()
    if not (path / "pixelhumor").is_dir():
        pytest.skip(f"REAL DATA ABSENT: no pixelhumor/ in {path}; set PUNCHLINE_MIRROR to run this test")
    return path


@pytest.fixture(scope="session")
def paper(mirror: Path) -> Callable[[str], str]:
    """Reads the text of a benchmark's paper, which is next to the real data; skips loudly where it is not there."""

    def text(benchmark: str) -> str:
        path = mirror.parent / "papers" / f"{benchmark}.txt"
        if not path.is_file():
            pytest.skip(f"REAL DATA ABSENT: no text of the paper, {path}")
        return path.read_text(encoding="utf-8")

    return text


@pytest.fixture
def in_root(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The project's root as the working directory."""
    monkeypatch.chdir(root)


@pytest.fixture
def project(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with the project's config/, to change or spoil."""
    shutil.copytree(root / "config", tmp_path / "config")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def smollm2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of SmolLM2-135M-Instruct."""
    return smollm2_folder(tmp_path_factory)


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the tiny Qwen2-VL."""
    return tiny_folder(tmp_path_factory)


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    """Threads of torch wait for each other, and sums come in one order with one: as fast on a machine full of tests."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
    torch.use_deterministic_algorithms(False)  # as a training leaves it


@pytest.fixture(scope="module")
def process() -> Iterator[Any]:
    """An OpenAI-compatible server that misbehaves as told, in a process of its own."""
    from tests.servers.runs import Served

    served = Served()
    yield served
    served.kill()


@pytest.fixture
def server(process: Any) -> Any:
    """The server, with its faults reset."""
    process.script()
    return process


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of the test's own, as the working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")  # and gone with it: other modules ask whether a process of theirs is left
def browser() -> Iterator[Browser]:
    """Debian's Chromium, headless; skips loudly where there is none."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("NO BROWSER: install Debian's package chromium to run this test")
    quiet = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=[*quiet, "--disable-sync"])
        yield started
        started.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """An empty page, with storage of its own; an error in its scripts fails the test."""
    context = browser.new_context()
    opened = context.new_page()
    errors: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    yield opened
    context.close()
    assert errors == []

"""Pages and bytes of sites: resolvers, decoders, and what comes through without a network."""

import csv
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fetch_server import IMAGE_HOST, Project, annotated, picture, project, server
from tests.test_fetch import ROOT

from punchline.fetch.images import decode_image
from punchline.fetch.log import Missing, availability_text
from punchline.fetch.manifests import Pin, read_manifest
from punchline.fetch.resolvers import SITES
from punchline.files import sha256_file
from punchline.schema import REASONS

__all__ = ["project", "server"]


RESOLVED = yaml.safe_load((ROOT / "tests" / "resolved.yaml").read_text(encoding="utf-8"))
RESOLVED.append(("https://xkcd.com/1/", "[" * 100_000, None))


@pytest.mark.parametrize(("url", "content", "image"), RESOLVED)
def test_resolvers(url: str, content: str, image: str | None) -> None:
    resolve = SITES[url.split("/")[2]].resolve
    if image is None:
        with pytest.raises(Missing):
            resolve(content.encode(), url)
    else:
        assert resolve(content.encode(), url) == image


def test_xkcd_is_asked_for_its_json() -> None:
    listed = ("https://xkcd.com/502/", "https://xkcd.com/502")
    assert {SITES["xkcd.com"].request(page) for page in listed} == {"https://xkcd.com/502/info.0.json"}


SOUP = ["<![", "<!", "<!--", "<img ", "<div id=comic>", "</div>", "src=", "http://[", ">", '"', "{", "&#x", "<meta "]
TAG_SOUP = st.lists(st.sampled_from(SOUP) | st.text(max_size=4))


@given(st.sampled_from(sorted(SITES)), TAG_SOUP.map("".join).map(str.encode) | st.binary())
@settings(max_examples=150)
def test_no_page_breaks_a_resolver(host: str, content: bytes) -> None:
    url = f"https://{host}/a/1"
    try:
        image = SITES[host].resolve(content, url)
    except Missing:
        return
    assert image.startswith(("http://", "https://"))


@given(
    st.binary(max_size=200),
    st.sampled_from([b"", b"\x89PNG\r\n\x1a\n", b"GIF89a", b"\xff\xd8\xff", b"RIFF\x10\0\0\0WEBPVP8 "]),
)
@settings(max_examples=150)
def test_no_bytes_break_the_decoder(content: bytes, start: bytes) -> None:
    try:
        decode_image(start + content)
    except Missing as missing:
        assert re.fullmatch(REASONS, missing.reason)


def test_an_image_of_the_projects_own(project: Project) -> None:
    """`no such file` is a reason like any other."""
    project.pin(1, picture(1), image_url="own.png")
    assert project.one("xkcd_1").reason == "no such file"
    (project.root / "own.png").write_bytes(picture(1))
    assert project.one("xkcd_1", retry=True).url == "own.png"


@pytest.mark.real
def test_mirror_comes_through_without_network(mirror: Path, project: Project) -> None:
    folder, raw = ROOT / "data/manifests/pixelhumor", project.root / "raw"
    files = annotated(folder / "annotations.csv", raw, str(mirror))
    assert [file.read_bytes() == (mirror / "pixelhumor" / file.name).read_bytes() for file in files] == [True] * 8
    with (raw / "comic_url.csv").open(encoding="utf-8") as file:
        pages = {row["comic_id"]: row["comic_url"] for row in csv.DictReader(file)}
    assert len(pages) == 2800
    shutil.copy(folder / "images_pinned.csv", project.manifest)
    project.mirror = str(mirror)
    nowhere = dict.fromkeys([*SITES, IMAGE_HOST], "http://127.0.0.1:9")  # nothing listens there
    entries = project.fetch([name for name in pages if name.startswith("xkcd_")], pages, hosts=nowhere)
    assert availability_text(entries).splitlines()[1].startswith("xkcd,400,203,197,host unreachable,197")
    assert not project.lock.exists()
    pins = {pin.comic_id: pin for pin in read_manifest(project.manifest, Pin)}
    for entry in (entry for entry in entries if entry.state == "ok"):
        one, pin = ((of.sha256, of.bytes, of.width, of.height) for of in (entry, pins[entry.item_id]))
        assert one == pin and sha256_file(project.root / str(entry.path)) == entry.sha256


@pytest.mark.real
def test_manifests_are_what_the_generator_writes(mirror: Path, tmp_path: Path) -> None:
    generator = shutil.copy(ROOT / "data/manifests/make.py", tmp_path)
    (tmp_path / "yesbut").mkdir()  # the project's own files are stored next to their manifest
    for own in (ROOT / "data/manifests/yesbut").glob("*.json"):
        shutil.copy(own, tmp_path / "yesbut")
    subprocess.run([sys.executable, generator, str(mirror)], check=True)
    result = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.suffix in (".csv", ".json"))
    folders = {"hummus", "humorbench", "humorbench_runs", "pixelhumor", "stripcipher", "yesbut"}
    assert {str(path.parent) for path in result} == folders
    assert all((tmp_path / path).read_bytes() == (ROOT / "data/manifests" / path).read_bytes() for path in result)

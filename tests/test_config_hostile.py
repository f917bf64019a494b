"""Configuration that means harm, or holds what must not be written: named at once, with file, line or field."""

from __future__ import annotations

import os
import re
import threading
from pathlib import Path
from typing import Any

import pytest

from punchline.core.errors import PunchlineError, one_line
from punchline.core.outside import secret_field, visible, without_secret
from punchline.project.selection import read_card, read_selection
from punchline.project.yaml_files import read_yaml

SECRET = "pl4nted-p4ssw0rd"
ADDRESSES = [
    f"http://user:{SECRET}@mirror.example/m",
    f"https://{SECRET}@mirror.example",
    f"http://mirror.example/m?token={SECRET}",
    f"http://user:a/{SECRET}@mirror.example",
    f"http://user:a@{SECRET}@mirror.example",
    f"ftp://user:{SECRET}@mirror.example",
]


@pytest.fixture(autouse=True)
def in_root(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)


def card(folder: Path, text: str) -> Any:
    (folder / "config" / "model").mkdir(parents=True, exist_ok=True)
    (folder / "config" / "model" / "bad.yaml").write_text(text)
    return read_card("bad", folder / "config" / "model")


# Secrets


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize(
    "key", ["mirror", "subset", "models", "benchmarks", "judge", "scorers", "corpus", "limit", "new"]
)
def test_an_address_with_a_secret_is_refused_on_a_command_line(key: str, address: str) -> None:
    with pytest.raises(PunchlineError, match=rf"--config, field {key}: .*netrc.*PUNCHLINE_MIRROR_AUTH") as caught:
        read_selection({key: [address] if key in ("models", "benchmarks") else address})
    assert SECRET not in str(caught.value)


def test_an_address_with_a_secret_is_refused_in_run_yaml(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import shutil

    shutil.copytree(root / "config", tmp_path / "config")
    file = tmp_path / "config" / "run.yaml"
    file.write_text(re.sub(r"(?m)^mirror:.*$", f"mirror: {ADDRESSES[0]}", file.read_text()))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PunchlineError, match=r"config/run\.yaml, field mirror: .*netrc") as caught:
        read_selection({})
    assert SECRET not in str(caught.value)


def test_an_address_without_one_is_a_mirror() -> None:
    for mirror in ("http://mirror.example:8080/m@x", "https://mirror.example", "a/b@c", "../mirror"):
        assert read_selection({"mirror": mirror})[1] == mirror


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize(
    "text",
    [
        "engine: openai\nid: m\nbase_url: '{}'\n",
        "engine: vllm\nid: m\nbase_url: '{}'\n",
        "engine: openai\nid: m\nextra_body: {a: [{b: '{}'}]}\n",
        "engine: transformers\nid: '{}'\n",
        "engine: replay\npath: '{}'\n",
        "engine: openai\nid: m\nnote: 'see {}'\n",
        "engine: openai\nid: m\nprice: {input: 1, output: 1, date: 2026-01-01, source: '{}'}\n",
    ],
)
def test_an_address_with_a_secret_is_refused_in_a_card(text: str, address: str, tmp_path: Path) -> None:
    with pytest.raises(PunchlineError, match=r"bad\.yaml, field \w+") as caught:
        card(tmp_path, text.replace("'{}'", f"'{address}'").replace("{}", address))
    assert SECRET not in str(caught.value)


def test_no_error_repeats_a_secret() -> None:
    for address in ADDRESSES:
        assert SECRET not in str(PunchlineError(f"cannot reach {address}", file=address, way_out=f"Try '{address}'"))
        assert SECRET not in one_line(ValueError(f"<{address}>"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://h/a", "http://h/a"),
        ("a@b.example", "a@b.example"),
        ("https://social.example/@someone", "https://social.example/@someone"),
        ("https://h:8080/@someone, https://h/x", "https://h:8080/@someone, https://h/x"),
        ("http://[::1]:80/@x", "http://[::1]:80/@x"),
        ("from 'http://u:p@h/a' to \"https://v@w/b\"", "from 'http://h/a' to \"https://w/b\""),
        ("https://h/?a=1&api_key=x&b=2#c", "https://h/?a=1&api_key=[secret]&b=2#c"),
        ("https://h/?author=me&keyword=a", "https://h/?author=me&keyword=a"),
        ("max_tokens=5", "max_tokens=5"),
    ],
)
def test_what_is_taken_out_of_a_text(text: str, expected: str) -> None:
    assert without_secret(text) == expected


def test_where_a_secret_stands() -> None:
    assert secret_field({"a": ["x", {"b": "http://u:p@h"}]}) == "a.1.b"
    assert secret_field({"a": {"http://u:p@h": 1}}) == "a"
    assert secret_field({"a": ["x", 1, None, True]}) is None


# YAML


BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{b}: &{b} [{','.join([f'*{a}'] * 9)}]\n" for a, b in zip("abcdefghijklmn", "bcdefghijklmno", strict=False)
)


@pytest.mark.parametrize(
    ("text", "line"), [(BOMB, 2), ("a: &a [*a]\n", 1), ("a: &a {b: 1}\nc:\n  <<: *a\n", 3), ("x: 1\ny: *x\n", 2)]
)
def test_an_alias_is_refused_with_its_line(text: str, line: int, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(text)
    with pytest.raises(PunchlineError, match=rf"a\.yaml, line {line}: .*alias"):
        read_yaml(tmp_path / "a.yaml")
    with pytest.raises(PunchlineError, match=r"bad\.yaml, line \d+: .*alias"):
        card(tmp_path, "engine: openai\nid: m\n" + text)


@pytest.mark.parametrize("kind", ["pipe", "device", "long"])
def test_what_is_no_small_file_is_not_read(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    if kind == "pipe":
        os.mkfifo(file)
    elif kind == "device":
        file.symlink_to("/dev/zero")
    else:
        file.write_text("a: b\n" * 1_000_000)
    said: list[str] = []

    def work() -> None:
        try:
            read_yaml(file)
        except PunchlineError as error:
            said.append(str(error))

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(10)
    assert said and re.search("not a regular file|larger than", said[0])


# Braces


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("engine: openai\nid: m\nserved_as: '{x}'\n", "served_as"),
        ("engine: openai\nid: m\nserved_as: [m, 'a{ x }b']\n", "served_as.1"),
        ("engine: openai\nid: '{x}'\n", "id"),
        ("engine: openai\nid: m\npublished_as: 'GPT {model}'\n", "published_as"),
        ("engine: openai\nid: m\npapers: {pixelhumor: {row: '{x,a+}'}}\n", "papers.pixelhumor.row"),
        ("engine: openai\nid: m\nsampling: {'{x}': 1}\n", "sampling"),
        ("engine: openai\nid: m\nprice: {input: 1, output: 1, date: 2026-01-01, source: '{x}'}\n", "price.source"),
    ],
)
def test_braces_in_a_card_are_named(text: str, field: str, tmp_path: Path) -> None:
    with pytest.raises(PunchlineError, match=rf"bad\.yaml, field {re.escape(field)}: .*braces"):
        card(tmp_path, text)


@pytest.mark.parametrize(
    "text",
    [
        "engine: openai\nid: m\nextra_body: {guided_regex: '[0-9]{3}'}\n",
        "engine: vllm\nid: m\nchat_template_kwargs: {template: '{{ x }} {y}'}\n",
        "engine: vllm\nid: m\nextra_args: ['--override-generation-config={\"a\": 1}']\n",
        "engine: openai\nid: m\nnote: 'as {x} in the paper'\n",
    ],
)
def test_braces_where_they_mean_something_stay(text: str, tmp_path: Path) -> None:
    assert card(tmp_path, text).name == "bad"


# Characters that steer


def test_what_steers_is_shown() -> None:
    assert visible("a\x1b[31mb\x9b1m\u202ec\u2066d\x00e\x7f\u2028f") == (
        "a\\x1b[31mb\\x9b1m\\u202ec\\u2066d\\x00e\\x7f\\u2028f"
    )
    plain = "naïve 日本語 🦤👩‍🚀 e\u0301 a\tb\nc — “d” \u00a0e\ufe0f שלום"
    assert visible(plain) == plain

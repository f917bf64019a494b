"""Cards of engines: mistakes are named at once, and what can change an answer is part of the key."""

import itertools
import random
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from tests.records import refused

from punchline.core import certificates
from punchline.core import engine as engines
from punchline.engines import transformers
from punchline.engines.transformers.prompts import Prompt, batches
from punchline.errors import PunchlineError
from punchline.schema import ModelCard

OPTIONS: dict[str, dict[str, Any]] = {
    "openai": {"id": "m"},
    "vllm": {"id": "data/models/smollm2-135m-instruct"},
    "transformers": {"id": "someone/model"},
    "similarity": {"id": "a/b", "metric": "cosine"},
    "lexical": {},
    "baselines": {},
}


def card(engine: str, fields: dict[str, Any] | None = None, **options: Any) -> ModelCard:
    options = {name: value for name, value in (OPTIONS[engine] | options).items() if value is not None}
    return msgspec.convert({"name": "mine", "engine": engine, "options": options, **(fields or {})}, ModelCard)


@pytest.mark.parametrize(("engine", "mistake"), [(engine, one) for engine in OPTIONS for one in refused(engine)])
def test_a_wrong_card_is_refused_at_once(engine: str, mistake: tuple[dict[str, Any], str]) -> None:
    options, said = mistake
    with pytest.raises(PunchlineError) as error:
        engines.load(card(engine, **options), 0)
    assert "config/model/mine.yaml" in str(error.value) and said in str(error.value)


KEYS = yaml.safe_load(Path(__file__).with_name("keys.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("engine", KEYS)
def test_what_changes_an_answer_changes_the_key_and_nothing_else_does(engine: str) -> None:
    def key(options: dict[str, Any]) -> str:
        options = KEYS[engine]["all"] | options
        seed = options.pop("seed", 0)
        of = card(engine.partition(" ")[0], **options)
        return engines.model_key(engines.load(of, seed), of, "pixelhumor")

    same, other = ({*map(key, KEYS[engine][kind])} for kind in ("same", "other"))
    assert same == {key({})} and len(other - same) == len(KEYS[engine]["other"])


def test_transformers_without_its_packages_or_its_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transformers, "PACKAGES", ("torch_that_is_not_there",))
    engine = engines.load(card("transformers"), 0)
    assert engine.unavailable() == "not installed: torch_that_is_not_there; run make hf"
    monkeypatch.setattr(transformers, "PACKAGES", ())
    assert engines.load(card("transformers", revision="a" * 40), 0).unavailable() is None
    assert str(engines.load(card("transformers", id="./none"), 0).unavailable()).startswith("no such folder: ./none;")


@pytest.mark.parametrize("content", [None, "", "no certificate"])
@pytest.mark.parametrize("name", certificates.VARIABLES)
def test_certificates_that_cannot_be_used_are_named(
    name: str, content: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "certificates"
    if content is not None:
        file.write_text(content)
    for other in certificates.VARIABLES:
        monkeypatch.delenv(other, raising=False)
    monkeypatch.setenv(name, str(file))
    reason = engines.load(card("openai", base_url="http://h/v1"), 0).unavailable()
    assert f"{name} names no certificates ({file}: " in str(reason) and str(reason).endswith("correct or unset it")


def test_batches_hold_like_prompts_and_keep_the_budget() -> None:
    rng = random.Random(0)
    samplings: list[dict[str, Any]] = [{"temperature": n % 2, "max_tokens": 100, "seed": n} for n in range(300)]
    prompts = [Prompt([], "", (), (), rng.randint(1, 900), sampling) for sampling in samplings]
    result = batches(prompts, size=16, tokens=4000)
    assert sorted(map(id, itertools.chain(*result))) == sorted(map(id, prompts))
    for batch in result:
        assert len(batch) <= 16 and len({prompt.sampling["temperature"] for prompt in batch}) == 1
        assert len(batch) == 1 or len(batch) * (max(prompt.size for prompt in batch) + 100) <= 4000
    padded = sum(len(batch) * max(prompt.size for prompt in batch) for batch in result)
    assert padded < 1.2 * sum(prompt.size for prompt in prompts)

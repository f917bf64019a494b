"""Cards of engines: mistakes are named at once, and what can change an answer is part of the key."""

import itertools
import random
from typing import Any

import pytest
from tests.records import refused

from punchline.core import engine as engines
from punchline.engines import transformers
from punchline.engines.transformers.prompts import Prompt, batches
from punchline.errors import PunchlineError
from punchline.schema import ModelCard, Paper

OPTIONS: dict[str, dict[str, Any]] = {
    "openai": {"id": "m"},
    "vllm": {"id": "data/models/smollm2-135m-instruct"},
    "transformers": {"id": "someone/model"},
    "similarity": {"id": "a/b", "metric": "cosine"},
    "lexical": {},
    "baselines": {},
}
OVERLAP = {"baseline": "overlap", "threshold": 0.3}
CODE = "field trust_remote_code: code from the hub runs at a pinned revision only"
# (options, or with `fields` other fields of a card; what is said). None takes an option away.
MISTAKES: dict[str, list[tuple[dict[str, Any], str]]] = {
    "openai": [
        ({"modle": 1}, "unknown option 'modle'"),
        ({"temprature": 0}, "unknown option 'temprature'. Did you mean 'sampling.temperature'"),
        ({"id": ""}, "field id"),
        ({"concurrency": 0}, "field concurrency"),
        ({"timeouts": {"reed": 1}}, "field timeouts"),
        ({"thinking_budget": 5}, "thinking_budget and thinking_style go together"),
        ({"extra_body": {"stream": True}}, "extra_body may not hold 'stream'"),
        *(({"base_url": url}, "field base_url") for url in ("localhost:8000", "http://h:70000/v1", "http://[::1/v1")),
        ({"stream": True, "batch": True}, "field stream"),
    ],
    "vllm": [
        ({"dtipe": "float32"}, "unknown option 'dtipe'. Did you mean 'dtype'"),
        ({"dtype": "int8"}, "field dtype: Invalid enum value 'int8'"),
        ({"tensor_parallel": 0}, "field tensor_parallel: Expected `int` >= 1"),
        ({"fields": {"sampling": {"topk": 3}}}, "unknown sampling parameter 'topk'. Did you mean 'top_k'"),
        ({"fields": {"papers": {"hummus": Paper(sampling={"beams": 3})}}}, "unknown sampling parameter 'beams'"),
        ({"revision": "main"}, "field revision: expected sha256: and 64"),
        ({"trust_remote_code": True}, CODE),
        ({"extra_args": ["--port=8000"]}, "--port is no extra argument. An option of the card, or the engine"),
        ({"extra_args": ["--max_model_len", "5"]}, "--max-model-len is no extra argument"),
        ({"extra_args": ["--api-key=x"]}, "--api-key is no extra argument"),
    ],
    "transformers": [
        ({"batchsize": 3}, "unknown option 'batchsize'. Did you mean 'batch_size'"),
        ({"batch_size": 0}, "field batch_size: Expected `int` >= 1"),
        ({"dtype": "fp16"}, "field dtype: Invalid enum value 'fp16'. Did you mean 'float16'"),
        ({"id": ""}, "field id: Expected `str` of length >= 1"),
        ({"trust_remote_code": True}, CODE),
        ({"fields": {"sampling": {"top_pp": 0.5}}}, "unknown sampling parameter 'top_pp'. Did you mean 'top_p'"),
        ({"fields": {"sampling": {"presence_penalty": 0.5}}}, "unknown sampling parameter 'presence_penalty'"),
        ({"fields": {"sampling": {"temperature": -1}}}, "field sampling.temperature: out of range: -1"),
        ({"fields": {"sampling": {"max_tokens": 1.5}}}, "field sampling.max_tokens: expected a number, got 1.5"),
        ({"fields": {"papers": {"yesbut": Paper(sampling={"n": 4})}}}, "unknown sampling parameter 'n'"),
    ],
    "similarity": [
        ({"metric": None}, "field metric: the option is missing"),
        ({"metric": "rouge"}, "field metric: Invalid enum value 'rouge'. Valid: bertscore, cosine"),
        ({"id": None}, "field id: the option is missing"),
        *(({"id": value}, "field id: Expected `str` matching") for value in ("", "package:")),
        ({"layers": 3}, "field layers: bertscore needs the option, and cosine takes none"),
        ({"metric": "bertscore"}, "field layers: bertscore needs the option"),
        ({"metric": "bertscore", "layers": 0}, "field layers: Expected `int` >= 1"),
        ({"metric": "bertscore", "layers": True}, "field layers: Expected `int | null`, got `bool`"),
        ({"batchsize": 3}, "unknown option 'batchsize'. Did you mean 'batch_size'"),
        ({"revision": "main"}, "field revision: expected a commit hash"),
        ({"id": "package:a", "revision": "0" * 40}, "field revision: expected sha256:"),
    ],
    "lexical": [
        ({}, "field baseline: the option is missing"),
        (OVERLAP | {"baseline": "overlapp"}, "Invalid enum value 'overlapp'. Did you mean 'overlap'?"),
        ({"baseline": ["echo"]}, "field baseline: Expected `str`, got `array`"),
        ({"baseline": "overlap"}, "field threshold: overlap needs a share from 0 to 1"),
        *(
            (OVERLAP | {"threshold": share}, "field threshold: Expected `float")
            for share in (1.01, -0.1, float("nan"), True, "0.3")
        ),
        (OVERLAP | {"baseline": "echo"}, "field threshold: overlap needs a share from 0 to 1, and no other"),
        (OVERLAP | {"treshold": 0.3}, "unknown option 'treshold'. Did you mean 'threshold'?"),
    ],
    "baselines": refused("baselines"),
}


def card(engine: str, fields: dict[str, Any] | None = None, **options: Any) -> ModelCard:
    options = {name: value for name, value in (OPTIONS[engine] | options).items() if value is not None}
    return ModelCard(name="mine", engine=engine, options=options, **fields or {})


@pytest.mark.parametrize(
    ("engine", "options", "said"), [(engine, *mistake) for engine in MISTAKES for mistake in MISTAKES[engine]]
)
def test_a_wrong_card_is_refused_at_once(engine: str, options: dict[str, Any], said: str) -> None:
    with pytest.raises(PunchlineError) as error:
        engines.load(card(engine, **options), 0)
    assert "config/model/mine.yaml" in str(error.value) and said in str(error.value)


HUB = {"id": "someone/model", "revision": "a" * 40}
# {engine: (options that all have, options that change nothing, options that each make another model)}
KEYS: dict[str, tuple[dict[str, Any], list[dict[str, Any]], list[dict[str, Any]]]] = {
    "openai": (
        {},
        [{"concurrency": 3}, {"timeouts": {"read": 9}}, {"requests_per_minute": 5}, {"batch": True}, {"attempts": 2}],
        [
            *({"revision": "2"}, {"reasoning_effort": "low"}, {"search": True}, {"extra_body": {"a": 1}}, {"id": "n"}),
            *({"base_url": "https://h/v1", "api_key_env": "K"}, {"stream": True}),
            {"fields": {"thinking_tokens": 1000}},
        ],
    ),
    "vllm": (
        HUB,
        [
            *({"start_timeout": 9}, {"concurrency": 1}, {"gpu_memory_utilization": 0.5}, {"base_url": "http://h/v1"}),
            *({"executable": "vllm"}, {"max_num_seqs": 3}, {"data_parallel": 2}, {"executor": "ray"}),
            *({"pipeline_parallel": 1}, {"fields": {"licence": "MIT"}}, {"fields": {"shards": 4}}),
        ],
        [
            *({"revision": "b" * 40}, {"dtype": "float16"}, {"tensor_parallel": 2}, {"max_model_len": 99}),
            *({"pipeline_parallel": 2}, {"extra_args": ["--quantization=fp8"]}, {"generation_config": "auto"}),
            *({"fields": {"context": 98}}, {"chat_template_kwargs": {"enable_thinking": False}}, {"seed": 1}),
        ],
    ),
    "transformers": (
        HUB,
        [{"batch_size": 3}, {"batch_tokens": 99}, {"device": "cpu"}],
        [
            *({"revision": "b" * 40}, {"dtype": "bfloat16"}, {"attention": "eager"}, {"template": {"thinking": False}}),
            {"seed": 1},
        ],
    ),
    "lexical": (OVERLAP, [{"seed": 7}], [{"threshold": 0.4}, {"baseline": "echo", "threshold": None}]),
    "baselines": (
        {"baseline": "prior", "answers": {"Q1": "Yes"}},
        [{"seed": 1}],
        [
            {"answers": {"Q1": "No"}},
            *({"baseline": name, "answers": None} for name in ("random", "label-order", "reading-order", "ocr")),
            {"baseline": "random", "answers": None, "seed": 1},
        ],
    ),
}


@pytest.mark.parametrize("engine", KEYS)
def test_what_changes_an_answer_changes_the_key_and_nothing_else_does(engine: str) -> None:
    base, same, others = KEYS[engine]

    def key(options: dict[str, Any]) -> str:
        options = base | options
        seed = options.pop("seed", 0)
        of = card(engine, **options)
        return engines.model_key(engines.load(of, seed), of, "pixelhumor")

    assert {key(options) for options in same} == {key({})}
    assert len({key({}), *map(key, others)}) == 1 + len(others)


def test_a_server_of_ones_own_may_move() -> None:
    of = [card("openai", base_url=url) for url in ("http://a:1/v1", "http://b:2/v1")]
    assert len({engines.model_key(engines.load(one, 0), one, "b") for one in of}) == 1


def test_transformers_without_its_packages_or_its_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transformers, "PACKAGES", ("torch_that_is_not_there",))
    engine = engines.load(card("transformers"), 0)
    assert engine.unavailable() == "not installed: torch_that_is_not_there; run make hf"
    monkeypatch.setattr(transformers, "PACKAGES", ())
    assert engine.unavailable() is None
    assert str(engines.load(card("transformers", id="./none"), 0).unavailable()).startswith("no such folder: ./none;")


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

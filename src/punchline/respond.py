"""Ask a respondent what has not been answered yet, journal each answer as it comes, index the answers that count.

A respondent is a model, a judge or a scorer. Its job asks about one benchmark after the other, with questions about
its own answers right after them, and writes one index for each model whose items, or answers, it was asked about.
With several shards a job for each asks first; then the respondent's job asks nobody. The rules that decide which
answers count, and what a loss does, were found by breaking simpler ones (journal.py, tests/test_respond_states.py).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import msgspec

from punchline import budget, paths
from punchline.artifacts.passes import ALL, CHAINED, JUDGES, RELEASED, Round
from punchline.artifacts.project import Project
from punchline.core.engine import Engine, has_all_images, model_key, response
from punchline.core.storage import Part, Stored, digests_of, intact, values_in, write_table
from punchline.errors import PunchlineError
from punchline.files import records_in, write_bytes
from punchline.jobs import build, status
from punchline.journal import WHOLE, Answers, Journal, Shard, locked
from punchline.requests import asked, pass_requests
from punchline.responses import Asked
from punchline.schema import Item, Price, Request, Response, canonical
from punchline.text import log_line, track
from punchline.workflow import digests
from punchline.workflow.provenance import Artifact, read_provenance, write_provenance

Ask = Callable[[Sequence[Request], Mapping[str, Path], str], Iterable[Response]]  # as Engine.answer
_SURROGATE = re.compile("[\ud800-\udfff]")


def image_files(items: Iterable[Item], root: str | Path = ".") -> dict[str, Path]:
    """{sha256: file} of all images of the items. Raises PunchlineError for one whose bytes are not those."""
    files: dict[str, Path] = {}
    for item in items:
        for image in item.images:
            path = Path(root) / image.path
            if not path.is_file() or digests.of_file(path) != image.sha256:
                raise PunchlineError(
                    "the image is gone" if not path.is_file() else "the image's bytes have changed since it was made",
                    file=path,
                    record=item.item_id,
                    hint="Run again with --forcerun prepare",
                )
            files[image.sha256] = path
    return files


def images_of(project: Project, engine: Engine, benchmark: str) -> dict[str, Path]:
    """Image files of a benchmark that an engine sees."""
    return image_files(records_in(project.paths.items(benchmark), Item)) if engine.looks_at(benchmark) else {}


@contextmanager
def answered(
    engine: Engine | None,
    requests: Sequence[Request],
    images: Mapping[str, Path],
    *,
    journal: str | Path,
    key: str,
    label: str,
    shard: Shard = WHOLE,
    indexes: Iterable[str | Path] = (),
    replaced: Iterable[str | Path] = (),
    retry: bool = False,
    price: Price | None = None,
    ask: Ask | None = None,
) -> Iterator[Journal]:
    """The journals of a respondent, with an answer to each request that `engine` was asked (None: nobody is).

    `key`: who answers (core.engine.model_key). `indexes`: what they hold intact is not asked again. `replaced`: the
    journal gets what only these indexes hold. `retry`: failed answers are asked again. `ask`: gives the
    responses in place of the engine (budget.answer). Raises PunchlineError for a damaged line where somebody is to be
    asked.
    """
    journal = str(journal)
    with locked(journal, shard), Journal(shard.journal(journal), paths.with_shards(journal)) as log:
        before = len(log)
        for index in replaced:
            for indexed in filter(log.lacks, intact(index, Response)):
                log.append(indexed)
        lost = {request_id for request_id in digests_of(requests) if (request_id, key) not in log}
        for index in indexes if lost else ():
            for indexed in filter(log.lacks, intact(index, Response)):
                if indexed.request_id in lost and indexed.model_key == key:
                    log.append(indexed)
        if len(log) > before:
            log_line(f"{label}: {len(log) - before:,} answers were in no journal any more; taken from indexes")
        log.sync()
        if engine is not None:
            _ask(engine, requests, images, log, key, label, retry, price, ask or engine.answer)
        yield log


def _ask(
    engine: Engine,
    requests: Sequence[Request],
    images: Mapping[str, Path],
    log: Journal,
    key: str,
    label: str,
    retry: bool,
    price: Price | None,
    answer: Ask,
) -> None:
    """Journal an answer to every request that has none, or a failed one with `retry`.

    A missing image is journalled too, under a request id that says so: once the image is there, the request has
    another id.
    """
    again = (None, "failed") if retry else (None,)
    places = (at for at, request_id in enumerate(digests_of(requests)) if log.state((request_id, key)) in again)
    todo = Part(requests, places)
    log_line(
        f"{label}: {len(requests):,} requests, {len(requests) - len(todo):,} answered before, {len(todo):,} to ask"
    )
    if todo and log.damaged:
        raise log.damaged[0]
    ask: Sequence[Request] = todo
    if engine.needs_images:
        blind = {at for at, r in enumerate(todo) if engine.looks_at(r.benchmark) and not has_all_images(r)}
        for at in sorted(blind):
            log.append(response(engine, todo[at], key, "missing", reason="image missing"))
        ask = Part(todo, (at for at in range(len(todo)) if at not in blind))
    if ask:
        costs: list[float] = []

        def so_far() -> str:
            return f", {sum(costs):,.2f} {price.currency} so far" if price is not None else ""

        for made in track(answer(ask, images, key), len(ask), label, so_far):
            costs += [price.of(made.usage)] if price is not None else []
            log.append(_storable(made))
    if todo:
        ids = enumerate(digests_of(requests))
        for request in Part(requests, (at for at, request_id in ids if (request_id, key) not in log)):
            log.append(response(engine, request, key, "failed", reason="the engine gave no response"))


def _storable(response: Response) -> Response:
    """The response with U+FFFD for every half of a surrogate pair, which UTF-8 cannot hold."""
    texts = {name: text for name in ("text", "reasoning") if isinstance(text := getattr(response, name), str)}
    halved = {name: _SURROGATE.sub("\ufffd", text) for name, text in texts.items() if not text.isascii()}
    return msgspec.structs.replace(response, **halved) if halved else response


def write_index(path: str | Path, requests: Sequence[Request], log: Answers, key: str) -> Counter[str]:
    """Write the answers that count, in the order of the requests; how many there are of each state."""
    ids = list(digests_of(requests))
    write_table(path, (log.read((request_id, key)) for request_id in ids), Response)
    return Counter(str(log.state((request_id, key))) for request_id in ids)


def respond(project: Project, respondent: str, shard: str) -> None:
    """A respondent's answers to all that it is asked in a selection; of one shard, only into its journals."""
    with closing(project.engine_of(respondent)):  # one start of the engine for all benchmarks
        if shard != ALL:
            part = project.shard(respondent, shard)
            if status()(part) is not None:
                build(project, part)
            return
        for round_ in project.rounds(respondent):
            _answer_round(project, respondent, round_)
    indexes = [step.outputs[0] for step in project.built_by("respond", respondent, ALL)]
    marker = {path: digests.of_file(path) for path in indexes}
    write_bytes(project.paths.responded(respondent, ALL), canonical(marker) + b"\n")


def write_answers(project: Project, benchmark: str, pass_: str, model: str) -> None:
    """Write the index of the answers about one model, or its items, and the requests of a later pass."""
    _answer_round(project, project.respondent(benchmark, pass_, model), Round(benchmark, pass_, (model,)))


def write_shard(project: Project, respondent: str, name: str) -> None:
    """Journal the answers to one shard's requests; write how many there are of each state."""
    shard, counted = Shard(*map(int, name.split("-of-"))), Counter[str]()
    for round_ in project.rounds(respondent):
        if project.passes(round_.benchmark, round_.models[0]).get(round_.pass_) == RELEASED:
            continue  # they cost nothing: the respondent's job takes them from their files
        requests = {model: _requests(project, round_, model, shard) for model in round_.models}
        steps = [project.answers(round_.benchmark, round_.pass_, model) for model in round_.models]
        with _round(project, respondent, round_, _together(requests), steps, shard) as (log, key):
            counted.update(str(log.state((one, key))) for all_ in requests.values() for one in digests_of(all_))
    write_bytes(project.paths.responded(respondent, name), canonical(dict(sorted(counted.items()))) + b"\n")


def _answer_round(project: Project, respondent: str, round_: Round) -> None:
    """Ask; write indexes that are not current, and requests of later passes, with their provenance files."""
    steps = {model: project.answers(round_.benchmark, round_.pass_, model) for model in round_.models}
    reason = status()
    steps = {model: step for model, step in steps.items() if reason(step) is not None}
    if not steps:
        log_line(f"{_label(respondent, round_)}: up to date, nobody is asked")
        return
    for model, step in steps.items():
        _keep_of_another(project, respondent, round_._replace(models=(model,)), step)
    before = {model: step.inputs() for model, step in steps.items()}
    requests = {model: _requests(project, round_, model) for model in steps}
    with _round(project, respondent, round_, _together(requests), list(steps.values())) as (log, key):
        if any((one, key) not in log for all_ in requests.values() for one in digests_of(all_)):
            _ask_shards_again(project, respondent, log)
        for model, step in steps.items():
            _write(project, respondent, round_._replace(models=(model,)), requests[model], log, key)
            write_provenance(step, before[model])


def index_answers(project: Project, benchmark: str, pass_: str, model: str) -> None:
    """Write the index of journalled answers, and the requests of a later pass; nobody is asked.

    Raises PunchlineError for a damaged journal, and for a request without an answer.
    """
    respondent, round_ = project.respondent(benchmark, pass_, model), Round(benchmark, pass_, (model,))
    journal = project.journal(respondent, round_)
    key = model_key(project.engine_of(respondent), project.card_of(respondent), benchmark)
    requests = _requests(project, round_, model)
    with closing(Answers(paths.with_shards(journal))) as log:
        if log.damaged:
            raise log.damaged[0]
        for request in requests:
            if (request.request_id, key) not in log:
                raise PunchlineError(f"no answer to {request.item_id} {request.task}", file=journal)
        _write(project, respondent, round_, requests, log, key)


def _write(
    project: Project, respondent: str, round_: Round, requests: Sequence[Request], log: Answers, key: str
) -> None:
    """Write the index of one model's answers, and its requests in a later pass."""
    (model,) = round_.models
    index, *pass_requests = project.answers(round_.benchmark, round_.pass_, model).outputs
    for path in pass_requests:
        write_table(path, requests, Request)
    states = write_index(index, requests, log, key)
    counts = ", ".join(f"{n:,} {state}" for state, n in sorted(states.items())) or "nothing to answer"
    log_line(f"{_label(respondent, round_, model)}: {counts}")


def _keep_of_another(project: Project, respondent: str, round_: Round, step: Artifact) -> None:
    """Of an index that another judge answered, its journal gets what only the index holds."""
    made = read_provenance(step.record)
    another = str(made.parameters.get("who", "")) if made is not None else ""
    if another != respondent and another.startswith(JUDGES):
        journal = project.journal(another, round_)
        with answered(None, [], {}, journal=journal, key="", label=another, replaced=[step.outputs[0]]):
            Path(step.outputs[0]).unlink()


def _ask_shards_again(project: Project, respondent: str, log: Answers) -> None:
    """Forget that shards are done whose answers were lost since. Raises PunchlineError."""
    if log.damaged:
        raise log.damaged[0]
    for shard in project.shards_of(respondent):
        Path(shard.outputs[0]).unlink(missing_ok=True)
    raise PunchlineError(
        f"answers of {respondent} were lost after its shards were done", hint="Run again: what is lost is asked again"
    )


@contextmanager
def _round(
    project: Project,
    respondent: str,
    round_: Round,
    requests: Sequence[Request],
    steps: Sequence[Artifact],
    shard: Shard | None = None,
) -> Iterator[tuple[Journal, str]]:
    """The journals of a round with its answers, and the respondent's key. `shard`: None for the respondent's job."""
    engine, card, benchmark = project.engine_of(respondent), project.card_of(respondent), round_.benchmark
    released = project.passes(benchmark, round_.models[0]).get(round_.pass_) == RELEASED
    asks = shard is not None or released or not project.shards(respondent)
    key = model_key(engine, card, benchmark)
    with answered(
        engine if asks else None,
        requests,
        images_of(project, engine, benchmark) if asks and round_.pass_ in ("", CHAINED) else {},
        journal=project.journal(respondent, round_),
        key=key,
        label=_label(respondent, round_) + (f", shard {shard}" if shard else ""),
        shard=shard or WHOLE,
        indexes=(path for step in steps for path in paths.of_all_runs(step.outputs[0])),
        replaced=() if shard else (step.outputs[0] for step in steps),
        retry=any(map(status().is_forced, steps)),
        price=card.price,
        ask=partial(budget.answer, engine, card, path=f"{project.paths.logs}/{budget.SPENT}"),
    ) as log:
        yield log, key


def _label(respondent: str, round_: Round, model: str = "") -> str:
    pass_ = f" ({round_.pass_})" if round_.pass_ else ""
    about = f" of {model}" if model and model != respondent else ""
    return f"{respondent} on {round_.benchmark}{pass_}{about}"


def _together(requests: Mapping[str, Sequence[Request]]) -> Sequence[Request]:
    """Requests about all models, the same one once."""
    if len(requests) == 1:
        return next(iter(requests.values()))
    return list({request.request_id: request for one in requests.values() for request in one}.values())


def _requests(project: Project, round_: Round, model: str, shard: Shard = WHOLE) -> Sequence[Request]:
    """Requests of a round about one model or its items, or those of one shard."""
    benchmark, pass_, _ = round_
    if not pass_:
        stored = Stored(project.paths.requests(benchmark), Request)
        return stored if shard == WHOLE else part_of(stored, shard)
    if pass_ == CHAINED and shard != WHOLE:  # the index of its own answers is written when all shards are done
        pairs: Iterable[Asked] = _journalled(project, model, benchmark, shard)
    else:
        pairs = asked(project, benchmark, model, chained=pass_ != CHAINED)
    return [request for request in pass_requests(project, benchmark, pass_, model, pairs) if shard.has(request.item_id)]


def _journalled(project: Project, model: str, benchmark: str, shard: Shard) -> Iterator[Asked]:
    """A model's requests about a shard's items, each with the answer in its journals."""
    log = Answers(paths.with_shards(project.journal(model, Round(benchmark, "", (model,)))))
    key = model_key(project.engines[model], project.cards[model], benchmark)
    for request in part_of(Stored(project.paths.requests(benchmark), Request), shard):
        yield request, log.read((request.request_id, key))


def part_of(requests: Stored[Request], shard: Shard) -> Part[Request]:
    """The requests about a shard's items."""
    item_ids = list(values_in(requests.path, "item_id"))
    own = {item_id for item_id in set(item_ids) if shard.has(item_id)}
    return Part(requests, (at for at, item_id in enumerate(item_ids) if item_id in own))

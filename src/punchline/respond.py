"""Ask a respondent what has not been answered yet, journal each answer as it comes, index the answers that count.

A respondent is a model, a judge or a scorer. Its job asks about one benchmark after the other, with questions about
its own answers right after them, and writes one index for each model whose items, or answers, it was asked about.
With several shards a job for each asks first; then the respondent's job asks nobody. The rules that decide which
answers count, and what a loss does, were found by breaking simpler ones (journal.py, tests/test_respond_states.py).
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import cached_property
from pathlib import Path

import msgspec

from punchline import budget, paths
from punchline.artifacts.passes import ALL, CHAINED, JUDGES, RELEASED, Round
from punchline.artifacts.project import Project
from punchline.artifacts.run import Run
from punchline.core.engine import Engine, ImageFiles, has_all_images, model_key, reported_state, response
from punchline.core.storage import Part, Stored, digests_of, intact, values_in, write_table
from punchline.errors import PunchlineError
from punchline.files import records_in, write_bytes
from punchline.jobs import build, status
from punchline.journal import WHOLE, Answers, Journal, Shard, locked
from punchline.requests import exchanges, pass_requests
from punchline.responses import Exchange
from punchline.schema import Item, Request, Response, canonical
from punchline.text import log_line, track
from punchline.workflow import digests
from punchline.workflow.provenance import read_provenance, write_provenance

_SURROGATE = re.compile("[\ud800-\udfff]")


def image_files(items: Iterable[Item]) -> dict[str, Path]:
    """{sha256: file} of all images of the items. Raises PunchlineError for one whose bytes are not those."""
    files: dict[str, Path] = {}
    for item in items:
        for image in item.images:
            path = Path(image.path)
            if not path.is_file() or digests.of_file(path) != image.sha256:
                what = "the image's bytes have changed since it was made" if path.is_file() else "the image is gone"
                raise PunchlineError(what, file=path, record=item.item_id, hint="Run again with --forcerun prepare")
            files[image.sha256] = path
    return files


def images_of(run: Run, engine: Engine, benchmark: str) -> dict[str, Path]:
    """Image files of a benchmark that an engine sees."""
    return image_files(records_in(run.paths.items(benchmark), Item)) if engine.looks_at(benchmark) else {}


@contextmanager
def answered(
    engine: Engine | None,
    requests: Sequence[Request],
    images: ImageFiles,
    *,
    journal: str | Path,
    key: str,
    label: str,
    shard: Shard = WHOLE,
    indexes: Iterable[str | Path] = (),
    replaced: Iterable[str | Path] = (),
    retry: bool = False,
) -> Iterator[Journal]:
    """The journals of a respondent, with an answer to each request that `engine` was asked (None: nobody is).

    `key`: who answers (core.engine.model_key). `indexes`: what they hold intact is not asked again. `replaced`: the
    journal gets what only these indexes hold. `retry`: failed answers are asked again. Raises PunchlineError for a
    damaged line where somebody is to be asked.
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
            again = (None, "failed") if retry else (None,)
            ids = enumerate(digests_of(requests))
            todo = Part(requests, (at for at, request_id in ids if log.state((request_id, key)) in again))
            done = len(requests) - len(todo)
            log_line(f"{label}: {len(requests):,} requests, {done:,} answered before, {len(todo):,} to ask")
            if todo:
                log.check()
                _ask(engine, todo, images, log, key, label)
        yield log


def _ask(engine: Engine, requests: Part[Request], images: ImageFiles, log: Journal, key: str, label: str) -> None:
    """Journal an answer to every request.

    A missing image is journalled too, under a request id that says so: once the image is there, the request has
    another id.
    """
    ask: Sequence[int] = range(len(requests))
    if engine.looks_at(requests[0].benchmark):
        ask = [at for at, request in enumerate(requests) if has_all_images(request)]
        for at in sorted({*range(len(requests))}.difference(ask)):
            log.append(response(engine, requests[at], key, "missing", reason="image missing"))
    before, price, cost = len(log), engine.card.price, 0.0

    def so_far() -> str:
        return f", {cost:,.2f} {price.currency} so far" if price is not None else ""

    if ask:
        answers = budget.answer(engine, Part(requests, ask), images, key)
        for one_response in track(answers, len(ask), label, so_far, at_once=engine.at_once):
            cost += price.of(one_response.usage) if price is not None else 0.0
            log.append(_storable(one_response))
    for request in requests if len(log) - before < len(ask) else ():
        if (request.request_id, key) not in log:
            log.append(response(engine, request, key, "failed", reason="the engine gave no response"))


def _storable(response: Response) -> Response:
    """The response with U+FFFD for every half of a surrogate pair, which UTF-8 cannot hold."""
    texts = {name: text for name in ("text", "reasoning") if isinstance(text := getattr(response, name), str)}
    return msgspec.structs.replace(response, **{name: _SURROGATE.sub("\ufffd", text) for name, text in texts.items()})


def write_index(path: str | Path, requests: Sequence[Request], log: Answers, key: str) -> Counter[str]:
    """Write the answers that count, in the order of the requests; how many there are of each reported state."""
    states = Counter[str]()

    def answers() -> Iterator[Response]:
        for request_id in digests_of(requests):
            answer = log.read((request_id, key))
            states[reported_state(answer.state, answer.reason)] += 1
            yield answer

    write_table(path, answers(), Response)
    return states


def respond(project: Project, respondent: str, shard: str) -> None:
    """A respondent's answers to all that it is asked in a selection; of one shard, only into its journals."""
    with closing(project.engine_of(respondent)):  # one start of the engine for all benchmarks
        if shard != ALL:
            part = project.shard(respondent, shard)
            if status()(part) is not None:
                build(project, part)
            return
        for round_ in project.rounds(respondent):
            _ask_round(project, respondent, round_)
    indexes = [step.outputs[0] for step in project.built_by("respond", respondent, ALL)]
    marker = {path: digests.of_file(path) for path in indexes}
    write_bytes(project.paths.responded(respondent, ALL), canonical(marker) + b"\n")


def _ask_round(project: Project, respondent: str, round_: Round) -> None:
    """Ask; write indexes that are not current, and requests of later passes, with their provenance files."""
    (benchmark, pass_, models), reason = round_, status()
    described = ((model, project.answers(benchmark, pass_, model)) for model in models)
    artifacts = {model: artifact for model, artifact in described if reason(artifact) is not None}
    asked_of = _Asked(project, respondent, round_._replace(models=tuple(artifacts or models)))
    if not artifacts:
        log_line(f"{asked_of.label}: up to date, nobody is asked")
        return
    for model in artifacts:
        asked_of.keep_of_another(model)
    before = {model: artifact.input_digests() for model, artifact in artifacts.items()}
    requests = {model: asked_of.requests(model) for model in artifacts}
    with asked_of.answered(requests) as log:
        if any((one, asked_of.key) not in log for of_model in requests.values() for one in digests_of(of_model)):
            asked_of.ask_shards_again(log)
        for model, artifact in artifacts.items():
            asked_of.write(model, requests[model], log)
            write_provenance(artifact, before[model])


def write_shard(run: Run, respondent: str, name: str) -> None:
    """Journal the answers to one shard's requests; write how many there are of each state."""
    shard, counted = Shard(*map(int, name.split("-of-"))), Counter[str]()
    for asked_of in (_Asked(run, respondent, round_) for round_ in run.rounds(respondent)):
        if asked_of.released:
            continue  # they cost nothing: the respondent's job takes them from their files
        requests = {model: asked_of.requests(model, shard) for model in asked_of.models}
        with asked_of.answered(requests, shard) as log:
            ids = (request_id for of_model in requests.values() for request_id in digests_of(of_model))
            counted.update(str(log.state((request_id, asked_of.key))) for request_id in ids)
    write_bytes(run.paths.responded(respondent, name), canonical(dict(sorted(counted.items()))) + b"\n")


def write_answers(run: Run, benchmark: str, pass_: str, model: str) -> None:
    """Write the index of journalled answers, and the requests of a later pass; nobody is asked.

    Raises PunchlineError for a damaged journal, and for a request without an answer.
    """
    asked_of = _Asked(run, run.respondent(benchmark, pass_, model), Round(benchmark, pass_, (model,)))
    requests = asked_of.requests(model)
    with closing(Answers(paths.with_shards(asked_of.journal))) as log:
        log.check()
        for request in requests:
            if (request.request_id, asked_of.key) not in log:
                raise PunchlineError(f"no answer to {request.item_id} {request.task}", file=asked_of.journal)
        asked_of.write(model, requests, log)


class _Asked:
    """Requests to a respondent in one round, and the files of its answers."""

    def __init__(self, run: Run, respondent: str, round_: Round) -> None:
        self.run, self.respondent = run, respondent
        self.benchmark, self.pass_, self.models = round_
        self.engine, self.journal = run.engine_of(respondent), run.journal(respondent, round_)
        self.released = run.passes(self.benchmark, self.models[0]).get(self.pass_) == RELEASED
        self.indexes = {model: run.paths.responses(self.benchmark, model, self.pass_) for model in self.models}
        self.label = f"{respondent} on {self.benchmark}{f' ({self.pass_})' if self.pass_ else ''}"

    @cached_property
    def key(self) -> str:
        """The respondent's key."""
        return model_key(self.engine, self.run.card_of(self.respondent), self.benchmark)

    def keep_of_another(self, model: str) -> None:
        """Copy answers that only the index of another judge holds into that judge's journal."""
        index = self.indexes[model]
        record = read_provenance(paths.record_of(index))
        another = str(record.parameters.get("who", "")) if record is not None else ""
        if another != self.respondent and another.startswith(JUDGES):
            journal = self.run.journal(another, Round(self.benchmark, self.pass_, (model,)))
            with answered(None, [], {}, journal=journal, key="", label=another, replaced=[index]):
                Path(index).unlink()

    def ask_shards_again(self, log: Answers) -> None:
        """Forget that shards are done whose answers were lost since. Raises PunchlineError."""
        log.check()
        for shard in self.run.shards(self.respondent):
            Path(self.run.paths.responded(self.respondent, shard)).unlink(missing_ok=True)
        what = f"answers of {self.respondent} were lost after its shards were done"
        raise PunchlineError(what, hint="Run again: what is lost is asked again")

    @contextmanager
    def answered(self, requests: Mapping[str, Sequence[Request]], shard: Shard | None = None) -> Iterator[Journal]:
        """The journals with an answer to each model's requests. `shard`: None for the respondent's job."""
        asks = shard is not None or self.released or not self.run.shards(self.respondent)
        sees = asks and self.pass_ in ("", CHAINED)
        indexes = list(self.indexes.values())
        files = [self.run.paths.responded(self.respondent, ALL), *indexes]
        files += [self.run.paths.requests(self.benchmark, model, self.pass_) for model in self.models if self.pass_]
        together, *others = requests.values()
        if others:  # the same request once
            of_all = itertools.chain(together, *others)
            together = list({request.request_id: request for request in of_all}.values())
        with answered(
            self.engine if asks else None,
            together,
            images_of(self.run, self.engine, self.benchmark) if sees else {},
            journal=self.journal,
            key=self.key,
            label=self.label + (f", shard {shard}" if shard else ""),
            shard=shard or WHOLE,
            indexes=(path for index in indexes for path in paths.of_all_runs(index)),
            replaced=() if shard else indexes,
            retry=not {"all", "respond", *files}.isdisjoint(status().again),
        ) as log:
            yield log

    def requests(self, model: str, shard: Shard = WHOLE) -> Sequence[Request]:
        """Requests about one model or its items, or those of one shard."""
        run, benchmark, pass_ = self.run, self.benchmark, self.pass_
        if not pass_:
            stored = Stored(run.paths.requests(benchmark), Request)
            return stored if shard == WHOLE else part_of(stored, shard)
        if pass_ == CHAINED and shard != WHOLE:  # the index of its own answers is written when all shards are done
            log = Answers(paths.with_shards(run.journal(model, Round(benchmark, "", (model,)))))
            of_shard = part_of(Stored(run.paths.requests(benchmark), Request), shard)
            pairs: Iterable[Exchange] = ((request, log.read((request.request_id, self.key))) for request in of_shard)
        else:
            pairs = exchanges(run, benchmark, model, chained=pass_ != CHAINED)
        return [one for one in pass_requests(run, benchmark, pass_, model, pairs) if shard.has(one.item_id)]

    def write(self, model: str, requests: Sequence[Request], log: Answers) -> None:
        """Write the index of one model's answers, and its requests in a later pass."""
        if self.pass_:
            write_table(self.run.paths.requests(self.benchmark, model, self.pass_), requests, Request)
        states = write_index(self.indexes[model], requests, log, self.key)
        counts = ", ".join(f"{n:,} {state}" for state, n in sorted(states.items())) or "nothing to answer"
        log_line(f"{self.label}{f' of {model}' if model != self.respondent else ''}: {counts}")


def part_of(requests: Stored[Request], shard: Shard) -> Part[Request]:
    """The requests about a shard's items."""
    item_ids = enumerate(values_in(requests.path, "item_id"))
    return Part(requests, (at for at, item_id in item_ids if shard.has(item_id)))

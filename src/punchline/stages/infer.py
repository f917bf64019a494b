"""Ask what has not been answered yet, journal every answer as it comes, write the snapshot of the current requests."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import msgspec

from punchline import paths
from punchline.core.engine import Engine, has_all_images, looks_at, model_key
from punchline.core.storage import Part, Stored, digests_of, read_columns, read_table, write_table
from punchline.errors import PunchlineError
from punchline.files import records_in, write_bytes
from punchline.journal import Journal
from punchline.project.hops import CHAINED, RELEASED, by_journal
from punchline.project.needs import Project
from punchline.schema import Item, ModelCard, Request, Response, State, canonical
from punchline.stages.job import current, make
from punchline.text import log_line, track
from punchline.workflow import digests
from punchline.workflow.provenance import Artifact, is_intact, write_provenance

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
                    hint="Run again with --forcerun pictures",
                )
            files[image.sha256] = path
    return files


def infer(
    engine: Engine | None,
    requests: Sequence[Request],
    images: Mapping[str, Path],
    *,
    journal: str | Path,
    snapshot: str | Path,
    label: str,
    key: str,
    before: Callable[[], Iterable[Response]] = list,
    parts: Sequence[str | Path] = (),
) -> Counter[str]:
    """Answer requests with an engine; write the snapshot; return how many answers of each state the snapshot holds.

    `key`: who answers (core.engine.model_key). Answers pass through; the journal holds them. `before`: answers that a
    journal which is gone is written from. `parts`: journals of shards, whose answers the journal takes over. Without
    an engine nobody is asked: PunchlineError for a request that has no answer.
    """
    states: Counter[str] = Counter()
    with _answered(engine, requests, images, journal, label, key, before, parts) as log:

        def answers() -> Iterator[Response]:
            for request_id in digests_of(requests):
                response = log.read((request_id, key))
                states[response.state] += 1
                yield response

        write_table(snapshot, answers(), Response)
    return states


def answer(
    engine: Engine | None,
    requests: Sequence[Request],
    images: Mapping[str, Path],
    *,
    journal: str | Path,
    label: str,
    key: str,
    before: Callable[[], Iterable[Response]] = list,
    parts: Sequence[str | Path] = (),
) -> list[Response]:
    """The engine's answers to requests, one for one and in their order, by way of the journal.

    `before`, `parts`, no engine: as in `infer`.
    """
    with _answered(engine, requests, images, journal, label, key, before, parts) as log:
        return [log.read((request.request_id, key)) for request in requests]


@contextmanager
def _answered(
    engine: Engine | None,
    requests: Sequence[Request],
    images: Mapping[str, Path],
    journal: str | Path,
    label: str,
    key: str,
    before: Callable[[], Iterable[Response]],
    parts: Sequence[str | Path] = (),
) -> Iterator[Journal]:
    """A journal with an answer to each of the requests."""
    gone = _gone(journal)
    with Journal(journal) as log:
        _keep(log, before() if gone else (), label)
        for part in parts:
            taken = log.take(part)
            Path(part).unlink()  # what it held is on disk
            log_line(f"{label}: {taken:,} answers from {part}")
        if engine is not None:
            _ask(engine, requests, images, log, key, label, retry=not gone)
        elif without := sum((request_id, key) not in log for request_id in digests_of(requests)):
            raise PunchlineError(
                f"{without:,} requests have no answer, though every shard is done",
                file=journal,
                hint="Run again with --forcerun and the rule that says so: infer, infer_chained or judge_NAME",
            )
        yield log


def _gone(journal: str | Path) -> bool:
    """Whether a model's journal is not there, or holds nothing yet."""
    return not Path(journal).exists() or Path(journal).stat().st_size == 0


def _keep(log: Journal, before: Iterable[Response], label: str) -> None:
    """Journal answers that only snapshots hold any more."""
    for response in before:
        if (response.request_id, response.model_key) not in log:
            log.append(response)
    if len(log) and before:
        log_line(f"{label}: the journal was gone; it has {len(log):,} answers again, from snapshots")


def _snapshots(step: Artifact) -> Iterator[Response]:
    """Answers that any run's intact snapshot holds, so that no other run asks for them anew."""
    for path in filter(is_intact, paths.of_all_runs(step.outputs[0])):
        yield from Stored(path, Response)


def _ask(
    engine: Engine,
    requests: Sequence[Request],
    images: Mapping[str, Path],
    log: Journal,
    key: str,
    label: str,
    retry: bool,
) -> None:
    """Journal an answer to every request that has none.

    A key that the journal holds is never asked again, save one that failed, with `retry`. A missing image is journalled
    too, under a request id that says so: once the image is there, the request has another id.
    """
    again = (None, "failed") if retry else (None,)
    places = (at for at, request_id in enumerate(digests_of(requests)) if log.state((request_id, key)) in again)
    todo = Part(requests, places)
    log_line(
        f"{label}: {len(requests):,} requests, {len(requests) - len(todo):,} answered before, {len(todo):,} to ask"
    )
    ask: Sequence[Request] = todo
    if engine.needs_images:
        blind = {at for at, r in enumerate(todo) if looks_at(engine, r.benchmark) and not has_all_images(r)}
        for at in sorted(blind):
            log.append(_without_answer(todo[at].request_id, key, engine, "missing", "image missing"))
        ask = Part(todo, (at for at in range(len(todo)) if at not in blind))
    if ask:
        for response in track(engine.answer(ask, images, key), len(ask), label):
            log.append(_storable(response))
    if todo:
        for request_id in digests_of(requests):
            if (request_id, key) not in log:
                log.append(_without_answer(request_id, key, engine, "failed", "the engine gave no response"))


def _storable(response: Response) -> Response:
    """The response with U+FFFD for every half of a surrogate pair, which UTF-8 cannot hold."""
    texts = {name: text for name in ("text", "reasoning") if isinstance(text := getattr(response, name), str)}
    halved = {name: _SURROGATE.sub("\ufffd", text) for name, text in texts.items() if not text.isascii()}
    return msgspec.structs.replace(response, **halved) if halved else response


def _without_answer(request_id: str, key: str, engine: Engine, state: State, reason: str) -> Response:
    return Response(
        request_id=request_id,
        model_key=key,
        state=state,
        reason=reason,
        engine=engine.name,
        engine_version=engine.version,
    )


def write_answers(project: Project, model: str) -> None:
    """One model's answers to all selected benchmarks: one start of its engine; none where shards have asked it."""
    _write(project, model, project.steps_of("infer", model), "")


def write_chained(project: Project, model: str) -> None:
    """One model's answers to what hangs on its own answers."""
    _write(project, model, project.steps_of("infer_chained", model), CHAINED)


def _write(project: Project, model: str, steps: Sequence[Artifact], hop: str) -> None:
    card, engine = project.cards[model], project.engines[model]
    asks = not project.shards(card)
    with closing(engine):
        for step in steps:
            benchmark = step.wildcards[0]
            label = f"{model} on {benchmark}" + (f" ({hop})" if hop else "")

            def write(step: Artifact = step, benchmark: str = benchmark, label: str = label) -> None:
                requests, whole = _files(project, benchmark, model, hop)
                journal, *parts = paths.with_shards(whole)
                states = infer(
                    engine if asks else None,
                    Stored(requests, Request),
                    images_of(project, engine, benchmark) if asks else {},
                    journal=journal,
                    snapshot=step.outputs[0],
                    label=label,
                    key=model_key(engine, card, benchmark),
                    before=lambda: _snapshots(step),
                    parts=parts,
                )
                log_line(f"{label}: {_counts(states)}")

            make(step, write)


def _files(project: Project, benchmark: str, model: str, hop: str) -> tuple[str, str]:
    """Where the requests to a model lie, on items or of a hop, and its journal."""
    if hop:
        return project.paths.hop_requests(benchmark, hop, model), paths.hop_journal(benchmark, hop, model)
    return project.paths.requests(benchmark), paths.journal(benchmark, model)


def images_of(project: Project, engine: Engine, benchmark: str) -> dict[str, Path]:
    """What an engine is shown of a benchmark."""
    items = records_in(project.paths.items(benchmark), Item)
    return image_files(items) if looks_at(engine, benchmark) else {}


def write_shard(project: Project, model: str, shard: str) -> None:
    """One job's part of a model's answers, in journals of its own, until `write_answers` takes them over."""
    _write_shards(project, model, project.steps_of("infer", model), "", shard)


def write_chained_shard(project: Project, model: str, shard: str) -> None:
    """One job's part of what hangs on a model's own answers, until `write_chained` takes it over."""
    _write_shards(project, model, project.steps_of("infer_chained", model), CHAINED, shard)


def _write_shards(project: Project, model: str, snapshots: Sequence[Artifact], hop: str, shard: str) -> None:
    card, engine = project.cards[model], project.engines[model]
    jobs = project.jobs(card)
    with closing(engine):
        for snapshot in snapshots:
            benchmark, step = snapshot.wildcards[0], project.shard(snapshot, shard)

            def write(snapshot: Artifact = snapshot, benchmark: str = benchmark, step: Artifact = step) -> None:
                file, journal = _files(project, benchmark, model, hop)
                part = part_of(file, shard, jobs)
                label = f"{model} on {benchmark}" + (f" ({hop})" if hop else "") + f", shard {shard} of {jobs}"
                images = images_of(project, engine, benchmark)
                (states,) = _ask_part(engine, card, benchmark, [part], images, journal, shard, label, [snapshot])
                write_bytes(step.outputs[0], canonical(states) + b"\n")
                log_line(f"{label}: {_counts(states)}")

            make(step, write)


def write_judge_shard(project: Project, judge: str, shard: str) -> None:
    """One job's part of what a judge or scorer says of all models' answers, until `write_verdicts` takes it over."""
    card, engine = project.judges[judge], project.judging[judge]
    jobs = project.jobs(card)
    with closing(engine):
        for (benchmark, hop), models in _rounds(project, judge, shard).items():
            snapshots = [project.hop_snapshot(benchmark, hop, model) for model in models]
            steps = [project.shard(snapshot, shard) for snapshot in snapshots]
            before = [step.inputs() for step in steps]
            parts = [part_of(project.paths.hop_requests(benchmark, hop, model), shard, jobs) for model in models]
            journal, label = paths.hop_journal(benchmark, hop, judge), f"{hop} {judge} on {benchmark}"
            label += f", shard {shard} of {jobs}"
            found = _ask_part(engine, card, benchmark, parts, {}, journal, shard, label, snapshots)
            for model, step, inputs, states in zip(models, steps, before, found, strict=True):
                write_bytes(step.outputs[0], canonical(states) + b"\n")
                write_provenance(step, inputs)
                log_line(f"{label}, of {model}: {_counts(states)}")


def _ask_part(
    engine: Engine,
    card: ModelCard,
    benchmark: str,
    parts: Sequence[Sequence[Request]],
    images: Mapping[str, Path],
    journal: str,
    shard: str,
    label: str,
    snapshots: Sequence[Artifact],
) -> list[Counter[str]]:
    """Ask one job's parts of some requests, in one go, into its own journal, beside which lie `journal` and those of
    other jobs; how many answers of each state each part has. `snapshots`: as `before` in `infer`."""
    key, own = model_key(engine, card, benchmark), paths.shard_journal(journal, shard)
    requests: Sequence[Request] = parts[0]
    if len(parts) > 1:
        requests = list({request.request_id: request for part in parts for request in part}.values())
    kept: list[Response] = []
    if _gone(journal):
        asked = set(digests_of(requests))
        kept = [answer for step in snapshots for answer in _snapshots(step) if answer.request_id in asked]
    with Journal(own, beside=[path for path in paths.with_shards(journal) if path != own]) as log:
        _keep(log, kept, label)
        _ask(engine, requests, images, log, key, label, retry=not kept)
        return [Counter(str(log.state((request_id, key))) for request_id in digests_of(part)) for part in parts]


def part_of(file: str, shard: str, shards: int) -> Part[Request]:
    """The requests of a file that one of several jobs asks."""
    return Part(Stored(file, Request), places_of(read_columns(file, ["item_id"])["item_id"], shard, shards))


def places_of(item_ids: Iterable[str], shard: str, shards: int) -> Iterator[int]:
    """Places of the requests that one of several jobs asks: items in turn, each whole, so that what prompts share stays
    shared."""
    numbers: dict[str, int] = {}
    for at, item_id in enumerate(item_ids):
        if numbers.setdefault(item_id, len(numbers)) % shards == int(shard) - 1:
            yield at


def _counts(states: Mapping[str, int]) -> str:
    return ", ".join(f"{n:,} {state}" for state, n in sorted(states.items())) or "nothing to answer"


def write_verdicts(project: Project, judge: str) -> None:
    """What a judge or scorer says of all models' answers: one start of its engine. RELEASED: verdicts from files."""
    with ExitStack() as opened:  # each engine serves all benchmarks: one loading of weights
        for engine in project.engines.values() if judge == RELEASED else [project.judging[judge]]:
            opened.callback(engine.close)
        for (benchmark, hop), models in _rounds(project, judge).items():
            # One is asked about all models in one go; released verdicts come model by model, each from its file.
            for judged in [[model] for model in models] if judge == RELEASED else [models]:
                _judge(project, judge, benchmark, hop, judged)


def _rounds(project: Project, judge: str, shard: str | None = None) -> dict[tuple[str, str], list[str]]:
    """{(benchmark, hop): models} of what a judge or scorer, or one of several jobs that ask it, has not said yet."""
    rounds: dict[tuple[str, str], list[str]] = {}
    for benchmark, hop, model in project.judged.get(judge, []):
        snapshot = project.hop_snapshot(benchmark, hop, model)
        if not current(snapshot if shard is None else project.shard(snapshot, shard)):
            rounds.setdefault((benchmark, hop), []).append(model)
    return rounds


def _judge(project: Project, judge: str, benchmark: str, hop: str, models: Sequence[str]) -> None:
    """Answers of one judge on some models, asked in one go, each with its own snapshot and record."""
    engine = project.engines[models[0]] if judge == RELEASED else project.judging[judge]
    card: ModelCard = project.cards[models[0]] if judge == RELEASED else project.judges[judge]
    steps = {model: project.hop_snapshot(benchmark, hop, model) for model in models}
    before = {model: step.inputs() for model, step in steps.items()}
    requests = {model: read_table(project.paths.hop_requests(benchmark, hop, model), Request) for model in models}
    asked = {request.request_id: request for model in models for request in requests[model]}
    answers: dict[str, Response] = {}
    asks = judge == RELEASED or not project.shards(card)
    for stem, part in by_journal(judge, engine, list(asked.values())).items():
        journal, *parts = paths.with_shards(paths.hop_journal(benchmark, hop, stem))
        found = answer(
            engine if asks else None,
            part,
            {},
            journal=journal,
            label=f"{hop} {stem} on {benchmark}" + (f" of {models[0]}" if judge == RELEASED else ""),
            key=model_key(engine, card, benchmark),
            before=lambda: [response for step in steps.values() for response in _snapshots(step)],
            parts=parts,
        )
        answers |= {response.request_id: response for response in found}
    for model, step in steps.items():
        snapshot = [answers[request.request_id] for request in requests[model]]
        write_table(step.outputs[0], snapshot, Response)
        write_provenance(step, before[model])
        log_line(f"{hop} {judge} on {benchmark} of {model}: {_counts(Counter(one.state for one in snapshot))}")

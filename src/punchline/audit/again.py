"""What an audit rebuilds from journals and raw files: requests, answers, scores."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from punchline import paths
from punchline.errors import PunchlineError
from punchline.files import read_records
from punchline.journal import Answers
from punchline.project.hops import CHAINED, DATA, Hop, Round
from punchline.project.lineage import Asked, Model
from punchline.project.needs import Project
from punchline.schema import Gold, Item, Request, Response, Score
from punchline.stages import prepare
from punchline.stages.ask import ask_hop, data_requests, requests
from punchline.stages.respondents import Who, who_answered
from punchline.stages.score import score
from punchline.stages.unit import Verdicts, read_verdicts

K = TypeVar("K", Item, Gold)


def _keyed(records: Sequence[K]) -> dict[str, K]:
    """By item id."""
    return {record.item_id: record for record in records}


class Again:
    """What is rebuilt once and compared in several places: requests, answers, scores."""

    def __init__(
        self, project: Project, name: str, models: Mapping[str, Model], *tables: str, compared: Sequence[Asked] = ()
    ) -> None:
        self.project = project
        self.name = name
        self.models = models  # by name
        self.compared = compared  # who was asked about texts of the data itself
        self.benchmark = project.benchmark(name)
        self.tables = [self.benchmark.TABLES[table] for table in tables]
        self.priced = any(table.prices for table in self.tables)
        # Models are gone through one after the other: what is large is kept for one of them.
        self.journal = functools.lru_cache(maxsize=3)(self._journal)
        self.answers = functools.lru_cache(maxsize=1)(self._answers)
        self.hop = functools.lru_cache(maxsize=4)(self._hop)
        self.scores = functools.lru_cache(maxsize=1)(self._scores)

    @functools.cached_property
    def requests(self) -> list[Request]:
        """Requests rendered from the items."""
        return list(requests(self.project, self.name, self.items))

    @functools.cached_property
    def items(self) -> list[Item]:
        """Items as they lie there: another link makes them again."""
        return read_records(self.project.paths.items(self.name), Item)

    def _journal(self, file: str) -> Answers:
        """The answers in a journal and those of its shards. Raises PunchlineError for a damaged one."""
        answers = Answers(paths.with_shards(file))
        if answers.damaged:
            raise answers.damaged[0]
        return answers

    def _look_up(self, file: str, requests: Sequence[Request], key: str) -> list[Response]:
        """A journal's answers to requests. Raises PunchlineError for one that it has not."""
        answers = self.journal(file)
        for request in requests:
            if (request.request_id, key) not in answers:
                raise PunchlineError(f"no answer to {request.item_id} {request.task}", file=file)
        return [answers.read((request.request_id, key)) for request in requests]

    def _answers(self, model: str) -> list[Response]:
        """The journal's answers to those requests."""
        return self._look_up(paths.journal(self.name, model), self.requests, self.models[model].key)

    @functools.cached_property
    def golds(self) -> list[Gold]:
        """Gold made from the raw files."""
        return list(prepare.golds(self.project, self.name))

    def hops(self, model: str) -> dict[str, Hop]:
        """What the model's answers led to, by name, in order."""
        return {hop.name: hop for hop in self.project.answerers(self.name, model)}

    def recorded(self, model: str, hop: str) -> Asked:
        """Who answered a hop, as the lineage says."""
        return next(one for one in (self.compared if model == DATA else self.models[model].hops) if one.hop == hop)

    def asked(self, model: str) -> tuple[list[Request], list[Response]]:
        """Everything that the model itself was asked, and its answers: what judges see and what is scored."""
        requests, answers = self.requests, self.answers(model)
        if CHAINED in self.hops(model):
            chained = self.hop(model, CHAINED)
            return [*requests, *chained[0]], [*answers, *chained[1]]
        return requests, answers

    def _hop(self, model: str, name: str) -> tuple[list[Request], list[Response]]:
        """A hop's requests, rendered from the journals' answers and gold, and its journals' answers to them."""
        recorded = self.recorded(model, name)
        if model == DATA:
            made = data_requests(self.project, self.name, name)
        else:
            requests, answers = (self.requests, self.answers(model)) if name == CHAINED else self.asked(model)
            conditions = self.project.conditions(self.name)
            asked = zip(requests, answers, strict=True)
            made = list(ask_hop(self.benchmark, name, _keyed(self.items), _keyed(self.golds), asked, conditions))
        who = self.project.respondent(self.name, name, model)
        journal = self.project.journal(who, Round(self.name, name, (model,)))
        return made, self._look_up(journal, made, recorded.key)

    def _scores(self, model: str) -> list[Score]:
        """Scores made from the journals and the raw bytes, past every view in between."""
        judges = {name: hop for name, hop in self.hops(model).items() if name != CHAINED}
        verdicts: Verdicts | None = {} if judges else None
        for name, hop in judges.items():
            assert verdicts is not None
            verdicts |= read_verdicts(hop.who, zip(*self.hop(model, name), strict=True))
        asked = zip(*self.asked(model), strict=True)
        return list(score(self.benchmark, model, _keyed(self.items), _keyed(self.golds), asked, verdicts))

    # What a table is computed from (punchline.stages.tabulate.Source)

    def who(self, model: str) -> dict[str, Who]:
        found = {name: who_answered(self.hop(model, name)[1]) for name in self.hops(model)}
        return {"": who_answered(self.answers(model)), **found}

    def said(self, hop: str) -> Iterator[tuple[Request, Response]]:
        return zip(*self.hop(DATA, hop), strict=True)

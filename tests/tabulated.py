"""Tables made of grades that a test has at hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from punchline.bench import discrepancies as differences
from punchline.bench import table as tables
from punchline.bench.frame import Scope, frame_of
from punchline.bench.table import Model, Row, Table, Tabulated
from punchline.core.records import RULES, Gold, Grade, Item, ModelCard, Rule


class Graded(NamedTuple):
    """A model, and its grades under one rule or several."""

    name: str
    kind: str
    engine: str
    grades: Sequence[Grade]
    card: ModelCard | None = None
    judge: ModelCard | None = None

    def model(self, scope: Scope, rule: Rule) -> Model:
        return Model(self.name, self.kind, self.engine, frame_of(self.grades, scope, rule), self.card, self.judge)


def tabulate(
    table: Table,
    models: Sequence[Graded],
    golds: Mapping[str, Gold],
    items: Mapping[str, Item],
    files: Mapping[str, bytes],
    published: Sequence[tables.PublishedRow],
    *,
    scoring: Rule | None,
    **options: Any,
) -> Tabulated:
    """A table under a rule, or its own, all at once: jobs measure each model for itself (cells)."""
    scope, rule = Scope(items, golds), scoring or table.rule
    made = [model.model(scope, rule) for model in models]
    measured = made if table.by_model else ()
    by_model = [tables.Part(one.name, one.kind, one.engine, tables.measure(table.rows(one.frame))) for one in measured]
    parts, notes = tables.all_parts(table, by_model, made, scope, files)
    return tables.tabulate(table, parts, published, rule=rule, notes=notes, **options)


def rows_of(
    table: Table, grades: Sequence[Grade], golds: Mapping[str, Gold], items: Mapping[str, Item], rule: Rule = "paper"
) -> list[Row]:
    """A model's rows; the rule is that of its grades, where it has any."""
    return list(table.rows(frame_of(grades, Scope(items, golds), grades[0].rule if grades else rule)))


def discrepancies(
    benchmark: str, table: Table, model: Graded, golds: Mapping[str, Gold], items: Mapping[str, Item]
) -> list[dict[str, str | int | float | None]]:
    """Where the two rules differ on a model's answers."""
    scope = Scope(items, golds)
    rows = {rule: tables.measure(table.rows(frame_of(model.grades, scope, rule)), shown=False) for rule in RULES}
    return differences.discrepancies(benchmark, table.name, model.name, rows)

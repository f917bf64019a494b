"""Tables as pictures: a forest plot of the main column, and the papers' figures with our values in them.

Drawn by Vega-Lite, from the specifications in figures.yaml, as SVG in the color of the text around it, so that a page
may be light or dark.
"""

from __future__ import annotations

import colorsys
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import vl_convert

from punchline.config.yaml_files import read_yaml
from punchline.report.tables import KINDS, Row, Sheet, parse_number
from punchline.tables.chart import Chart
from punchline.tables.latex import head

FEW = 4  # categories that get a plot each

_SPECS = read_yaml(Path(__file__).with_suffix(".yaml"))
_ROLES = re.compile(r' (?:role|aria-[a-z]+)="[^"]*"')
_ROOT = re.compile(r'^<svg[^>]*?(width="\d+" height="\d+" viewBox="[^"]*")[^>]*>')

Point = dict[str, Any]
Spec = dict[str, Any]  # of Vega-Lite; {}: there is nothing to draw


def _filled(part: Any, values: dict[str, Any]) -> Any:
    """A part of a specification with values in place of their names."""
    return json.loads(re.sub(r'"\$(\w+)"', lambda name: json.dumps(values[name[1]]), json.dumps(part)))


def _plot(spec: str, points: Sequence[Point], title: str, **values: Any) -> Spec:
    kinds = [kind for kind in KINDS if any(point["kind"] == kind for point in points)]
    colors, shapes = zip(*(_SPECS["kinds"][kind] for kind in kinds), strict=True)
    values |= {"points": points, "title": title, "kinds": kinds, "colors": colors, "shapes": shapes}
    return cast(Spec, _filled(_SPECS[spec], values))


def _spec(*plots: Spec) -> Spec:
    """A chart of plots below each other."""
    return {"config": _SPECS["config"], **(plots[0] if len(plots) == 1 else {"vconcat": plots})}


def points(sheet: Sheet, values: Sequence[str], by: Sequence[str]) -> list[Point]:
    """A point a row and column that has a value. `by`: columns that it is told by."""
    dots = []
    for row in sheet.rows:
        for column in values:
            if (value := parse_number(row.get(column, ""))) is not None:
                low, high = (parse_number(row.get(f"{column}_{end}", "")) for end in ("lo", "hi"))
                about = {name: row.get(name, "") for name in ("model", "kind", *by)}
                ends = {"low": low, "high": high, "comparable": row.get("comparable") == "yes"}
                dots.append({**about, "column": head(column), "value": value, **ends})
    return dots


def first_keys(sheet: Sheet) -> list[Row]:
    """The rows that speak of all items: those with the first keys that the table has, and of each model the first."""
    keys = [name for name in ("subset", *sheet.table.keys) if name in sheet.columns]
    rows = [row for row in sheet.rows if row.get(sheet.main)]
    seen: dict[tuple[str, str], Row] = {}
    for row in rows:
        unnamed = ("",) if row["kind"] == "published" else ()
        if all(row.get(name, "") in (rows[0].get(name, ""), *unnamed) for name in keys):
            seen.setdefault((row["kind"], row["model"]), row)
    return list(seen.values())


def svg(drawn: Spec) -> str:
    """A chart as SVG, which holds no script, no style and no address. "" of nothing."""
    if not drawn:
        return ""
    svg = _ROLES.sub("", vl_convert.vegalite_to_svg(drawn))  # what stands around it says what it shows
    return _ROOT.sub(r'<svg xmlns="http://www.w3.org/2000/svg" \1>', svg)


def forest(sheet: Sheet) -> Spec:
    """The main column of a table: a line a model, the best at the top of its kind, with intervals.

    Rows that are not comparable with the paper are pale. {} without a value.
    """
    dots = points(replace(sheet, rows=first_keys(sheet)), [sheet.main], ())
    if not dots:
        return {}
    sign = 1 if sheet.table.better(sheet.main) == "lower" else -1
    dots.sort(key=lambda point: (KINDS.index(point["kind"]), sign * point["value"], point["model"]))
    return _spec(_dots([{**point, "label": point["model"]} for point in dots], head(sheet.main)))


def _dots(dots: list[Point], title: str) -> Spec:
    """A line a label, in the order of the points."""
    ends = [end for point in dots for end in (point["value"], point["low"]) if end is not None]
    labels = list(dict.fromkeys(point["label"] for point in dots))
    return _plot("dots", dots, title, labels=labels, zero=min(ends) >= 0)


def figure(sheet: Sheet, chart: Chart) -> Spec:
    """A figure of the paper, redrawn from the table's rows. {} where there is no value."""
    columns = [name for name in chart.values if name in sheet.columns]
    dots = points(sheet, columns, [chart.by, *chart.within, *([chart.x] if chart.x else [])])
    if chart.x is not None:
        return _curve(dots, chart, chart.x)
    if not dots:
        return {}
    apart = chart.by != "model" and len({point[chart.by] for point in dots}) <= FEW
    parts: dict[str, list[Point]] = {}
    for point in dots:
        group = [point[name] for name in (*chart.within, *([chart.by] if apart else ()))]
        named = point["model"] if apart else point[chart.by] or "all"
        label = named if apart or chart.by == "model" else f"{named}  {point['model']}"
        part = " · ".join(text for text in (*group, point["column"] if len(columns) > 1 else "") if text)
        parts.setdefault(part, []).append(point | {"named": named, "label": label})
    plots = []
    for part, of_part in parts.items():
        if len({(point["named"], point["kind"]) for point in of_part}) == len(of_part):  # on one line with the printed
            of_part = [point | {"label": point["named"]} for point in of_part]
        plots.append(_dots(of_part, of_part[0]["column"]) | {"title": _filled(_SPECS["title"], {"text": part})})
    return _spec(*plots)


def hues(count: int) -> list[str]:
    """Different colors, neighbors in lightness, too."""
    parts = [colorsys.hls_to_rgb(at / count, (0.36, 0.56)[at % 2], 0.7) for at in range(count)]
    return ["#" + "".join(f"{round(255 * part):02x}" for part in own) for own in parts]


def _curve(dots: list[Point], chart: Chart, x: str) -> Spec:
    """Values over a number: a line a series, each point with its interval."""
    keys = (chart.by, *chart.within)
    dots = [point | {"x": number} for point in dots if (number := parse_number(point[x])) is not None]
    dots = [point | {"series": " ".join(str(point[name]) for name in keys if point[name])} for point in dots]
    if not dots:
        return {}
    series = sorted({point["series"] for point in dots})
    named = {"over": head(x), "series": series, "hues": hues(len(series))}
    columns = dict.fromkeys(point["column"] for point in dots)
    return _spec(*(_plot("curve", [p for p in dots if p["column"] == name], name, **named) for name in columns))


def drawn(sheet: Sheet) -> Spec:
    """A table as its paper draws it, else its main column; {} where nothing is to be seen."""
    spec = figure(sheet, sheet.table.chart) if sheet.table.chart else {}
    return spec or (forest(sheet) if sheet.table.of_models else {})


def nothing(path: str) -> Spec:
    """A placeholder for a table without a value to draw."""
    return _spec(_filled(_SPECS["nothing"], {"text": f"{path} has no value to draw"}))


def on_paper(spec: Spec) -> Spec:
    """The same in black, for white paper."""
    return cast(Spec, json.loads(json.dumps(spec).replace('"currentColor"', '"black"')))

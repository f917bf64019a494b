"""Tables as pictures: a forest plot of the main column, and the papers' figures with our values in them.

Drawn by Vega-Lite, through Altair, as SVG in the colour of the text around it, so that a page may be light or dark.
"""

from __future__ import annotations

import colorsys
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import altair as alt
import vl_convert

from punchline.report.tables import KINDS, Row, Sheet, head, parse_number
from punchline.tables.chart import Chart

# Told apart on white and on black; and by shape, for who sees no colours.
COLOURS = {"measured": "#2f7ed8", "baseline": "#8a8f98", "human": "#2e8b57", "published": "#c8601f"}
SHAPES = {"measured": "circle", "baseline": "square", "human": "diamond", "published": "triangle-up"}
WIDTH = 560  # pixels of the plot itself
# More room for labels: a reader's font may be wider than the one that was measured.
PADDING = {"left": 40, "right": 10, "top": 5, "bottom": 5}
FADED = 0.45
FEW = 4  # categories that get a plot each
TEXT = dict.fromkeys(("labelColor", "titleColor"), "currentColor")

_ROLES = re.compile(r' (?:role|aria-[a-z]+)="[^"]*"')

Point = dict[str, Any]
Spec = dict[str, Any]  # of Vega-Lite; {}: there is nothing to draw


def points(sheet: Sheet, values: Sequence[str], by: Sequence[str]) -> list[Point]:
    """A point a row and column that has a value. `by`: columns that it is told by."""
    found = []
    for row in sheet.rows:
        for column in values:
            if (value := parse_number(row.values.get(column, ""))) is not None:
                low, high = (parse_number(row.values.get(f"{column}_{end}", "")) for end in ("lo", "hi"))
                found.append(
                    {name: row.values.get(name, "") for name in ("model", "kind", *by)}
                    | {"column": head(column), "value": value, "low": low, "high": high}
                    | {"comparable": row.comparable}
                )
    return found


def first_keys(sheet: Sheet) -> list[Row]:
    """The rows that speak of all items: those with the first keys that the table has, and of each model the first."""
    keys = [name for name in ("subset", *sheet.table.keys) if name in sheet.columns]
    seen: dict[tuple[str, str], Row] = {}
    wanted = None
    for row in (row for row in sheet.rows if row.values.get(sheet.main)):
        own = [row.values.get(name, "") for name in keys]
        wanted = own if wanted is None else wanted
        if own == wanted or (row.kind == "published" and all(a in ("", b) for a, b in zip(own, wanted, strict=True))):
            seen.setdefault((row.kind, row.values["model"]), row)
    return list(seen.values())


def svg(drawn: Spec) -> str:
    """A chart as SVG, which holds no script, no style and no address. "" of nothing."""
    if not drawn:
        return ""
    svg = _ROLES.sub("", vl_convert.vegalite_to_svg(drawn))  # what stands around it says what it shows
    size = re.search(r'width="(\d+)" height="(\d+)" viewBox="[^"]*"', svg)
    assert size is not None
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size[0]}>{svg[svg.index(">") + 1 :]}'


def _spec(chart: Any) -> Spec:
    styled = (
        chart.configure(background="transparent", font="sans-serif", padding=PADDING)
        .configure_view(stroke=None)
        .configure_axis(
            **TEXT,
            labelFontSize=12,
            titleFontSize=12,
            titleFontWeight="normal",
            labelLimit=260,
            gridColor="currentColor",
            gridOpacity=0.15,
            domainColor="currentColor",
            tickColor="currentColor",
        )
        .configure_legend(**TEXT, labelFontSize=12, titleFontSize=12, orient="bottom", labelLimit=300)
    )
    return cast(Spec, styled.to_dict())


def forest(sheet: Sheet) -> Spec:
    """The main column of a table: a line a model, the best at the top of its kind, with intervals.

    Rows that are not comparable with the paper are pale. {} without a value.
    """
    found = points(replace(sheet, rows=first_keys(sheet)), [sheet.main], ())
    if not found:
        return {}
    sign = 1 if sheet.table.better(sheet.main) == "lower" else -1
    for point in found:
        point["label"] = point["model"]
    found.sort(key=lambda point: (KINDS.index(point["kind"]), sign * point["value"], point["model"]))
    order = list(dict.fromkeys(point["label"] for point in found))
    return _spec(_dots(found, head(sheet.main), order))


def _dots(found: list[Point], title: str, order: Sequence[str]) -> Any:
    """A line a label, a dot a value with its interval; colour and shape by kind."""
    y = alt.Y("label:N", sort=list(order), title=None, axis=alt.Axis(ticks=False, domain=False, labelPadding=8))
    pale = alt.condition("datum.comparable || datum.kind == 'published'", alt.value(1), alt.value(FADED))
    kinds = [kind for kind in KINDS if any(point["kind"] == kind for point in found)]
    colour = alt.Color("kind:N", title=None, scale=alt.Scale(domain=kinds, range=[COLOURS[kind] for kind in kinds]))
    shape = alt.Shape("kind:N", title=None, scale=alt.Scale(domain=kinds, range=[SHAPES[kind] for kind in kinds]))
    low = min(min(point["value"], point["low"] if point["low"] is not None else point["value"]) for point in found)
    scale = alt.Scale(zero=low >= 0, nice=True)
    base = alt.Chart(alt.InlineData(values=found)).encode(y=y)
    lines = base.transform_filter("isValid(datum.low) && isValid(datum.high)").mark_rule(strokeWidth=2)
    lines = lines.encode(x=alt.X("low:Q", title=title, scale=scale), x2="high:Q", color=colour, opacity=pale)
    dots = base.mark_point(filled=True, size=70).encode(
        x=alt.X("value:Q", title=title, scale=scale), color=colour, shape=shape, opacity=pale
    )
    return (lines + dots).properties(width=WIDTH, height={"step": 20})


def figure(sheet: Sheet, chart: Chart) -> Spec:
    """A figure of the paper, redrawn from the table's rows. {} where there is no value."""
    columns = [name for name in chart.values if name in sheet.columns]
    found = points(sheet, columns, [chart.by, *chart.within, *([chart.x] if chart.x else [])])
    if chart.x is not None:
        return _curve(found, chart, chart.x)
    if not found:
        return {}
    parts: dict[str, list[Point]] = {}
    apart = chart.by != "model" and len({point[chart.by] for point in found}) <= FEW
    for point in found:
        group = [point[name] for name in (*chart.within, *([chart.by] if apart else ()))]
        point["named"] = point["model"] if apart else point[chart.by] or "all"
        point["label"] = point["named"] if apart or chart.by == "model" else f"{point['named']}  {point['model']}"
        part = " · ".join(text for text in (*group, point["column"] if len(columns) > 1 else "") if text)
        parts.setdefault(part, []).append(point)
    plots = []
    for part, own in parts.items():
        if len({(point["named"], point["kind"]) for point in own}) == len(own):  # ours and the printed on one line
            own = [{**point, "label": point["named"]} for point in own]
        plot = _dots(own, own[0]["column"], list(dict.fromkeys(point["label"] for point in own)))
        plots.append(plot.properties(title=alt.Title(part, color="currentColor", anchor="start", fontSize=13)))
    return _spec(alt.vconcat(*plots) if len(plots) > 1 else plots[0])


def hues(count: int) -> list[str]:
    """Different colours, neighbours in lightness, too."""
    parts = [colorsys.hls_to_rgb(at / count, (0.36, 0.56)[at % 2], 0.7) for at in range(count)]
    return ["#" + "".join(f"{round(255 * part):02x}" for part in own) for own in parts]


def _curve(found: list[Point], chart: Chart, x: str) -> Spec:
    """Values over a number: a line a series, each point with its interval."""
    found = [{**point, "x": parse_number(point[x])} for point in found]
    found = [point for point in found if point["x"] is not None]
    if not found:
        return {}
    for point in found:
        point["series"] = " ".join(str(point[name]) for name in (chart.by, *chart.within) if point[name])
    names = sorted({point["series"] for point in found})
    scale = alt.Scale(domain=names, range=hues(len(names)))
    colour = alt.Color("series:N", title=None, scale=scale, legend=alt.Legend(columns=1, labelLimit=0))
    kinds = [kind for kind in KINDS if any(point["kind"] == kind for point in found)]
    shapes = alt.Scale(domain=kinds, range=[SHAPES[kind] for kind in kinds])
    shape = alt.Shape("kind:N", title=None, scale=shapes, legend=alt.Legend(orient="top"))
    plots = []
    for column in dict.fromkeys(point["column"] for point in found):
        base = alt.Chart(alt.InlineData(values=[point for point in found if point["column"] == column]))
        over = {"x": alt.X("x:Q", title=head(x)), "color": colour}
        layers = [
            base.mark_line(strokeWidth=1.5, opacity=0.7).encode(y=alt.Y("value:Q", title=column), **over),
            base.transform_filter("isValid(datum.low)").mark_rule().encode(y="low:Q", y2="high:Q", **over),
            base.mark_point(filled=True, size=70).encode(y=alt.Y("value:Q", title=column), shape=shape, **over),
        ]
        plots.append(alt.layer(*layers).properties(width=WIDTH, height=260))
    return _spec(alt.vconcat(*plots) if len(plots) > 1 else plots[0])


def drawn(sheet: Sheet) -> Spec:
    """A table as its paper draws it, else its main column; {} where nothing is to be seen."""
    made = figure(sheet, sheet.table.chart) if sheet.table.chart else {}
    return made or (forest(sheet) if sheet.table.of_models else {})


def nothing(path: str) -> Spec:
    """A placeholder for a table without a value to draw."""
    base = alt.Chart(alt.InlineData(values=[{"said": f"{path} has no value to draw"}]))
    return _spec(base.mark_text(color="currentColor").encode(text="said:N").properties(width=WIDTH, height=60))


def on_paper(made: Spec) -> Spec:
    """The same in black, for white paper."""
    return cast(Spec, json.loads(json.dumps(made).replace('"currentColor"', '"black"')))


def said(sheet: Sheet) -> str:
    """A table's main column in words, for readers who do not see its chart."""
    column = sheet.main
    parts = [f"{row.values['model']} {row.values[column][:6]}" for row in sheet.rows if row.values.get(column)]
    return ", ".join(parts[:12]) + (", …" if len(parts) > 12 else "")

"""The dashboard as an HTML page: the panels of `ops/grafana.json` at their places, with values from Prometheus.

It knows what this dashboard uses of Grafana's panels, and no more.
"""

import asyncio
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from html import escape
from typing import Any, Final

from tests.ops.prometheus import ROOT, Prometheus, Series

DASHBOARD: Final = ROOT / "ops" / "grafana.json"
COLUMNS, ROW_HEIGHT, GAP = 24, 34, 8
STEP_SECONDS = 5.0
RATE_INTERVAL = "20s"
"""What Grafana sets: four times the interval at which metrics are read."""

MARGIN_LEFT, MARGIN_RIGHT, MARGIN_TOP, MARGIN_BOTTOM = 60, 12, 8, 20
LINES_ACROSS = 4
PALETTE: Final = ("#73bf69", "#f2cc0c", "#8ab8ff", "#ff780a", "#f2495c", "#5794f2", "#b877d9", "#56a64b", "#fade2a")
COLOURS: Final = {
    "green": "#73bf69",
    "yellow": "#f2cc0c",
    "red": "#f2495c",
    "dark-red": "#c4162a",
    "orange": "#ff780a",
    "blue": "#5794f2",
    "purple": "#b877d9",
    "transparent": "transparent",
}
MEBIBYTE: Final = 1024**2
SUFFIXES: Final = {"s": " s", "reqps": "/s", "cpm": "/min"}
STYLE: Final = """
body { margin: 0; background: #111217; color: #ccccdc; font: 12px Inter, "DejaVu Sans", sans-serif; }
#all { position: relative; }
.panel, .row { position: absolute; box-sizing: border-box; overflow: hidden; }
.panel { background: #181b1f; border: 1px solid #25272d; border-radius: 3px; }
.row { font-size: 14px; font-weight: 600; line-height: 26px; padding-left: 4px; }
h2 { font-size: 12px; font-weight: 600; margin: 7px 9px 0; white-space: nowrap; }
.stat { position: absolute; inset: 28px 6px 6px; border-radius: 3px; color: #fff; font-size: 30px; font-weight: 600;
  display: flex; align-items: center; justify-content: center; }
.stat svg { position: absolute; inset: 0; }
.legend { position: absolute; left: 9px; right: 6px; bottom: 5px; height: 14px; overflow: hidden; font-size: 10.5px; }
.legend span { margin-right: 10px; white-space: nowrap; }
.legend i { display: inline-block; width: 11px; height: 4px; border-radius: 2px; margin: 0 4px 2px 0; }
svg text { fill: #9a9ba6; font-size: 10.5px; }
"""


@dataclass(slots=True)
class Line:
    """A line of a graph, with Grafana's overrides for it."""

    name: str
    points: list[tuple[float, float]]
    colour: str
    unit: str
    is_dashed: bool = False
    is_right: bool = False
    is_stacked: bool = False
    base: dict[float, float] = field(default_factory=dict)
    """For a stacked line: where its area begins."""


@dataclass(frozen=True, slots=True)
class Period:
    """The times of the picture, and when which alert fired."""

    start: float
    end: float
    alerts: Sequence[tuple[str, float]] = ()


async def render(prometheus: Prometheus, width: int) -> str:
    """Return the page."""
    dashboard = json.loads(DASHBOARD.read_text(encoding="utf-8"))
    start, end = await prometheus.find_times()
    (annotation,) = dashboard["annotations"]["list"]
    fired = await prometheus.query_range(annotation["expr"], start, end, STEP_SECONDS)
    period = Period(start, end, [(each.labels["alertname"], each.points[0][0]) for each in fired])
    panels = [await _panel(panel, prometheus, period, width / COLUMNS) for panel in dashboard["panels"]]
    height = max(each["gridPos"]["y"] + each["gridPos"]["h"] for each in dashboard["panels"]) * ROW_HEIGHT + GAP
    return (
        f"<!doctype html><meta charset='utf-8'><style>{STYLE}</style>"
        f"<div id='all' style='width:{width}px;height:{height}px'>{''.join(panels)}</div>"
    )


async def _panel(panel: dict[str, Any], prometheus: Prometheus, period: Period, column: float) -> str:
    place = panel["gridPos"]
    width, height = place["w"] * column - GAP, place["h"] * ROW_HEIGHT - GAP
    box = (
        f"left:{place['x'] * column + GAP / 2:.0f}px;top:{place['y'] * ROW_HEIGHT + GAP}px;"
        f"width:{width:.0f}px;height:{height}px"
    )
    if panel["type"] == "row":
        return f"<div class='row' style='{box}'>⌄ {escape(panel['title'])}</div>"
    answers = await asyncio.gather(
        *(
            prometheus.query_range(
                target["expr"].replace("$__rate_interval", RATE_INTERVAL), period.start, period.end, STEP_SECONDS
            )
            for target in panel["targets"]
        )
    )
    lines = _lines(panel, answers)
    inside = _stat(panel, lines, width) if panel["type"] == "stat" else _graph(panel, lines, period, width, height)
    return f"<div class='panel' style='{box}'><h2>{escape(panel['title'])}</h2>{inside}</div>"


def _lines(panel: dict[str, Any], answers: Sequence[Sequence[Series]]) -> list[Line]:
    """Return the lines of a panel, drawn and stacked as its overrides say."""
    defaults = panel["fieldConfig"]["defaults"]
    lines: list[Line] = []
    is_stacked = defaults.get("custom", {}).get("stacking", {}).get("mode") == "normal"
    for target, answer in zip(panel["targets"], answers, strict=True):
        for series in answer:
            name = _name(target["legendFormat"], series.labels)
            points = [(at, value) for at, value in series.points if math.isfinite(value)]
            line = Line(name, points, PALETTE[len(lines) % len(PALETTE)], defaults["unit"], is_stacked=is_stacked)
            _override(line, panel["fieldConfig"]["overrides"])
            lines.append(line)
    height: dict[float, float] = {}
    for line in lines:
        if line.is_stacked:
            line.base = {at: height.get(at, 0.0) for at, _ in line.points}
            line.points = [(at, line.base[at] + value) for at, value in line.points]
            height |= dict(line.points)
    return lines


def _name(pattern: str, labels: dict[str, str]) -> str:
    for label, value in labels.items():
        pattern = pattern.replace(f"{{{{{label}}}}}", value)
    return pattern


def _override(line: Line, overrides: Sequence[dict[str, Any]]) -> None:
    for override in overrides:
        if override["matcher"]["options"] != line.name:
            continue
        for each in override["properties"]:
            value = each["value"]
            match each["id"]:
                case "color":
                    line.colour = COLOURS[value["fixedColor"]]
                case "unit":
                    line.unit = value
                case "custom.lineStyle":
                    line.is_dashed = value["fill"] == "dash"
                case "custom.axisPlacement":
                    line.is_right = value == "right"
                case "custom.stacking":
                    line.is_stacked = value["mode"] == "normal"


def _stat(panel: dict[str, Any], lines: Sequence[Line], width: float) -> str:
    defaults = panel["fieldConfig"]["defaults"]
    points = lines[0].points if lines else []
    if not points:
        return f"<div class='stat' style='background:#2c3235'>{defaults['noValue']}</div>"
    last = points[-1][1]
    steps = [each for each in defaults["thresholds"]["steps"] if each["value"] is None or each["value"] <= last]
    shown = format_value(last, defaults["unit"])
    for mapping in defaults["mappings"]:
        shown = mapping["options"].get(f"{last:g}", {}).get("text", shown)
    most = max(value for _, value in points) or 1.0
    across = (width - 12) / max(len(points) - 1, 1)
    area = " ".join(f"{index * across:.1f},{100 - 45 * value / most:.1f}" for index, (_, value) in enumerate(points))
    spark = (
        f"<svg width='{width - 12:.0f}' height='100%' viewBox='0 0 {width - 12:.0f} 100' preserveAspectRatio='none'>"
        f"<polygon points='0,100 {area} {width - 12:.0f},100' fill='#fff' fill-opacity='.18'/></svg>"
    )
    return f"<div class='stat' style='background:{_darker(COLOURS[steps[-1]['color']])}'>{spark}{escape(shown)}</div>"


def _darker(colour: str) -> str:
    return f"color-mix(in srgb, {colour} 62%, #111217)"


def _graph(panel: dict[str, Any], lines: Sequence[Line], period: Period, width: float, height: float) -> str:
    left, right = MARGIN_LEFT, MARGIN_LEFT if any(line.is_right for line in lines) else MARGIN_RIGHT
    inner_width, inner_height = width - left - right, height - 46 - MARGIN_TOP - MARGIN_BOTTOM
    steps = panel["fieldConfig"]["defaults"]["thresholds"]["steps"]
    units = {line.is_right: line.unit for line in reversed(lines)}
    tops = {
        side: find_top(
            max((value for line in lines if line.is_right is side for _, value in line.points), default=0.0),
            units.get(side, "short"),
        )
        for side in (False, True)
    }

    def x(at: float) -> float:
        return left + (at - period.start) / (period.end - period.start) * inner_width

    def y(value: float, *, is_right: bool = False) -> float:
        return MARGIN_TOP + inner_height * (1 - value / tops[is_right])

    drawn = []
    for number in range(LINES_ACROSS + 1):
        share = number / LINES_ACROSS
        level = y(tops[False] * share)
        drawn.append(f"<path d='M{left} {level:.1f}h{inner_width:.0f}' stroke='#2c2f36'/>")
        for side, unit in units.items():
            where = (width - right + 6, "start") if side else (left - 6, "end")
            value = escape(format_value(tops[side] * share, unit))
            drawn.append(f"<text x='{where[0]:.0f}' y='{level + 4:.1f}' text-anchor='{where[1]}'>{value}</text>")
    drawn += [_time(at, x(at), height) for at in _whole_minutes(period)]
    drawn += [
        f"<path d='M{left} {y(step['value']):.1f}h{inner_width:.0f}' stroke='{COLOURS[step['color']]}' "
        "stroke-opacity='.7'/>"
        for step in steps
        if step["value"] and step["value"] <= tops[False]
    ]
    drawn += [
        f"<path d='M{x(at):.1f} {MARGIN_TOP}v{inner_height:.0f}' stroke='{COLOURS['red']}' stroke-dasharray='3 3'/>"
        for _, at in period.alerts
    ]
    for line in lines:
        for part in _unbroken(line.points):
            top = [(x(at), y(value, is_right=line.is_right)) for at, value in part]
            path = " ".join(f"{across:.1f},{down:.1f}" for across, down in top)
            if not line.is_dashed:
                floor = [(x(at), y(line.base.get(at, 0.0), is_right=line.is_right)) for at, _ in reversed(part)]
                around = " ".join(f"{across:.1f},{down:.1f}" for across, down in [*top, *floor])
                opacity = 0.35 if line.is_stacked else 0.08
                drawn.append(f"<polygon points='{around}' fill='{line.colour}' fill-opacity='{opacity}'/>")
            dashes = "stroke-dasharray='7 5'" if line.is_dashed else ""
            drawn.append(f"<polyline points='{path}' fill='none' stroke='{line.colour}' stroke-width='1.3' {dashes}/>")
    legend = "".join(
        f"<span><i style='background:{line.colour}'></i>{escape(line.name)}</span>" for line in _named(lines)
    )
    return (
        f"<svg width='{width:.0f}' height='{height - 46:.0f}' style='display:block'>{''.join(drawn)}</svg>"
        f"<div class='legend'>{legend}</div>"
    )


def _named(lines: Sequence[Line]) -> list[Line]:
    """Return the lines for the legend. There is no room for those that are always 0, unless all are."""
    drawn = [line for line in lines if line.points]
    return [line for line in drawn if any(value > line.base.get(at, 0) for at, value in line.points)] or drawn


def _time(at: float, across: float, height: float) -> str:
    shown = datetime.fromtimestamp(at, UTC).strftime("%H:%M")
    return f"<text x='{across:.0f}' y='{height - 52:.0f}' text-anchor='middle'>{shown}</text>"


def _whole_minutes(period: Period) -> list[float]:
    """Return up to seven times for the axis, whole minutes apart."""
    apart = 60 * math.ceil((period.end - period.start) / 60 / 7)
    first = math.ceil(period.start / apart) * apart
    return [float(at) for at in range(first, math.floor(period.end) + 1, apart)]


def _unbroken(points: Sequence[tuple[float, float]]) -> list[list[tuple[float, float]]]:
    """Split points where some are missing. A line isn't drawn across."""
    parts: list[list[tuple[float, float]]] = []
    for at, value in points:
        if not parts or at - parts[-1][-1][0] > 1.5 * STEP_SECONDS:
            parts.append([])
        parts[-1].append((at, value))
    return parts


def find_top(most: float, unit: str) -> float:
    """Return the end of an axis: a round number in this unit that isn't below `most`."""
    if most <= 0:
        return 1.0
    in_unit = MEBIBYTE if unit == "bytes" else 1
    power = 10.0 ** math.floor(math.log10(most / in_unit))
    return next(step * power * in_unit for step in (1, 2, 4, 6, 8, 10) if step * power * in_unit >= most * 0.999)


def format_value(value: float, unit: str) -> str:
    """Return a value as Grafana shows it in this unit."""
    match unit:
        case "s" if 0 < value < 1:
            return f"{value * 1000:.3g} ms"
        case "s" if value >= 120:
            return f"{value / 60:.3g} min"
        case "bytes":
            return f"{value / MEBIBYTE:.3g} MiB"
        case "percentunit":
            return f"{value:.0%}"
    return f"{value:,.0f}{SUFFIXES.get(unit, '')}" if value >= 1000 else f"{value:.3g}{SUFFIXES.get(unit, '')}"

"""The drawing of the dashboard shows every panel, with values as Grafana writes them."""

import re
from typing import cast

import pytest

from tests.ops.dashboard_page import find_top, format_value, render
from tests.ops.prometheus import Prometheus, Series
from tests.ops.test_dashboard import PANELS

START, END = 1_000_000.0, 1_000_600.0


class Values:
    """A Prometheus that has one series for each expression."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def find_times(self) -> tuple[float, float]:
        return START, END

    async def query_range(self, expression: str, start: float, end: float, step: float) -> list[Series]:
        assert (start, end) == (START, END)
        self.asked.append(expression)
        labels = dict.fromkeys(("kind", "queue", "result", "alertname"), "<b>")
        return [Series(labels, [(start, 1.0), (start + step, float("nan")), (end, 2.0)])]


async def test_each_panel_is_drawn_from_its_expressions() -> None:
    values = Values()
    page = await render(cast("Prometheus", values), 1600)
    titles = re.findall(r"<h2>(.*?)</h2>", page)
    assert titles == [panel["title"].replace("'", "&#x27;") for panel in PANELS]
    assert page.count("<div class='stat'") == sum(panel["type"] == "stat" for panel in PANELS)
    expressions = [target["expr"] for panel in PANELS for target in panel["targets"]]
    assert values.asked[1:] == [each.replace("$__rate_interval", "20s") for each in expressions]
    assert "nan" not in page
    assert "<b>" not in page


async def test_a_panel_without_values_is_empty() -> None:
    class Nothing(Values):
        async def query_range(self, expression: str, start: float, end: float, step: float) -> list[Series]:
            del expression, start, end, step
            return []

    page = await render(cast("Prometheus", Nothing()), 1600)
    assert "polyline" not in page
    empty = [panel["fieldConfig"]["defaults"]["noValue"] for panel in PANELS if panel["type"] == "stat"]
    assert re.findall(r"<div class='stat'[^>]*>(.*?)</div>", page) == empty


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (0.0, "s", "0 s"),
        (0.0123, "s", "12.3 ms"),
        (2.5, "s", "2.5 s"),
        (150, "s", "2.5 min"),
        (0.25, "percentunit", "25%"),
        (200 * 1024**2, "bytes", "200 MiB"),
        (1500, "cpm", "1,500/min"),
        (29.7, "reqps", "29.7/s"),
        (3, "short", "3"),
    ],
)
def test_values_are_written_in_their_unit(value: float, unit: str, shown: str) -> None:
    assert format_value(value, unit) == shown


@pytest.mark.parametrize(
    ("most", "unit", "top"),
    [
        (0, "s", 1),
        (0.9, "s", 1),
        (1, "s", 1),
        (11, "s", 20),
        (450, "cpm", 600),
        (150 * 1024**2, "bytes", 200 * 1024**2),
    ],
)
def test_an_axis_ends_at_a_round_number(most: float, unit: str, top: float) -> None:
    assert find_top(most, unit) == pytest.approx(top)

"""The dashboard that ships: Grafana can import it, and it shows metrics that exist."""

import json
import re
from typing import Any

import pytest

from tests.architecture.documents import ROOT
from tests.ops.expressions import find_grouping, find_mistakes, find_uses

DASHBOARD: dict[str, Any] = json.loads((ROOT / "ops" / "grafana.json").read_text(encoding="utf-8"))
PANELS: list[dict[str, Any]] = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
UNITS = {"bytes", "cpm", "percentunit", "reqps", "s", "short"}
COLUMNS = 24
RATE = re.compile(r"\b(?:rate|increase)\((?:[^()\[\]]|\{[^}]*\})*\[(.*?)\]\)")
each_panel = pytest.mark.parametrize("panel", PANELS, ids=[panel["title"] for panel in PANELS])


TARGETS = [(target["expr"], target["legendFormat"]) for panel in PANELS for target in panel["targets"]]


def test_grafana_can_import_it() -> None:
    assert DASHBOARD["schemaVersion"] >= 39
    assert "id" not in DASHBOARD  # Grafana gives it one. With one of another Grafana, the import replaces something
    assert DASHBOARD["title"] == "Kirim"
    (variable,) = DASHBOARD["templating"]["list"]
    assert (variable["type"], variable["query"]) == ("datasource", "prometheus")


def test_every_panel_has_an_id_and_a_title_of_its_own() -> None:
    ids = [panel["id"] for panel in DASHBOARD["panels"]]
    titles = [panel["title"] for panel in DASHBOARD["panels"]]
    assert sorted(ids) == sorted(set(ids))
    assert sorted(titles) == sorted(set(titles))


def test_no_two_panels_overlap_and_none_is_too_wide() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= COLUMNS
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken, panel["title"]
        taken |= cells


def test_it_begins_with_whether_the_bot_works() -> None:
    first, *_ = sorted(DASHBOARD["panels"], key=lambda panel: (panel["gridPos"]["y"], panel["gridPos"]["x"]))
    assert first["type"] == "row"
    assert {panel["gridPos"]["y"] for panel in PANELS if panel["type"] == "stat"} == {1}


@each_panel
def test_a_panel_says_what_it_shows_in_which_unit(panel: dict[str, Any]) -> None:
    assert panel["type"] in {"stat", "timeseries"}
    assert panel["description"].endswith(".")
    assert panel["fieldConfig"]["defaults"]["unit"] in UNITS
    assert panel["fieldConfig"]["defaults"]["thresholds"]["steps"][0]["value"] is None


@each_panel
def test_a_panel_reads_the_data_source_that_is_chosen(panel: dict[str, Any]) -> None:
    sources = [panel["datasource"], *(target["datasource"] for target in panel["targets"])]
    assert all(each == {"type": "prometheus", "uid": "${datasource}"} for each in sources)
    names = [target["refId"] for target in panel["targets"]]
    assert names
    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize(("expression", "legend"), TARGETS)
def test_an_expression_uses_metrics_and_labels_that_exist(expression: str, legend: str) -> None:
    assert find_uses(expression)
    assert find_mistakes(expression) == []
    grouping = find_grouping(expression) - {"le"}
    assert set(re.findall(r"\{\{(\w+)\}\}", legend)) == (grouping if legend else set())
    # An average over less than the interval between two readings is empty.
    assert set(RATE.findall(expression)) <= {"$__rate_interval", "5m"}


@each_panel
def test_overrides_are_for_lines_that_the_panel_can_have(panel: dict[str, Any]) -> None:
    legends = [re.sub(r"\\\{\\\{\w+\\\}\\\}", r"\\w+", re.escape(each["legendFormat"])) for each in panel["targets"]]
    for override in panel["fieldConfig"]["overrides"]:
        name = override["matcher"]["options"]
        assert any(re.fullmatch(legend, name) for legend in legends), name


@pytest.mark.parametrize(
    "panel", [panel for panel in PANELS if panel["type"] == "stat"], ids=lambda panel: panel["title"]
)
def test_a_single_value_is_of_all_processes_together(panel: dict[str, Any]) -> None:
    (target,) = panel["targets"]
    assert re.match(r"(?:max|sum|histogram_quantile)\(", target["expr"])
    assert not target["legendFormat"]


def test_firing_alerts_are_marked() -> None:
    (annotation,) = DASHBOARD["annotations"]["list"]
    assert [use.metric for use in find_uses(annotation["expr"])] == ["ALERTS"]

"""The dashboard that ships: Grafana can import it, and it shows metrics that exist."""

import json
import re
from typing import Any

import pytest

from tests.architecture.documents import ROOT
from tests.ops.expressions import find_grouping, find_mistakes, find_uses

DASHBOARD: dict[str, Any] = json.loads((ROOT / "ops" / "grafana.json").read_text(encoding="utf-8"))
PANELS: list[dict[str, Any]] = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
RATE = re.compile(r"\b(?:rate|increase)\((?:[^()\[\]]|\{[^}]*\})*\[(.*?)\]\)")
each_panel = pytest.mark.parametrize("panel", PANELS, ids=[panel["title"] for panel in PANELS])


TARGETS = [(target["expr"], target["legendFormat"]) for panel in PANELS for target in panel["targets"]]


def test_grafana_can_import_it() -> None:
    assert DASHBOARD["schemaVersion"] >= 39
    assert "id" not in DASHBOARD  # Grafana gives it one. With one of another Grafana, the import replaces something
    assert DASHBOARD["title"] == "Kirim"
    (variable,) = DASHBOARD["templating"]["list"]
    assert (variable["type"], variable["query"]) == ("datasource", "prometheus")


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

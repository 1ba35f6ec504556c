"""Read the metrics and labels of PromQL expressions, and what of both the bot has.

It isn't a parser of PromQL. It finds names, the conditions in `{…}` and the labels in `by (…)`, which is enough to find
what was misspelled. Prometheus itself checks the rest (`test_alerts.py`).
"""

import re
from dataclasses import dataclass
from functools import cache
from typing import Final

from prometheus_client import REGISTRY

import bot.process
import bot.web_servers  # noqa: F401  modules declare their metrics when they are imported

FUNCTIONS: Final = frozenset(
    {
        "abs",
        "absent",
        "and",
        "by",
        "count",
        "histogram_quantile",
        "increase",
        "max",
        "on",
        "or",
        "rate",
        "sum",
        "unless",
        "without",
    }
)
OF_PROMETHEUS: Final = {"up": set[str](), "ALERTS": {"alertname", "alertstate", "severity"}}
"""Metrics that Prometheus makes itself, and their labels."""

OF_THE_PROCESS: Final = frozenset({"process_cpu_seconds_total", "process_resident_memory_bytes"})
"""Metrics of every process on Linux."""

OF_EVERY_TARGET: Final = frozenset({"instance", "job"})
ONLY_KNOWN_LATER: Final = frozenset({"destination", "problem", "quantile", "worker"})
"""Labels whose values the code doesn't declare."""

CONDITION: Final = re.compile(r'(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"')


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on a label, such as `result=~"failed|dropped"`."""

    label: str
    operator: str
    value: str

    def selects(self, values: set[str]) -> bool:
        """Return whether it chooses some of these values and not all. Otherwise it has a mistake, or is useless."""
        is_pattern, is_negated = self.operator.endswith("~"), self.operator.startswith("!")
        pattern = self.value if is_pattern else re.escape(self.value)
        chosen = {each for each in values if bool(re.fullmatch(pattern, each)) is not is_negated}
        named = {each for each in self.value.split("|") if re.fullmatch(r"\w+", each)} if is_pattern else {self.value}
        return bool(chosen) and chosen != values and named <= values


@dataclass(frozen=True, slots=True)
class Use:
    """A metric in an expression, and the conditions on its labels."""

    metric: str
    conditions: tuple[Condition, ...] = ()


def find_uses(expression: str) -> list[Use]:
    """Return the metrics of an expression, in order."""
    bare = re.sub(r"\b(?:by|on|without)\s*\([^)]*\)", "", re.sub(r"\[[^\]]*\]", "", expression))
    strings = r'"[^"]*"'
    names = re.finditer(rf"{strings}|(?<![\w.])([a-zA-Z_:][\w:]*)\s*(\{{(?:[^\}}\"]|{strings})*\}})?", bare)
    return [
        Use(name[1], tuple(Condition(*each) for each in CONDITION.findall(name[2] or "")))
        for name in names
        if name[1] and name[1] not in FUNCTIONS
    ]


def find_grouping(expression: str) -> set[str]:
    """Return the labels in `by (…)`. The results of an expression that groups have no others."""
    groups = re.findall(r"\bby\s*\(([^)]*)\)", expression)
    return {label.strip() for group in groups for label in group.split(",")}


@cache
def find_labels() -> dict[str, dict[str, set[str]]]:
    """Return the labels of every series that the bot declares, with their values.

    Labels in `ONLY_KNOWN_LATER` have no values here.
    """
    found: dict[str, dict[str, set[str]]] = {}
    for family in (each for each in REGISTRY.collect() if each.name.startswith("kirim_")):
        labels = getattr(REGISTRY._names_to_collectors.get(family.name), "_labelnames", ())
        suffixes = {"counter": ("_total",), "histogram": ("_bucket", "_count", "_sum")}.get(family.type, ("",))
        for suffix in suffixes:
            found[family.name + suffix] = {label: set() for label in labels}
            if suffix == "_bucket":
                found[family.name + suffix]["le"] = set()
        for sample in family.samples:
            for label, value in sample.labels.items():
                if label not in ONLY_KNOWN_LATER:
                    found[sample.name][label].add(value)
    return found


def find_mistakes(expression: str) -> list[str]:
    """Return what is wrong with an expression: metrics, labels and values that don't exist."""
    mistakes, known = [], find_labels()
    labels: set[str] = set(OF_EVERY_TARGET)
    for use in find_uses(expression):
        if use.metric in OF_PROMETHEUS or use.metric in OF_THE_PROCESS:
            labels |= OF_PROMETHEUS.get(use.metric, set())
            continue
        if use.metric not in known:
            mistakes.append(f"no metric {use.metric}")
            continue
        labels |= known[use.metric].keys()
        for condition in use.conditions:
            values = known[use.metric].get(condition.label)
            if values is None and condition.label not in OF_EVERY_TARGET:
                mistakes.append(f"{use.metric} has no label {condition.label}")
            elif values and not condition.selects(values):
                mistakes.append(f"{condition.label} of {use.metric} has not exactly {condition.value}")
    return mistakes + [f"no label {label}" for label in sorted(find_grouping(expression) - labels)]

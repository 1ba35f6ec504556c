"""docs/reference/metrics.md lists every metric, as the code declares it."""

from collections.abc import Iterator
from typing import Final

from prometheus_client import REGISTRY

from tests.architecture.documents import rows
from tests.ops.expressions import find_labels

MAX_VALUES: Final = 8
"""Of a label with more values, only the name is listed."""


def test_every_metric_is_listed_as_it_is_declared_and_no_other() -> None:
    """A failure shows the table."""
    declared = sorted(_declared())
    table = "\n".join(f"| {' | '.join(row)} |".replace("|  |", "| |") for row in declared)
    assert rows("metrics") == declared, table


def _declared() -> Iterator[list[str]]:
    for family in REGISTRY.collect():
        if family.name.startswith("kirim_"):
            name = family.name + {"counter": "_total"}.get(family.type, "")
            labels = find_labels()[family.name + {"counter": "_total", "histogram": "_count"}.get(family.type, "")]
            listed = "; ".join(_label(*each) for each in labels.items())
            yield [f"`{name}`", family.type, listed, family.documentation]


def _label(name: str, values: set[str]) -> str:
    return f"`{name}`: {', '.join(sorted(values))}" if 0 < len(values) <= MAX_VALUES else f"`{name}`"

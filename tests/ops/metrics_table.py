"""Print the table of metrics for docs/reference/metrics.md: `python -m tests.ops.metrics_table`."""

import sys

from bot.infra.metrics import REGISTRY
from tests.ops.expressions import find_labels

MAX_VALUES = 8
"""Of a label with more values, only the name is listed."""

SUFFIX = {"counter": "_total"}


def rows() -> list[list[str]]:
    """Return the cells: name, kind, labels with their values, and description. What only Linux has is left out."""
    made = []
    families = (family for family in REGISTRY.collect() if family.name.startswith("kirim_"))
    for family in sorted(families, key=lambda family: family.name):
        series = family.name + {**SUFFIX, "histogram": "_count"}.get(family.type, "")
        labels = [_label(name, values) for name, values in find_labels()[series].items()]
        name = f"`{family.name}{SUFFIX.get(family.type, '')}`"
        made.append([name, family.type, "; ".join(labels), family.documentation])
    return made


def _label(name: str, values: set[str]) -> str:
    return f"`{name}`: {', '.join(sorted(values))}" if 0 < len(values) <= MAX_VALUES else f"`{name}`"


def main() -> None:
    lines = ["| metric | kind | labels | meaning |", "|---|---|---|---|"]
    lines += [f"| {' | '.join(row)} |".replace("|  |", "| |") for row in rows()]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()

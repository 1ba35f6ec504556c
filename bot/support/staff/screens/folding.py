"""Shorten a list of lines: leave out the oldest routine lines first, and then the oldest unusual ones."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from bot.infra.i18n import Translator
from bot.infra.telegram.outbound.truncate import count_visible_units

MIN_LINE_UNITS = 12
"""Units of the shortest possible line. They limit how many lines can fit."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of HTML under the `heading` of its day."""

    heading: str
    text: str
    is_unusual: bool = False
    units: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "units", count_visible_units(self.text) + 1)


def shorten_lines(t: Translator, lines: Sequence[Line], heading: str, units: int) -> str:
    """Return the lines that fit into so many `units`. Lines under `heading` don't repeat it at the start."""
    order = sorted(range(len(lines)), key=lambda place: (lines[place].is_unusual, place))

    def keep(gone: int) -> list[Line]:
        return [lines[place] for place in sorted(order[gone:])]

    def fits(gone: int) -> bool:
        kept = keep(gone)
        heads = sum(count_visible_units(head) + 1 for head in _heads(kept, heading) if head)
        return sum(line.units for line in kept) + heads + count_visible_units(_folded(t, gone)) <= units

    least = max(0, len(lines) - units // MIN_LINE_UNITS)
    gone = bisect_left(range(len(lines)), x=True, lo=least, key=fits)
    kept = keep(gone)
    parts = (part for head, line in zip(_heads(kept, heading), kept, strict=True) for part in (head, line.text) if part)
    return "\n".join([*([_folded(t, gone)] if gone else []), *parts]) if kept else ""


def _heads(kept: Sequence[Line], heading: str) -> Iterator[str]:
    """Yield the heading before each line, or "" if it is the same as for the line before."""
    for line in kept:
        yield "" if line.heading == heading else line.heading
        heading = line.heading


def _folded(t: Translator, count: int) -> str:
    return t("support.case.folded", count=count)

"""Reading written figures: a dot or a comma may group thousands or start a fraction, and people mean both."""

import re
from dataclasses import dataclass
from fractions import Fraction

_FIGURE = re.compile(
    r"(?P<head>[1-9]\d{0,2}(?P<group>[.,' ])\d{3}(?:(?P=group)\d{3})*|\d+)(?:(?P<mark>[.,])(?P<tail>\d+))?"
)

_GROUP = 3
"""Digits between two separators of thousands."""


@dataclass(frozen=True, slots=True)
class Figure:
    """All that one written figure can mean.

    `whole`: its separators group thousands. `exact`: its last separator starts a fraction. `joined`: the digits
    with the separators ignored, as hasty typing would have it. `grouped`: the grouping is beyond doubt.
    `decimals`: how many digits the fraction is written with.
    """

    whole: int | None
    exact: Fraction | None
    joined: int
    grouped: bool = False
    decimals: int = 0

    @property
    def may_be_group(self) -> bool:
        """Whether the fraction may be one more group of thousands: "150000.000", "1.500,000"."""
        return self.decimals == _GROUP and self.exact is not None and self.exact >= 1

    @property
    def meanings(self) -> tuple[Fraction, ...]:
        """What the figure can say: two where the languages disagree, or where a group is written as a fraction."""
        group = self.joined if self.may_be_group else None
        return tuple(Fraction(each) for each in (self.whole, self.exact, group) if each is not None)


def read_figure(text: str) -> Figure | None:
    """What `text` (ASCII digits, dots, commas, apostrophes, single spaces) can mean; None if it is no figure."""
    match = _FIGURE.fullmatch(text)
    if match is None or match["mark"] == match["group"] is not None or _pads_with_zeros(match["head"]):
        return None
    head = int(re.sub(r"\D", "", match["head"]))
    joined = int(re.sub(r"\D", "", text))
    if match["tail"] is not None:
        exact = Fraction(f"{head}.{match['tail']}")
        return Figure(None, exact, joined, grouped=match["group"] is not None, decimals=len(match["tail"]))
    groups = match["head"].count(match["group"]) if match["group"] else 0
    exact_too = groups == 1 and match["group"] in ".,"
    return Figure(head, Fraction(text.replace(",", ".")) if exact_too else None, joined, grouped=groups > 1)


def _pads_with_zeros(head: str) -> bool:
    """Telephone and account numbers begin with zeros, sums of money don't."""
    return len(head) > 1 and head.startswith("0")

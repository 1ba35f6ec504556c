"""Parsing of written numbers. A dot or a comma can group thousands or start a fraction, and users mean both."""

import re
from dataclasses import dataclass
from fractions import Fraction

_NUMBER = re.compile(
    r"(?P<head>[1-9]\d{0,2}(?P<group>[.,' ])\d{3}(?:(?P=group)\d{3})*|\d+)(?:(?P<mark>[.,])(?P<tail>\d+))?"
)

_GROUP = 3
"""Digits between two separators of thousands."""


@dataclass(frozen=True, slots=True)
class WrittenNumber:
    """Every meaning of one written number.

    `whole`: the separators group thousands. `exact`: the last separator starts a fraction. `joined`: the digits with
    separators ignored, as in careless typing. `grouped`: the grouping is unambiguous. `decimals`: digits of the
    fraction.
    """

    whole: int | None
    exact: Fraction | None
    joined: int
    grouped: bool = False
    decimals: int = 0

    @property
    def may_be_group(self) -> bool:
        """Return whether the fraction can be another group of thousands: "150000.000", "1.500,000"."""
        return self.decimals == _GROUP and self.exact is not None and self.exact >= 1

    @property
    def meanings(self) -> tuple[Fraction, ...]:
        """Return the possible values: two where the languages disagree, or where a group is written as a fraction."""
        group = self.joined if self.may_be_group else None
        return tuple(Fraction(each) for each in (self.whole, self.exact, group) if each is not None)


def read_number(text: str) -> WrittenNumber | None:
    """Read `text` (ASCII digits, dots, commas, apostrophes, single spaces). Return None if it isn't a number."""
    match = _NUMBER.fullmatch(text)
    if match is None or match["mark"] == match["group"] is not None or _pads_with_zeros(match["head"]):
        return None
    head = int(re.sub(r"\D", "", match["head"]))
    joined = int(re.sub(r"\D", "", text))
    if match["tail"] is not None:
        exact = Fraction(f"{head}.{match['tail']}")
        return WrittenNumber(None, exact, joined, grouped=match["group"] is not None, decimals=len(match["tail"]))
    groups = match["head"].count(match["group"]) if match["group"] else 0
    exact_too = groups == 1 and match["group"] in ".,"
    return WrittenNumber(head, Fraction(text.replace(",", ".")) if exact_too else None, joined, grouped=groups > 1)


def _pads_with_zeros(head: str) -> bool:
    """Return whether the number has leading zeros. Phone and account numbers have them, amounts don't."""
    return len(head) > 1 and head.startswith("0")

"""What support's looking up needs of a database: orders by a piece of a name or by facts, persons by their name."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonTally:
    """A person's orders in figures: all, those under way, those that were paid, and of these the failed ones."""

    orders: int = 0
    under_way: int = 0
    paid: int = 0
    failed: int = 0

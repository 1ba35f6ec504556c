"""What support's looking up needs of a database: orders by a piece of a name or by facts, persons by their name."""

# ruff: noqa: D102  names and types say it; the other methods have a docstring

from dataclasses import dataclass
from typing import Protocol

from bot.orders.order import Order
from bot.recipients.methods import PayoutMethod
from bot.support.lookup.query import Sought
from bot.users.model import Person


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonTally:
    """A person's orders in figures: all, those under way, those that were paid, and of these the failed ones."""

    orders: int = 0
    under_way: int = 0
    paid: int = 0
    failed: int = 0


class Lookups(Protocol):
    """Reads what nobody but support asks for: newest first, in pages of `limit` from `offset` on."""

    async def orders_named_like(self, fragment: str, *, limit: int, offset: int) -> tuple[Order, ...]:
        """Those whose reference or id of the service has `fragment` in it, in small or capital letters."""
        ...

    async def orders_like(self, sought: Sought, *, limit: int, offset: int) -> tuple[Order, ...]:
        """Those that fit all that is sought."""
        ...

    async def methods(self) -> tuple[PayoutMethod, ...]:
        """Where orders have gone so far, each code once: also what the live list doesn't have any more."""
        ...

    async def people_called(self, username: str) -> tuple[Person, ...]:
        """Those whose public name it was when they were last here; that may be several, the last seen first."""
        ...

    async def tally(self, person_id: int) -> PersonTally: ...

"""What support agents look up: which orders are wanted, and what is found."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Generic, TypeVar

from bot.orders.order import Order
from bot.support.model import TicketFilter
from bot.support.ticket import Ticket
from bot.users.model import User

T_co = TypeVar("T_co", covariant=True)

PAGE_SIZE: Final = 6
"""Orders, or tickets, on a page of a list."""

LARGEST_ID: Final = 2**63 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderFilter:
    """Facts of the orders that are wanted: destination, sum, and when they were placed.

    An order fits a sum in either currency, as it was reviewed or as the service fixed it. What is empty or None
    excludes no order. `until` is exclusive.
    """

    code: str = ""
    idr: tuple[int, ...] = ()
    sats: tuple[int, ...] = ()
    since: datetime | None = None
    until: datetime | None = None

    @property
    def is_empty(self) -> bool:
        """Whether every order would fit."""
        return not (self.code or self.idr or self.sats or self.since or self.until)


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderCounts:
    """Counts of a user's orders: all, those in progress, those that were paid, and of these the failed ones."""

    orders: int = 0
    in_progress: int = 0
    paid: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True)
class Page(Generic[T_co]):
    """Some items of a list, from `offset` on."""

    items: tuple[T_co, ...]
    offset: int = 0
    has_more: bool = False


@dataclass(frozen=True, slots=True)
class TicketPage:
    """A page of tickets, each with the order it is about, if any; and how many tickets every list has."""

    which: TicketFilter
    page: Page[tuple[Ticket, Order | None]]
    counts: dict[TicketFilter, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class UserOverview:
    """What support sees of a user at a glance; `user` is None where only their orders are left."""

    user_id: int
    user: User | None
    counts: OrderCounts
    orders: tuple[Order, ...]
    tickets: tuple[Ticket, ...]


def parse_user_id(text: str) -> int | None:
    """Return the user id that `text` is, if it can be anybody's."""
    number = int(text) if text.isdecimal() and len(text) <= len(str(LARGEST_ID)) else 0
    return number if 0 < number <= LARGEST_ID else None

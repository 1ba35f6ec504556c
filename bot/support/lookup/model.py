"""What support agents look up: the filter for orders, and the results."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Generic, TypeVar

from bot.checkout.draft import OrderDraft
from bot.orders.order import Order
from bot.support.model import TicketFilter
from bot.support.ticket import Ticket
from bot.users.model import User

T_co = TypeVar("T_co", covariant=True)

PAGE_SIZE: Final = 6
"""Orders or tickets on one page of a list."""

LARGEST_ID: Final = 2**63 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderFilter:
    """The orders to find: by destination, by a sum or a part of a name, and by time of placing.

    A sum matches the reviewed amount or the amount that the service fixed, in either currency. A part of a name is of
    the reference or of the service's id, or the last digits of the recipient's number. An order needs one of the sums
    and parts. Empty fields match every order. `until` is exclusive.
    """

    code: str = ""
    idr: tuple[int, ...] = ()
    sats: tuple[int, ...] = ()
    parts: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None

    @property
    def is_name(self) -> bool:
        """Whether the filter is only what can be a part of one order's name."""
        return len(self.parts) == 1 and not (self.code or self.since or self.until)

    @property
    def is_empty(self) -> bool:
        """Whether the filter matches every order."""
        return not (self.code or self.idr or self.sats or self.parts or self.since or self.until)


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderCounts:
    """How many orders a user has: all, in progress, paid, and paid but failed."""

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
    """A page of tickets with their orders, and the number of tickets in each list."""

    which: TicketFilter
    page: Page[tuple[Ticket, Order | None]]
    counts: dict[TicketFilter, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class UserOverview:
    """What support sees first of a user. `user` is None if only their orders are left.

    `draft` is the order that they are filling in, or could continue.
    """

    user_id: int
    user: User | None
    counts: OrderCounts
    orders: tuple[Order, ...]
    tickets: tuple[Ticket, ...]
    draft: OrderDraft | None = None


def parse_user_id(text: str) -> int | None:
    """Return `text` as a user id, or None if it isn't one."""
    number = int(text) if text.isdecimal() and len(text) <= len(str(LARGEST_ID)) else 0
    return number if 0 < number <= LARGEST_ID else None

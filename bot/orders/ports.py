"""What the use cases need of the orders in a database."""

# ruff: noqa: D102  names and types say it; the other methods have a docstring

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Protocol

from bot.orders.order import Order, Phase
from bot.users.model import OrderEvent


class Orders(Protocol):
    """Orders, from the intent on."""

    async def add(self, order: Order) -> bool:
        """Keep a new intent; False where this (draft, attempt) or reference has one already."""
        ...

    async def get(self, reference: str) -> Order | None: ...
    async def get_if_readable(self, reference: str) -> Order | None:
        """Return the order, or None where it can't be opened: for what it is only mentioned in."""
        ...

    async def of_draft(self, draft_id: str) -> Order | None:
        """The latest attempt of a draft."""
        ...

    async def by_service_id(self, service_ids: Collection[str]) -> Mapping[str, Order]:
        """The orders that have claimed any of these ids of the service."""
        ...

    async def of_person(self, person_id: int, *, limit: int = 10, offset: int = 0) -> tuple[Order, ...]:
        """Newest first."""
        ...

    async def of_person_from(self, first: Order, limit: int) -> tuple[Order, ...]:
        """`first` and its person's older ones, newest first."""
        ...

    async def of_person_before(self, order: Order, limit: int) -> tuple[Order, ...]:
        """Its person's next newer ones, newest first."""
        ...

    async def count_of_person(self, person_id: int) -> int: ...
    async def count_newer(self, order: Order) -> int:
        """How many of its person's are newer than it."""
        ...

    async def may_count(self, person_id: int, after: datetime) -> tuple[Order, ...]:
        """Return a person's orders that may count towards the limits, oldest first.

        That are those created or paid after this moment, and all that aren't over yet.
        """
        ...

    async def placed_after(self, person_id: int, after: datetime) -> tuple[Order, ...]:
        """A person's orders created after this moment, oldest first."""
        ...

    async def one_at_a_time(self, person_id: int) -> None:
        """Until this transaction has ended, no other one comes past here for the same person."""
        ...

    async def lock_payment(self, key: str) -> None:
        """Let no other transaction pass here with the same key until this one has ended."""
        ...

    async def with_payment_hash(self, payment_hash: str) -> Order | None: ...
    async def with_deposit_key(self, deposit_key: str) -> Order | None:
        """The order whose deposit may still come and looks the same on its chain."""
        ...

    async def open_of_person(self, person_id: int, limit: int = 10) -> tuple[Order, ...]:
        """Those not yet ended (phases intended, unknown, unresolved, held, open), newest first."""
        ...

    async def save(self, order: Order) -> Order | None:
        """Save over the same version and return it with the next one; None where somebody else has saved."""
        ...

    async def due(self, now: datetime, *, is_paid: bool, limit: int = 1000) -> tuple[Order, ...]:
        """Paid or unpaid orders whose `next_look_at` has come, the longest waiting first.

        Without recipient and without what they are paid with, as in `due_if_viewed` and `expiring`: following an order
        needs neither.
        """
        ...

    async def count_due(self, now: datetime, *, is_paid: bool) -> int: ...
    async def due_after(self, moment: datetime, *, is_paid: bool, limit: int = 100) -> tuple[Order, ...]:
        """Return paid or unpaid orders whose `next_look_at` is later than `moment`, as `due` does, the latest first."""
        ...

    async def due_if_viewed(
        self, references: Collection[str], users: Collection[int], now: datetime, looked_at_before: datetime, limit: int
    ) -> tuple[Order, ...]:
        """Followed orders with these references or of these users that are due, or were last looked at before then.

        Up to `limit` by reference, and as many by user.
        """
        ...

    async def in_phase(
        self, phases: Collection[Phase], limit: int = 1000, *, newest_first: bool = False
    ) -> tuple[Order, ...]:
        """Oldest first, unless asked otherwise."""
        ...

    async def expiring(self, now: datetime, limit: int = 1000) -> tuple[Order, ...]:
        """Due orders past `expires_at` of which the expiry has not been told and that are not paid."""
        ...

    async def stuck(self, paid_before: datetime, limit: int = 1000) -> tuple[Order, ...]:
        """Open orders paid at that time or before it, of which it has not been told that they are stuck."""
        ...

    async def unclaimed_like(self, order: Order, since: datetime) -> tuple[Order, ...]:
        """Other intents without a service id, same method code, created since: those an order could be mistaken for.

        Of every phase but refused: an abandoned one may still have made an order.
        """
        ...

    async def by_page_token(self, tokens: Collection[str]) -> Mapping[str, Order]:
        """The orders whose wallet pages have any of these tokens."""
        ...

    async def set_aside(self, reference: str, now: datetime) -> bool:
        """Ask the service no longer about an order that can't be read (`RowUnreadable`).

        Return False if it is asked now instead: only `next_look_at` can't be read.
        """
        ...

    async def add_event(self, event: OrderEvent) -> None: ...
    async def events(self, reference: str) -> tuple[OrderEvent, ...]: ...

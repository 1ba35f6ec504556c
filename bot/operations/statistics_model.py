"""What the use cases need of a database to count by: figures, and orders without anything personal."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Protocol

from bot.operations.statistics import OrderFigures, Outcome, PeopleFigures, SubscriberFigures
from bot.orders.payout_times import PayoutTimes
from bot.recipients.methods import PayoutMethod


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderLine:
    """An order as it may be handed on: neither number nor name, person nor chat. Amounts are the locked ones."""

    reference: str
    service_id: str | None
    created_at: datetime
    paid_at: datetime | None
    ended_at: datetime | None
    outcome: Outcome
    state: str
    method: PayoutMethod
    channel: str
    idr: int
    sats: int
    btc_idr: Decimal | None


class Figures(Protocol):
    """Counting. Times are from a moment on, up to another one that is outside."""

    async def people(self, since: datetime, until: datetime) -> PeopleFigures:
        """All persons, and those who came within this time."""
        ...

    async def subscribers(self, since: datetime, until: datetime, now: datetime) -> SubscriberFigures:
        """All subscribers, those who came within this time, and the alerts that haven't expired."""
        ...

    async def orders(self, edges: Sequence[datetime]) -> OrderFigures:
        """Orders placed from the first of `edges` up to the last, part by part between two neighbours."""
        ...

    async def payout_times(self, since: datetime, until: datetime) -> PayoutTimes | None:
        """Return how long the orders placed within this time took that were sent; None where none was."""
        ...

    async def count_orders(self, since: datetime, until: datetime) -> int:
        """How many were placed within this time."""
        ...

    async def lines(
        self, since: datetime, until: datetime, after: OrderLine | None, limit: int
    ) -> tuple[OrderLine, ...]:
        """Orders placed within this time, oldest first; those behind `after`, where one is named."""
        ...

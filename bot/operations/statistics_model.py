"""What the use cases need of a database to count by: figures, and orders without anything personal."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from bot.operations.statistics import Outcome
from bot.settlement.model import PayoutMethod


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

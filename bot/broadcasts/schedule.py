"""What a broadcast may say, and when an operator has to look twice before it is sent."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Final

from bot.core import templates
from bot.settlement.model import Quote

VARIABLES: Final = ("rate", "usdc", "sats_100k", "sats_1m", "fee", "time", "source")
"""Rupiah for a bitcoin and for a USDC, the sats for 100,000 and for 1,000,000 rupiah, the fee, and the quote's time and
source."""

SUMS: Final = {"sats_100k": 100_000, "sats_1m": 1_000_000}
"""Variables that are sats, and for how many rupiah."""

WIDEST: Final = Quote(
    Decimal("88888888888.88"), datetime(2028, 12, 28, 22, 58, tzinfo=UTC), Decimal("888888.88"), "W" * 24
)
"""A quote that takes more room than any to be expected: what fits with it fits when it is sent."""

MOST_LATE: Final = timedelta(hours=2)
"""A broadcast that couldn't begin for so long (the bot was away) waits for an operator's word."""

PATIENCE: Final = timedelta(minutes=5)
"""So long a broadcast waits by itself for a fresh quote before it asks an operator."""


class Doubt(StrEnum):
    """Why a broadcast isn't sent without a second word. The values stand in buttons."""

    STALE = "s"
    JUMPED = "j"
    LATE = "l"
    NO_QUOTE = "n"


def read_template(html: str) -> str:
    """`html` (Telegram's, made of a message's entities) as a template. Raises as `templates.read` does."""
    return templates.read(html, VARIABLES)


def has_variables(template: str) -> bool:
    """Whether the template tells anything of a quote."""
    return bool(templates.variables_in(template))


def moved_percent(before: Quote, after: Quote) -> Decimal:
    """How far BTC/IDR has moved from one quote to another, in percent; negative is down."""
    return (after.btc_idr / before.btc_idr - 1) * 100 if before.btc_idr else Decimal("Infinity")


def doubts_about(quote: Quote, last: Quote | None, now: datetime, jump_percent: Decimal) -> tuple[Doubt, ...]:
    """Why this quote shouldn't be told without a second word; `last` is that of the last broadcast."""
    found = [Doubt.STALE] if quote.is_stale(now) else []
    if last is not None and abs(moved_percent(last, quote)) > jump_percent:
        found.append(Doubt.JUMPED)
    return tuple(found)


def time_to_send(count: int, per_second: float) -> timedelta:
    """How long so many messages take at this rate."""
    return timedelta(seconds=count / per_second)

"""Read and write recorded quotes."""

from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, delete, select

from bot.infra.db import encryption as sealing
from bot.infra.db import upsert as writing
from bot.infra.db.transaction import Transaction
from bot.rates.tables import quotes
from bot.settlement.model import Quote

AT = quotes.c.fetched_at
BETWEEN = (
    select(quotes).where(bindparam("since", type_=AT.type) <= AT, bindparam("until", type_=AT.type) >= AT).order_by(AT)
)
LATEST = select(quotes).order_by(AT.desc()).limit(1)
DELETE = delete(quotes).where(bindparam("before", type_=AT.type) > AT)


class QuoteRepository:
    """Read and write quotes."""

    def __init__(self, tx: Transaction) -> None:
        self._connection = tx.connection
        self._vault = tx.vault

    async def add(self, quote: Quote) -> bool:
        """Insert a quote. Returns False where the service's quote of this time is there already."""
        return await writing.add(
            self._connection,
            quotes,
            {
                "fetched_at": quote.fetched_at,
                "btc_idr": quote.btc_idr,
                "usdc_idr": quote.usdc_idr,
                "source": quote.source,
            },
        )

    async def between(self, since: datetime, until: datetime) -> tuple[Quote, ...]:
        """Return the quotes of these times and between them, oldest first."""
        found = await self._connection.execute(BETWEEN, {"since": since, "until": until})
        return sealing.readable(self._vault, quotes, found.mappings(), _quote)

    async def latest(self) -> Quote | None:
        """Return the newest quote by the service's time, or None."""
        row = (await self._connection.execute(LATEST)).mappings().first()
        return sealing.read_or_none(self._vault, quotes, dict(row), _quote) if row else None

    async def delete_before(self, before: datetime) -> int:
        """Delete older quotes, and return how many."""
        return (await self._connection.execute(DELETE, {"before": before})).rowcount


def _quote(known: dict[str, Any]) -> Quote:
    return Quote(**known)

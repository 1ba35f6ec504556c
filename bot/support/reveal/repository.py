"""Read and write reveals."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from sqlalchemy import Select, bindparam, select

from bot.infra.db import encryption, upsert
from bot.infra.db.transaction import Transaction
from bot.support.reveal.model import Reveal
from bot.support.reveal.tables import IS_REVEALED, reveals

REVEAL = select(reveals).where(reveals.c.id == bindparam("key"))
UNMASKED = select(reveals).where(IS_REVEALED).order_by(reveals.c.until)


class RevealRepository:
    """Read and write reveals. They are saved, so that a restarted bot can mask them."""

    def __init__(self, tx: Transaction) -> None:
        self._connection = tx.connection
        self._vault = tx.vault

    async def add(self, reveal: Reveal) -> None:
        """Insert a reveal."""
        await upsert.insert_new(self._connection, reveals, asdict(reveal))

    async def get(self, reveal_id: str) -> Reveal | None:
        """Return the reveal of this id."""
        return next(iter(await self._all(REVEAL, {"key": reveal_id})), None)

    async def save(self, reveal: Reveal) -> None:
        """Insert or replace a reveal."""
        await upsert.insert_or_replace(self._connection, reveals, asdict(reveal))

    async def unmasked(self) -> tuple[Reveal, ...]:
        """Return the reveals that aren't masked yet, the first to end first."""
        return await self._all(UNMASKED, {})

    async def _all(self, statement: Select[Any], parameters: Mapping[str, object]) -> tuple[Reveal, ...]:
        found = (await self._connection.execute(statement, parameters)).mappings()
        return encryption.read_rows(self._vault, reveals, found, _to_reveal)


def _to_reveal(known: dict[str, Any]) -> Reveal:
    return Reveal(**known)

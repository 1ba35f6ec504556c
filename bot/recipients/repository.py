"""Read and write saved recipients."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, delete, select

from bot.infra.db import encryption, upsert
from bot.infra.db.transaction import Transaction
from bot.recipients.model import SavedRecipient
from bot.recipients.tables import recipients
from bot.settlement import json_values as nested

ONE = select(recipients).where(recipients.c.id == bindparam("id"))
OF_USER = (
    select(recipients)
    .where(recipients.c.user_id == bindparam("user"))
    .order_by(recipients.c.last_used_at.desc(), recipients.c.id)
    .limit(bindparam("limit"))
    .offset(bindparam("offset"))
)
DELETE = delete(recipients).where(recipients.c.id == bindparam("id"))
DELETE_UNUSED = delete(recipients).where(recipients.c.last_used_at < bindparam("before"))


class RecipientRepository:
    """Read and write saved recipients."""

    def __init__(self, tx: Transaction) -> None:
        self._connection = tx.connection
        self._vault = tx.vault

    async def get(self, recipient_id: str) -> SavedRecipient | None:
        """Return the recipient with this id, of any user, or None."""
        row = (await self._connection.execute(ONE, {"id": recipient_id})).mappings().first()
        return encryption.read_row(self._vault, recipients, dict(row), _recipient) if row else None

    async def find_by_user(self, user_id: int, *, limit: int = 100, offset: int = 0) -> tuple[SavedRecipient, ...]:
        """Return the recipients of a user, the last used first."""
        values = {"user": user_id, "limit": limit, "offset": offset}
        found = (await self._connection.execute(OF_USER, values)).mappings()
        return encryption.read_rows(self._vault, recipients, found, _recipient)

    async def save(self, recipient: SavedRecipient) -> None:
        """Insert or replace a recipient."""
        row = {**asdict(recipient), "method": nested.from_method(recipient.method)}
        await upsert.insert_or_replace(self._connection, recipients, encryption.seal_row(self._vault, recipients, row))

    async def delete(self, recipient_id: str) -> None:
        """Delete a recipient, if it exists."""
        await self._connection.execute(DELETE, {"id": recipient_id})

    async def delete_unused(self, before: datetime) -> int:
        """Delete recipients that were last used before then, and return how many."""
        return (await self._connection.execute(DELETE_UNUSED, {"before": before})).rowcount


def _recipient(known: Mapping[str, Any]) -> SavedRecipient:
    return SavedRecipient(**{**known, "method": nested.to_method(known["method"])})

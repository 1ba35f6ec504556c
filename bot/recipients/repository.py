"""Read and write saved recipients."""

from dataclasses import asdict
from typing import Any

from sqlalchemy import bindparam, delete, select

from bot.infra.db.repository import Repository, once
from bot.recipients.model import SavedRecipient
from bot.recipients.tables import recipients
from bot.settlement import json_values as nested


class RecipientRepository(Repository[SavedRecipient]):
    """Read and write saved recipients."""

    table = recipients

    async def get(self, recipient_id: str) -> SavedRecipient | None:
        """Return the recipient with this id, of any user, or None."""
        return await self._get(select(recipients).where(recipients.c.id == recipient_id))

    async def find_by_user(self, user_id: int, *, limit: int = 100) -> tuple[SavedRecipient, ...]:
        """Return the recipients of a user, the last used first."""
        of_user = once(
            lambda: (
                select(recipients)
                .where(recipients.c.user_id == bindparam("user"))
                .order_by(recipients.c.last_used_at.desc(), recipients.c.id)
                .limit(bindparam("limit"))
            )
        )
        return await self._find(of_user, {"user": user_id, "limit": limit})

    async def save(self, recipient: SavedRecipient) -> None:
        """Insert or replace a recipient."""
        await self._replace(recipient)

    async def delete(self, recipient_id: str) -> None:
        """Delete a recipient, if it exists."""
        await self._change(delete(recipients).where(recipients.c.id == recipient_id))

    def _to_row(self, value: SavedRecipient) -> dict[str, Any]:
        return {**asdict(value), "method": nested.from_method(value.method)}

    def _to_value(self, known: dict[str, Any]) -> SavedRecipient:
        return SavedRecipient(**{**known, "method": nested.to_method(known["method"])})

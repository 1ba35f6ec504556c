"""Read and write what is known of groups: the language that their members chose."""

from sqlalchemy import delete, select

from bot.infra.db import upsert
from bot.infra.db.transaction import Transaction
from bot.users.tables import groups


class GroupRepository:
    """Read and write groups."""

    def __init__(self, tx: Transaction) -> None:
        self._connection = tx.connection

    async def get_locale(self, chat_id: int) -> str | None:
        """Return the language of a group, or None if its members chose none."""
        locale: str | None = await self._connection.scalar(select(groups.c.locale).where(groups.c.chat_id == chat_id))
        return locale

    async def save_locale(self, chat_id: int, locale: str) -> None:
        """Save the language of a group."""
        await upsert.insert_or_replace(self._connection, groups, {"chat_id": chat_id, "locale": locale})

    async def move(self, old: int, new: int) -> None:
        """Give a group its new id."""
        locale = await self.get_locale(old)
        if locale is not None:
            await self.save_locale(new, locale)
            await self._connection.execute(delete(groups).where(groups.c.chat_id == old))


async def move_group(tx: Transaction, old: int, new: int) -> None:
    """Give a group its new id. The outbox calls this."""
    await GroupRepository(tx).move(old, new)

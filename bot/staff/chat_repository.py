"""Remember the new ids of staff's groups."""

from sqlalchemy import BigInteger, bindparam, select

from bot.infra.db import upsert as writing
from bot.infra.db.transaction import Transaction
from bot.staff.tables import moved_chats

NEW_ID = select(moved_chats.c.new_id).where(moved_chats.c.old_id == bindparam("chat", type_=BigInteger()))


class MovedChatRepository:
    """The groups that Telegram gave another id, as it does when one becomes a supergroup."""

    def __init__(self, tx: Transaction) -> None:
        self._connection = tx.connection

    async def current(self, chat_id: int) -> int:
        """Return the id that a group has now."""
        moved = (await self._connection.execute(NEW_ID, {"chat": chat_id})).scalar_one_or_none()
        return chat_id if moved is None else int(moved)

    async def save(self, old: int, new: int) -> None:
        """Save the new id of a group."""
        await writing.put(self._connection, moved_chats, {"old_id": old, "new_id": new})

"""Read and write saved replies."""

from dataclasses import asdict
from typing import Any

from sqlalchemy import bindparam, delete, select

from bot.infra.db import encryption as sealing
from bot.infra.db import upsert as writing
from bot.infra.db.transaction import Transaction
from bot.support.saved_replies.model import SavedReply
from bot.support.saved_replies.tables import saved_replies

ANSWERS = select(saved_replies).order_by(saved_replies.c.name)
DELETE_ANSWER = delete(saved_replies).where(saved_replies.c.name == bindparam("called"))


class SavedReplyRepository:
    """The answers that support keeps."""

    def __init__(self, tx: Transaction) -> None:
        self._connection = tx.connection
        self._vault = tx.vault

    async def all(self) -> tuple[SavedReply, ...]:
        """By name."""
        found = (await self._connection.execute(ANSWERS)).mappings()
        return sealing.readable(self._vault, saved_replies, found, _saved_answer)

    async def get(self, name: str) -> SavedReply | None:
        """The one of this name."""
        return next((answer for answer in await self.all() if answer.name == name), None)

    async def save(self, answer: SavedReply) -> None:
        """Insert or replace."""
        await writing.put(self._connection, saved_replies, asdict(answer))

    async def delete(self, name: str) -> bool:
        """Delete one; whether there was one."""
        return (await self._connection.execute(DELETE_ANSWER, {"called": name})).rowcount == 1


def _saved_answer(known: dict[str, Any]) -> SavedReply:
    return SavedReply(**known)

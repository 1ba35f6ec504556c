"""The persons who have met the bot."""

from dataclasses import asdict
from typing import Any

from sqlalchemy import bindparam, select

from bot.infra.db import encryption as sealing
from bot.infra.db import upsert as writing
from bot.infra.db.transaction import Transaction
from bot.infra.telegram.inbound.inbox import TAKE
from bot.infra.telegram.inbound.model import TAKEN_BY_QUESTION
from bot.users.model import Person
from bot.users.tables import users

ONE = select(users).where(users.c.id == bindparam("id"))


def to_person(known: dict[str, Any]) -> Person:
    """Return the person of an opened row."""
    return Person(**known)


class UserRepository:
    """Read and write the users who have met the bot."""

    def __init__(self, tx: Transaction) -> None:
        self._connection = tx.connection
        self._vault = tx.vault

    async def get(self, person_id: int) -> Person | None:
        """The person with this Telegram id."""
        row = (await self._connection.execute(ONE, {"id": person_id})).mappings().first()
        return sealing.read(self._vault, users, dict(row), to_person) if row else None

    async def get_if_readable(self, person_id: int) -> Person | None:
        """Return the person, or None where the row can't be read, which is noted."""
        row = (await self._connection.execute(ONE, {"id": person_id})).mappings().first()
        return sealing.read_or_none(self._vault, users, dict(row), to_person) if row else None

    async def save(self, person: Person) -> None:
        """Insert or replace."""
        if person.answered_update_id is not None:
            await self._connection.execute(TAKE, {"taken": person.answered_update_id, "by": TAKEN_BY_QUESTION})
        await writing.put(self._connection, users, sealing.seal_row(self._vault, users, asdict(person)))

"""The persons who have met the bot."""

from dataclasses import asdict

from sqlalchemy import bindparam, select
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.actions.ports import Person
from bot.store import writing
from bot.store.tables import people

ONE = select(people).where(people.c.id == bindparam("id"))


class SqlPeople:
    """`People`, in the table of that name."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def get(self, person_id: int) -> Person | None:
        """The person with this Telegram id."""
        row = (await self._connection.execute(ONE, {"id": person_id})).mappings().first()
        return Person(**row) if row else None

    async def save(self, person: Person) -> None:
        """Insert or replace."""
        await writing.put(self._connection, people, asdict(person))

"""Save what users choose for themselves."""

from collections.abc import Awaitable, Callable

from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.users.model import Person
from bot.users.repository import UserRepository

ZoneHook = Callable[[Transaction, Person], Awaitable[None]]
"""Moves what a feature has planned for a user to their new time zone."""


class UserService:
    """Save users. Features add what has to follow in the same transaction to `on_zone_changed`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.on_zone_changed: list[ZoneHook] = []

    async def change_zone(self, user: Person) -> None:
        """Save a user who has chosen another time zone."""
        async with self._database.transaction() as tx:
            await UserRepository(tx).save(user)
            for hook in self.on_zone_changed:
                await hook(tx, user)

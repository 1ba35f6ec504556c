"""Save changes of users, with what other features have to change in the same transaction."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime

from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.users.model import User, UserEvent
from bot.users.repository import UserRepository, record_user_event

ZoneHook = Callable[[Transaction, User], Awaitable[None]]
"""Adapts what a feature has planned for a user to their new time zone."""

BlockHook = Callable[[Transaction, int, datetime], Awaitable[None]]
"""Ends subscriptions of a user who has blocked the bot. The parameters: the transaction, the user's id, and now."""


class UserService:
    """Save users. Features add hooks that run in the same transaction."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self.on_zone_changed: list[ZoneHook] = []
        self.on_blocked: list[BlockHook] = []

    async def change_zone(self, user: User) -> None:
        """Save a user who has chosen another time zone."""
        async with self._database.transaction() as tx:
            await UserRepository(tx).save(user)
            for hook in self.on_zone_changed:
                await hook(tx, user)

    async def block(self, user: User, blocked_at: datetime) -> None:
        """Save that a user has blocked the bot."""
        now = self._clock.now()
        async with self._database.transaction() as tx:
            await UserRepository(tx).save(replace(user, blocked_at=blocked_at))
            for hook in self.on_blocked:
                await hook(tx, user.id, now)
            await record_user_event(tx, user.id, UserEvent.BLOCKED, now)

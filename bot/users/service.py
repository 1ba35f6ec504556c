"""Save changes of users, with what other features have to change in the same transaction."""

from dataclasses import replace
from datetime import datetime

from bot.infra.feature import Infra
from bot.users.model import User, UserEvent
from bot.users.repository import UserRepository, record_user_event


class UserService:
    """Save users."""

    def __init__(self, infra: Infra) -> None:
        self._database = infra.database
        self._clock = infra.clock
        self._features = infra.features

    async def change_zone(self, user: User) -> None:
        """Save a user who has chosen another time zone."""
        async with self._database.transaction() as tx:
            await UserRepository(tx).save(user)
            for feature in self._features:
                for adapt in feature.on_zone_changed:
                    await adapt(tx, user)

    async def block(self, user: User, blocked_at: datetime) -> None:
        """Save that a user has blocked the bot."""
        now = self._clock.now()
        async with self._database.transaction() as tx:
            await UserRepository(tx).save(replace(user, blocked_at=blocked_at))
            for feature in self._features:
                for end in feature.on_blocked:
                    await end(tx, user.id, now)
            await record_user_event(tx, user.id, UserEvent.BLOCKED, now)

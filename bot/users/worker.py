"""People who wished to be forgotten while money was under way, and what is older than it has to be."""

from collections.abc import Awaitable, Callable
from datetime import timedelta

from bot.users.privacy import Privacy
from bot.users.retention import Retention

RunInLane = Callable[[int, Callable[[], Awaitable[None]]], object]

LOOK_EVERY_SECONDS = 2.0
A_DAY = timedelta(days=1).total_seconds()


class DeletionWorker:
    """Two loops: one carries wishes out as soon as they can be, one looks each day for what is too old."""

    def __init__(
        self, *, privacy: Privacy, retention: Retention, run_in_lane: RunInLane, on_news: Callable[[], None]
    ) -> None:
        self._privacy = privacy
        self._retention = retention
        self._run_in_lane = run_in_lane
        self._on_news = on_news

    async def wishes(self) -> float:
        """Forget those who wished it and have nothing open any more, each in their chat's own queue."""
        for person_id in await self._privacy.ready():
            self._run_in_lane(person_id, self._carrying_out(person_id))
        await self._privacy.tidy()
        return LOOK_EVERY_SECONDS

    async def retention(self) -> float:
        """Once a day, and at each start."""
        await self._retention.run_once()
        for person_id in await self._privacy.long_away():
            self._run_in_lane(person_id, self._forgetting(person_id))
        return A_DAY

    def _carrying_out(self, person_id: int) -> Callable[[], Awaitable[None]]:
        async def carry_out() -> None:
            if await self._privacy.carry_out(person_id):
                self._on_news()

        return carry_out

    def _forgetting(self, person_id: int) -> Callable[[], Awaitable[None]]:
        async def forget() -> None:
            await self._privacy.forget_away(person_id)

        return forget

"""Daily quotes as their times come, and alerts as quotes are recorded."""

from bot.rates.scheduler import RateScheduler

LOOK_EVERY_SECONDS = 5.0
SOON_SECONDS = 0.5
"""While there is more to tell: as soon as Telegram may have taken a part of it."""


class SubscriptionsWorker:
    """One `tick` queues what is due, and what the newest quote has met."""

    def __init__(self, scheduler: RateScheduler) -> None:
        self._scheduler = scheduler

    async def tick(self) -> float:
        """Queue what there is room for; how long until the next look."""
        dailies_left = await self._scheduler.queue_due()
        await self._scheduler.check_latest()
        alerts_left = await self._scheduler.queue_met()
        return SOON_SECONDS if dailies_left or alerts_left else LOOK_EVERY_SECONDS

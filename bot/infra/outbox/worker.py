"""Send notifications as soon as there are any, and again when a postponed one falls due."""

from bot.core.clock import Clock
from bot.infra.outbox.delivery import OutboxDelivery

LONGEST_WAIT = 5.0


class OutboxWorker:
    """One `tick` starts everything that is due."""

    def __init__(self, delivery: OutboxDelivery, clock: Clock) -> None:
        self._delivery = delivery
        self._clock = clock

    async def tick(self) -> float:
        """Start what is due; how long until the next piece falls due."""
        await self._delivery.start_due()
        due = await self._delivery.next_due()
        if due is None:
            return LONGEST_WAIT
        return min(max((due - self._clock.now()).total_seconds(), 0.05), LONGEST_WAIT)

"""What `/status` shows of the last hour and the last payment: from the database, and the limits of this process."""

from dataclasses import dataclass
from datetime import timedelta

from bot.infra.feature import Infra
from bot.infra.telegram.outbound.limiter import SendLimiter
from bot.operations.statistics_repository import StatisticsRepository
from bot.settlement.budget import Budget

HOUR = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveFigures:
    """How the bot does right now and did in the last hour. Times are seconds. None means that there was nothing."""

    last_payment_noticed: float | None
    """From the service's time of the last payment until the bot saved it."""

    answer_median: float | None
    answer_p99: float | None
    slow_downs: int
    """How often Telegram rejected a call of this process with 429."""

    send_limit: float
    """How many messages a second this process sends at most, bulk included."""

    service_budget: float
    """How many requests a second this process sends to the settlement service at most."""


class LiveFigureReader:
    """Reads the figures."""

    def __init__(self, infra: Infra, limiter: SendLimiter, budget: Budget) -> None:
        self._database = infra.database
        self._clock = infra.clock
        self._limiter = limiter
        self._budget = budget

    async def read(self) -> LiveFigures:
        """Return the figures.

        Raises:
            StoreDown: the database failed.
        """
        async with self._database.reading() as tx:
            payment = await StatisticsRepository(tx).find_last_payment()
            median, p99 = await StatisticsRepository(tx).find_answer_times(self._clock.now() - HOUR)
        return LiveFigures(
            last_payment_noticed=payment,
            answer_median=median,
            answer_p99=p99,
            slow_downs=self._limiter.slow_downs,
            send_limit=self._limiter.per_second,
            service_budget=self._budget.per_second,
        )

"""What `/status` shows about the last hour. It is read from the metrics, so both show the same."""

from dataclasses import dataclass

from bot.infra import metrics
from bot.infra.feature import Features
from bot.infra.metrics import History
from bot.infra.outbox.model import BACKLOG_QUEUES
from bot.infra.telegram.inbound.metrics import ANSWER_SECONDS
from bot.infra.telegram.metrics import CALLS


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveFigures:
    """How the bot does right now and did in the last hour. Times are seconds. None means that there was nothing."""

    oldest_notification: float | None
    """How long the oldest notification has waited that is due. Those about the rate don't count."""

    last_payment_noticed: float | None
    """From the service's time of the last payment until the bot saved it."""

    answer_median: float | None
    answer_p99: float | None
    slow_downs: int
    """How often Telegram rejected a call with 429."""

    send_limit: float
    """How many messages a second the bot sends at most, bulk included."""

    service_budget: float
    """How many requests a second the bot sends to the settlement service at most."""


class LiveFigureReader:
    """Reads the figures."""

    def __init__(self, features: Features) -> None:
        self._features = features
        self._history = History(ANSWER_SECONDS, CALLS)

    async def record(self) -> float:
        """Remember the current totals. Return the seconds until the next time."""
        return await self._history.record()

    async def read(self) -> LiveFigures:
        """Refresh the gauges, and return the figures.

        Raises:
            StoreDown: the database failed.
        """
        await metrics.refresh(self._features.list_gauges())
        history = self._history
        waiting = [
            _read("kirim_notifications_oldest_seconds", queue=queue)
            for queue in BACKLOG_QUEUES
            if _read("kirim_notifications_waiting", queue=queue)
        ]
        has_payment = bool(_read("kirim_payment_noticed_seconds_count"))
        return LiveFigures(
            oldest_notification=max(waiting, default=None),
            last_payment_noticed=_read("kirim_last_payment_noticed_seconds") if has_payment else None,
            answer_median=history.quantile("kirim_answer_seconds", 0.5),
            answer_p99=history.quantile("kirim_answer_seconds", 0.99),
            slow_downs=round(history.increase("kirim_telegram_calls_total", result="too_many_requests")),
            send_limit=_read("kirim_send_limit_per_second"),
            service_budget=_read("kirim_settlement_budget_per_second"),
        )


def _read(name: str, **labels: str) -> float:
    return metrics.REGISTRY.get_sample_value(name, labels) or 0.0

"""The metrics of notifications."""

from typing import Final

from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.infra.metrics import counter, gauge, histogram, seconds_since
from bot.infra.outbox.model import Queue
from bot.infra.outbox.repository import OutboxRepository

QUEUES: Final = tuple(queue.value for queue in Queue)

NOTIFICATIONS: Final = counter(
    "kirim_notifications",
    "Attempts to send a notification. After `retried`, `left` and `perhaps_sent` there is another one.",
    queue=QUEUES,
    result=("sent", "perhaps_sent", "retried", "left", "undeliverable"),
)
DELAY_SECONDS: Final = histogram(
    "kirim_notification_delay_seconds",
    "From the time when a notification was due until it was sent.",
    (0.05, 0.1, 0.25, 0.5, 1, 2, 5, 15, 60, 300, 3600),
    queue=QUEUES,
)
WAITING: Final = gauge("kirim_notifications_waiting", "Notifications that are due and not sent.", queue=QUEUES)
OLDEST: Final = gauge(
    "kirim_notifications_oldest_seconds",
    "How long the oldest notification that is due has waited. 0 if there is none.",
    queue=QUEUES,
)


async def refresh_gauges(database: Database, clock: Clock) -> None:
    """Read how many notifications wait in each queue, and since when."""
    now = clock.now()
    async with database.reading() as tx:
        backlogs = await OutboxRepository(tx).get_backlogs(now)
    for queue in Queue:
        WAITING.labels(queue.value).set(backlogs[queue].count)
        OLDEST.labels(queue.value).set(seconds_since(backlogs[queue].since, now))

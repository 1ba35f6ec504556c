"""The metrics of updates."""

from typing import Final

from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.infra.metrics import counter, gauge, histogram, seconds_since
from bot.infra.telegram.inbound.repository import InboxRepository

UPDATES_RECEIVED: Final = counter(
    "kirim_updates_received",
    "Updates that were saved in the inbox for the first time.",
    kind=("message", "edited_message", "callback_query", "my_chat_member"),
)
INLINE_QUERIES: Final = counter(
    "kirim_inline_queries",
    "Inline queries by result. Those that the same user's next letter has overtaken aren't counted.",
    result=("answered", "failed", "left_out"),
)
DELIVERIES_REFUSED: Final = counter(
    "kirim_webhook_deliveries_refused",
    "Requests to the webhook that weren't accepted. After `not_saved`, Telegram sends the update again.",
    reason=("too_large", "unauthorized", "malformed", "not_saved"),
)
UPDATES_HANDLED: Final = counter(
    "kirim_updates_handled",
    "Attempts to handle an update. After `failed` there is another one. `dropped` is the last of five.",
    result=("done", "failed", "dropped"),
)
INBOX_WAITING: Final = gauge("kirim_inbox_waiting", "Updates that aren't finished.")
INBOX_OLDEST: Final = gauge(
    "kirim_inbox_oldest_seconds", "How long the oldest update that isn't finished has waited. 0 if there is none."
)
ANSWER_SECONDS: Final = histogram(
    "kirim_answer_seconds",
    "From the arrival of an update until it was handled, and answered if it has an answer.",
    (0.01, 0.025, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10, 30, 120),
)


async def refresh_gauges(database: Database, clock: Clock) -> None:
    """Read how many updates wait, and since when."""
    async with database.reading() as tx:
        count, since = await InboxRepository(tx).get_backlog()
    INBOX_WAITING.set(count)
    INBOX_OLDEST.set(seconds_since(since, clock.now()))

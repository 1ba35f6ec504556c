"""The metrics of updates."""

from typing import Final

from bot.infra.db.database import Database
from bot.infra.metrics import counter, gauge, histogram
from bot.infra.telegram.inbound.repository import InboxRepository

UPDATES_RECEIVED: Final = counter(
    "kirim_updates_received",
    "Updates that were saved in the inbox for the first time.",
    kind=("message", "edited_message", "callback_query", "my_chat_member"),
)
UPDATES_HANDLED: Final = counter(
    "kirim_updates_handled",
    "Attempts to handle an update. After `failed` there is another one. `dropped` is the last of five.",
    result=("done", "failed", "dropped"),
)
INBOX_WAITING: Final = gauge("kirim_inbox_waiting", "Updates that aren't finished.")
ANSWER_SECONDS: Final = histogram(
    "kirim_answer_seconds",
    "From the arrival of an update until it was handled, and answered if it has an answer.",
    (0.01, 0.025, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10, 30, 120),
)


async def refresh_gauges(database: Database) -> None:
    """Read how many updates wait."""
    async with database.reading() as tx:
        INBOX_WAITING.set(await InboxRepository(tx).count_unfinished())

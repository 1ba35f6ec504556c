"""A process that receives updates and processes them slowly, to be killed in the midst of it.

Arguments: the Bot API's address, the database's URL, a file to note what was processed in, seconds an update takes.
"""

import asyncio
import sys
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from telegram import Update

from bot.infra.db.database import Database
from bot.infra.telegram.inbound.chat_queues import ChatQueues
from bot.infra.telegram.inbound.receiver import Receiver, UpdatePoller
from bot.infra.telegram.transport import TelegramRequest
from tests.infra.keys import VAULT


class UtcClock:
    def now(self) -> datetime:
        return datetime.now(UTC)


def main() -> None:
    """Run it with what the command line says."""
    base_url, database, notes, most = sys.argv[1:]
    asyncio.run(receive(base_url, database, Path(notes), int(most)))


async def receive(base_url: str, database: str, notes: Path, most: int) -> None:
    """Process `most` updates and get stuck in the next ones."""
    store = Database(database, VAULT)
    await store.upgrade()

    done = count()

    async def process(update: Update) -> None:
        if next(done) >= most:
            await asyncio.Event().wait()
        with notes.open("a") as out:
            out.write(f"{update.update_id}\n")

    queues = ChatQueues(store, process, UtcClock())
    await queues.replay()
    await Receiver(UpdatePoller(base_url, TelegramRequest()), store, queues, UtcClock()).run()


if __name__ == "__main__":
    main()

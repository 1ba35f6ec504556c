"""A process that receives updates, handles some of them and then hangs, until a test kills it.

Arguments: the address of the Bot API, the database's URL, a file for the ids of handled updates, and how many updates
to handle.
"""

import asyncio
import sys
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from telegram import Update

from bot.infra.db.database import Database
from bot.infra.leases.chat_leases import UnsharedLeases
from bot.infra.telegram.inbound.chat_queues import ChatQueues
from bot.infra.telegram.inbound.receiver import Receiver, UpdateIntake, UpdatePoller
from bot.infra.telegram.transport import TelegramRequest
from bot.infra.workers import Wakeup, run_forever
from tests.infra.keys import VAULT


class UtcClock:
    def now(self) -> datetime:
        return datetime.now(UTC)


def main() -> None:
    """Run with the arguments of the command line."""
    base_url, database, notes, limit = sys.argv[1:]
    asyncio.run(receive(base_url, database, Path(notes), int(limit)))


async def receive(base_url: str, database: str, notes: Path, limit: int) -> None:
    """Handle `limit` updates, and hang in the next ones."""
    store = Database(database, VAULT)
    await store.upgrade()

    handled = count()

    async def process(update: Update) -> None:
        if next(handled) >= limit:
            await asyncio.Event().wait()
        with notes.open("a") as out:
            out.write(f"{update.update_id}\n")

    leases = UnsharedLeases()
    leases.begin()
    wakeup = Wakeup()
    queues = ChatQueues(store, process, UtcClock(), leases=leases, on_waiting=wakeup)
    chats = asyncio.create_task(run_forever("chats", queues.claim_waiting, wakeup))
    await Receiver(UpdatePoller(base_url, TelegramRequest()), UpdateIntake(store, queues, UtcClock())).run()
    await chats


if __name__ == "__main__":
    main()

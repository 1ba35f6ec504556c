"""A process that is killed while it writes: `<url> <number>` writes orders, and stops in the middle of that one."""

import asyncio
import sys

import bot.tables  # noqa: F401  encryption needs the tables of all features
from bot.infra.db.database import Database
from bot.infra.outbox.repository import OutboxRepository
from bot.orders.repository import OrderRepository
from tests.infra.builders import a_notification
from tests.infra.keys import VAULT
from tests.orders.builders import an_order

MOST = 100_000


def main() -> None:
    """Write orders with their notifications, and print the number of each that is committed."""
    url, pause_at = sys.argv[1:]
    asyncio.run(write_all(url, int(pause_at)))


async def write_all(url: str, pause_at: int) -> None:
    """Write each order and its notification in a transaction."""
    store = Database(url, VAULT)
    for number in range(1, MOST):
        await write(store, number, pauses=number == pause_at)
        say(number)


async def write(store: Database, number: int, *, pauses: bool) -> None:
    """Write an order and its notification. If it pauses, it stays between them."""
    async with store.transaction() as tx:
        await OrderRepository(tx).add(an_order(str(number)))
        if pauses:
            say("half")
            await asyncio.Event().wait()
        await OutboxRepository(tx).add([a_notification(f"order:{number}", chat_id=number)])


def say(words: object) -> None:
    """Print a line at once."""
    print(words, flush=True)  # noqa: T201  the test reads it

"""A process that is killed while it works on a database: `migrate <url>` or `rotate <url>`."""

import asyncio
import sys

import bot.tables  # noqa: F401  encryption needs the tables of all features
from bot.infra.db import migrate
from bot.infra.db.database import Database
from bot.infra.db.vault import Vault
from tests.infra.keys import KEY, OLDER_KEY


def main() -> None:
    """Run the command from the command line."""
    work, url = sys.argv[1:]
    asyncio.run(rotate(url) if work == "rotate" else upgrade(url))


async def upgrade(url: str) -> None:
    """Bring the database up to date, and print its revision."""
    print(await migrate.upgrade(url), flush=True)  # noqa: T201  a test reads this


async def rotate(url: str) -> None:
    """Rotate the keys, but stop and print a line after the first transaction with orders."""
    store = Database(url, Vault([KEY, OLDER_KEY]))
    await store.register_first_key()
    async for step in store.rotate():
        if step.table == "orders":
            print(step.table, flush=True)  # noqa: T201  the test reads this before it kills the process
            await asyncio.Event().wait()

"""A process that works on a database and is killed in the midst of it: `migrate <url>` or `rotate <url>`."""

import asyncio
import sys

import bot.tables  # noqa: F401  encryption goes through the tables of all features
from bot.infra.db import migrate
from bot.infra.db.database import Database
from bot.infra.db.vault import Vault
from tests.infra.keys import KEY, OLDER_KEY


def main() -> None:
    """Do what the command line says."""
    work, url = sys.argv[1:]
    asyncio.run(rotate(url) if work == "rotate" else migrated(url))


async def migrated(url: str) -> None:
    """Bring it up to date."""
    await migrate.upgrade(url)


async def rotate(url: str) -> None:
    """Seal everything anew, but stop after the first transaction with orders, and say so."""
    store = Database(url, Vault([KEY, OLDER_KEY]))
    await store.register_first_key()
    async for step in store.rotate():
        if step.table == "orders":
            print(step.table, flush=True)  # noqa: T201  whoever kills it reads this
            await asyncio.Event().wait()

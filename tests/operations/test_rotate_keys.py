"""`kirim rotate-keys` on both databases: its output, and which bots it keeps out."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import pytest

from bot.infra.db.database import Database
from bot.infra.db.errors import StoreDown
from bot.infra.db.vault import Vault
from bot.operations.check import CheckFailed, check_keys
from bot.operations.database_commands import rotate_keys
from bot.orders.repository import OrderRepository
from tests.infra.keys import KEY, OLDER_KEY
from tests.orders.builders import an_order, insert_orders

COUNT = 230


def open_database(database: str, *keys: bytes) -> Database:
    return Database(database, Vault(keys))


async def left_by_the_bot(database: str) -> None:
    store = Database(database, Vault([OLDER_KEY]))
    await store.register_first_key()
    async with store.transaction() as tx:
        await insert_orders(tx, (an_order(f"R{n}") for n in range(COUNT)))
    await store.close()


async def test_it_encrypts_everything_again_and_shows_progress(database: str) -> None:
    await left_by_the_bot(database)
    said: list[str] = []
    assert await rotate_keys(open_database(database, KEY, OLDER_KEY), said.append) == 0
    assert said == [
        "230 of 230 encrypted rows use an older key.",
        "  orders: 200 of 230",
        "  orders: 230 of 230",
        "All rows use the first key. You can remove the older keys from ENCRYPTION_KEYS.",
    ]
    said.clear()
    assert await rotate_keys(open_database(database, KEY), said.append) == 0
    assert said[0] == "0 of 230 encrypted rows use an older key."


@asynccontextmanager
async def working(bot: Database) -> AsyncIterator[None]:
    """Work on a database as the bot does."""
    async with bot.exclude_others():
        assert await bot.join() == ""
        yield


async def test_while_a_bot_without_the_key_runs_it_does_nothing(database: str) -> None:
    await left_by_the_bot(database)
    bot, said = Database(database, Vault([OLDER_KEY]), owner="bot"), list[str]()
    async with working(bot):
        assert await rotate_keys(open_database(database, KEY, OLDER_KEY), said.append) == 1
        await bot.check_keys()
    assert "Restart it" in said[0]
    async with bot.reading() as tx:
        assert await OrderRepository(tx).get("R7") is not None
    await bot.close()


async def test_while_a_bot_with_the_key_runs_it_works(database: str) -> None:
    await left_by_the_bot(database)
    bot, said = Database(database, Vault([KEY, OLDER_KEY]), owner="bot"), list[str]()
    async with working(bot):
        assert await rotate_keys(open_database(database, KEY, OLDER_KEY), said.append) == 0
    await bot.close()


async def test_the_older_key_is_needed_while_a_row_cannot_be_decrypted(database: str) -> None:
    await left_by_the_bot(database)
    store, said = Database(database, Vault([OLDER_KEY])), list[str]()
    async with store._writer.begin() as connection:
        await connection.exec_driver_sql("UPDATE orders SET number = holder WHERE reference = 'R7'")
    assert await rotate_keys(open_database(database, KEY, OLDER_KEY), said.append) == 1
    assert said[-1].startswith("1 row can't be decrypted")
    assert "You can remove" not in said[-1]
    with pytest.raises(StoreDown):
        async with store.reading() as tx:
            await OrderRepository(tx).get("R7")
    await store.close()


async def test_the_check_says_which_share_uses_an_older_key_and_changes_nothing(database: str) -> None:
    await left_by_the_bot(database)
    both, alone = partial(open_database, database, KEY, OLDER_KEY), partial(open_database, database, KEY)
    found = await check_keys(both)
    assert found == "230 of 230 encrypted rows (100%) use an older key. Run: kirim rotate-keys"
    with pytest.raises(CheckFailed, match="ENCRYPTION_KEYS don't match") as caught:
        await check_keys(alone)
    assert caught.value.code == 2
    await rotate_keys(both(), print)
    assert await check_keys(alone) == "all 230 encrypted rows use the first key"

"""`python -m bot rotate-keys`: re-encrypt the database with the first key in ENCRYPTION_KEYS, and show progress."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext

from bot.infra.db.database import Database
from bot.infra.leases.leader import is_led

DONE, INCOMPLETE = 0, 1
PrintLine = Callable[[str], object]


class BotIsRunning(Exception):
    """Another process is running the bot now."""


async def run(store: Database, print_line: PrintLine) -> int:
    """Re-encrypt every row, close the database, and return the exit code.

    Raises:
        UnfitKeys: a key that encrypts some rows is missing.
        StoreDown: the database can't be reached, or failed.
    """
    try:
        await store.check()
        await store.check_keys()
        async with await _keep_out_older_keys(store):
            return await _rotate(store, print_line)
    except BotIsRunning:
        print_line("The running bot uses other ENCRYPTION_KEYS. Restart it with these, then run this again.")
        return INCOMPLETE
    finally:
        await store.close()


async def _keep_out_older_keys(store: Database) -> AbstractAsyncContextManager[object]:
    """Return a lock that keeps out bots that don't know the first key. It is empty if the running bot knows the key.

    On PostgreSQL nothing is locked: once the key is registered, a bot that doesn't know it ends at its start.
    """
    if await store.is_sealed_otherwise():
        raise BotIsRunning
    if await store.is_first_key_registered():
        return nullcontext()
    if not store.is_sqlite and await is_led(store):
        raise BotIsRunning

    def busy() -> None:
        raise BotIsRunning

    return store.exclude_others(busy)


async def _rotate(store: Database, print_line: PrintLine) -> int:
    await store.register_first_key()
    before = await store.count_sealed_rows()
    waiting, sealed = sum(each.waiting for each in before.values()), sum(each.sealed for each in before.values())
    print_line(f"{waiting:,} of {sealed:,} encrypted rows use an older key.")
    async for step in store.rotate():
        print_line(f"  {step.table}: {step.sealed:,} of {before[step.table].waiting:,}")
    left = await store.finish_rotation()
    if left:
        print_line(
            f"{left:,} {'row' if left == 1 else 'rows'} can't be decrypted (changed or moved). Keep the older keys."
        )
        return INCOMPLETE
    print_line("All rows use the first key. You can remove the older keys from ENCRYPTION_KEYS.")
    return DONE

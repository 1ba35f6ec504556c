"""`kirim rotate-keys`: re-encrypt the database with the first key in ENCRYPTION_KEYS, and show progress."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext

from bot.infra.db.database import Database
from bot.infra.leases.leader import is_led

DONE, INCOMPLETE = 0, 1
PrintLine = Callable[[str], object]


class BotIsRunning(Exception):
    """Another process is running the bot now."""


async def run(database: Database, print_line: PrintLine) -> int:
    """Re-encrypt every row, close the database, and return the exit code.

    Raises:
        UnfitKeys: a key that encrypts some rows is missing.
        StoreDown: the database can't be reached, or failed.
    """
    try:
        await database.check()
        await database.check_keys()
        async with await _keep_out_older_keys(database):
            return await _rotate(database, print_line)
    except BotIsRunning:
        print_line("The running bot uses other ENCRYPTION_KEYS. Restart it with these, then run this again.")
        return INCOMPLETE
    finally:
        await database.close()


async def _keep_out_older_keys(database: Database) -> AbstractAsyncContextManager[object]:
    """Return a lock that keeps out bots that don't know the first key. It is empty if the running bot knows the key.

    On PostgreSQL nothing is locked: once the key is registered, a bot that doesn't know it ends at its start.
    """
    if await database.is_sealed_otherwise():
        raise BotIsRunning
    if await database.is_first_key_registered():
        return nullcontext()
    if not database.is_sqlite and await is_led(database):
        raise BotIsRunning

    def busy() -> None:
        raise BotIsRunning

    return database.exclude_others(busy)


async def _rotate(database: Database, print_line: PrintLine) -> int:
    await database.register_first_key()
    before = await database.count_sealed_rows()
    waiting, sealed = sum(each.waiting for each in before.values()), sum(each.sealed for each in before.values())
    print_line(f"{waiting:,} of {sealed:,} encrypted rows use an older key.")
    async for step in database.rotate():
        print_line(f"  {step.table}: {step.sealed:,} of {before[step.table].waiting:,}")
    left = await database.finish_rotation()
    if left:
        print_line(
            f"{left:,} {'row' if left == 1 else 'rows'} can't be decrypted (changed or moved). Keep the older keys."
        )
        return INCOMPLETE
    print_line("All rows use the first key. You can remove the older keys from ENCRYPTION_KEYS.")
    return DONE

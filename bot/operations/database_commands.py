"""The commands that work on a database as a whole: `kirim copy-database`, `rotate-keys` and `set-aside`."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, nullcontext
from typing import Final

from bot.infra.db import copy
from bot.infra.db.address import parse_database_url
from bot.infra.db.database import Database
from bot.infra.db.errors import StoreError
from bot.infra.outbox.repository import OutboxRepository
from bot.infra.telegram.inbound.repository import InboxRepository

WORKS, FAILS = 0, 1
PrintLine = Callable[[str], object]
OpenDatabase = Callable[[str], Database]

FILLED: Final = ("saved_replies",)
"""The tables that have rows in a new database."""

LEFT_OUT: Final = ("chat_leases", "processes")
"""The tables that aren't copied: they are about running processes."""


class BotIsRunning(Exception):
    """A bot works on one of the databases."""


class _SourceFailed(Exception):
    """The database to copy from can't be used."""


async def copy_database(from_url: str, to_url: str, open_database: OpenDatabase, print_line: PrintLine) -> int:
    """Copy the database of one URL, such as SQLite, into the empty one of another. Return the exit code.

    Nothing is copied unless everything is.

    Raises:
        StoreError: the second database can't be used.
    """
    async with AsyncExitStack() as stack:
        try:
            source = await _open_source(from_url, open_database, stack)
            target = open_database(to_url)
            stack.push_async_callback(target.close)
            await target.upgrade()
            async with target.reading() as reading:
                await copy.check_unused(reading.connection)
                await copy.check_empty(reading.connection, FILLED + LEFT_OUT)
            return await _copy(source, target, print_line)
        except (BotIsRunning, copy.InUse):
            print_line("Nothing was copied: a bot works on one of the two databases. Stop every bot first.")
        except _SourceFailed as error:
            print_line(f"Nothing was copied: the database in --from can't be used: {error}.")
        except copy.NotEmpty as error:
            print_line(f"Nothing was copied: the database in DATABASE_URL can't be used: {error}. Create a new one.")
    return FAILS


async def _open_source(url: str, open_database: OpenDatabase, stack: AsyncExitStack) -> Database:
    """Open the database to copy from, and check that it can be copied.

    Raises:
        _SourceFailed: it isn't there, has other tables, or needs other keys.
    """
    try:
        address = parse_database_url(url)
        if address.path is not None and not address.path.exists():
            raise _SourceFailed(f"there is no file {address.path}")
        source = open_database(url)
        stack.push_async_callback(source.close)
        await source.check()
        await source.check_keys()
    except StoreError as error:
        raise _SourceFailed(str(error)) from None
    return source


async def _copy(source: Database, target: Database, print_line: PrintLine) -> int:
    async with AsyncExitStack() as stack:
        for database in (source, target):
            await stack.enter_async_context(database.exclude_others(_refuse))
        reading = (await stack.enter_async_context(source.transaction())).connection
        writing = (await stack.enter_async_context(target.transaction())).connection
        await copy.lock_tables(reading, against_reading=False)
        await copy.lock_tables(writing, against_reading=True)
        for connection in (reading, writing):
            await copy.check_unused(connection)
        await copy.check_empty(writing, FILLED + LEFT_OUT)
        total = 0
        async for table in copy.copy_rows(reading, writing, left_out=LEFT_OUT):
            total += table.rows
            if table.rows:
                print_line(f"  {table.name}: {table.rows:,}")
    print_line(f"{total:,} rows were copied and compared. From now on, start the bot only with the new DATABASE_URL.")
    return WORKS


def _refuse() -> None:
    raise BotIsRunning


async def rotate_keys(database: Database, print_line: PrintLine) -> int:
    """Re-encrypt every row with the first key in ENCRYPTION_KEYS, show progress, and return the exit code.

    The database is closed.

    Raises:
        MissingKey: a key that encrypts some rows is missing.
        StoreDown: the database can't be reached, or failed.
    """
    try:
        await database.check()
        await database.check_keys()
        async with await _keep_out_older_keys(database):
            return await _rotate(database, print_line)
    except BotIsRunning:
        print_line("The running bot uses other ENCRYPTION_KEYS. Restart it with these, then run this again.")
        return FAILS
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
    return database.exclude_others(_refuse)


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
        return FAILS
    print_line("All rows use the first key. You can remove the older keys from ENCRYPTION_KEYS.")
    return WORKS


BY_OPERATOR = "set aside by an operator"


async def set_aside(database: Database, table: str, key: int, print_line: PrintLine) -> int:
    """End a waiting message or job of an unknown kind, close the database, and return the exit code."""
    try:
        await database.check()
        async with database.transaction() as tx:
            if table == "outbox":
                count = await OutboxRepository(tx).give_up(key, BY_OPERATOR)
            else:
                count = await InboxRepository(tx).delete_job(key)
    finally:
        await database.close()
    print_line(f"{table} {key} is set aside." if count else f"{table} {key} doesn't wait. Nothing was changed.")
    return WORKS if count else FAILS

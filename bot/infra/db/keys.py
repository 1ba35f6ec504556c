"""The encryption keys of a database: which ones it needs, and key rotation.

A rotation seals rows of older keys with the first key, each in a transaction of its own, while the bot runs. It
replaces a text only if the column still holds the text that was read. What the bot writes at the same time is sealed
with the first key already, and what it deletes stays deleted. After an interruption the next rotation continues with
the rest.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Select,
    Table,
    and_,
    case,
    delete,
    func,
    literal_column,
    or_,
    select,
    update,
)

from bot.infra.db.encryption import get_sealed_columns, list_sealed_tables, open_text, seal_text
from bot.infra.db.errors import StoreDown
from bot.infra.db.repository import insert_new
from bot.infra.db.tables import sealing_keys
from bot.infra.db.transaction import Connection
from bot.infra.db.vault import VERSION, MissingKey, Vault, describe_missing

NAME_AT, NAME_LENGTH = len(VERSION) + 2, 8
"""The position of the key's name in a sealed text, counted from 1, and its length (see `bot/infra/db/vault.py`)."""


@dataclass(frozen=True, slots=True)
class SealedRows:
    """How many rows of a table are sealed, and how many of these wait for the first key."""

    sealed: int
    waiting: int


async def check_keys(connection: Connection, vault: Vault) -> None:
    """Check that the program has every key that the database needs.

    Raises:
        MissingKey: a key is missing.
    """
    if missing := frozenset((await connection.execute(select(sealing_keys.c.name))).scalars()) - vault.key_names:
        raise MissingKey(describe_missing(missing))


async def register_first_key(connection: Connection, vault: Vault) -> None:
    """Record that the database needs the first key. Raises as `check_keys` does."""
    await check_keys(connection, vault)
    if vault.first_key_name:
        await record_needed(connection, vault.first_key_name)


async def record_needed(connection: Connection, name: str) -> None:
    """Record that the database needs a key, by which the next start without it is refused."""
    await insert_new(connection, sealing_keys, {"name": name})


async def is_first_key_registered(connection: Connection, vault: Vault) -> bool:
    """Return whether a bot was started with this first key, or no key was recorded yet."""
    known = frozenset((await connection.execute(select(sealing_keys.c.name))).scalars())
    return not known or vault.first_key_name in known


async def delete_older_keys(connection: Connection, vault: Vault) -> None:
    """Record that the database needs only the first key."""
    await connection.execute(delete(sealing_keys).where(sealing_keys.c.name != vault.first_key_name))


async def count_sealed_rows(connection: Connection, vault: Vault) -> Mapping[str, SealedRows]:
    """Return the number of sealed rows of each table. It reads all rows, so only commands of operators call it.

    Raises:
        MissingKey: a row is sealed with a key that the program doesn't have.
    """
    found = {}
    for table in list_sealed_tables():
        sealed, waiting, *unknown = (await connection.execute(_counts(table, vault))).one()
        if names := [name for name in unknown if name]:
            raise MissingKey(describe_missing(names))
        found[table.name] = SealedRows(int(sealed), int(waiting))
    return found


def _counts(table: Table, vault: Vault) -> Select[Any]:
    columns = [table.c[column] for column in get_sealed_columns(table).columns]
    sealed = or_(*(_is_sealed(column) for column in columns))
    waiting = or_(*(needs_first_key(column, vault) for column in columns))
    unknown = [
        func.max(case((and_(_is_sealed(column), _key_name(column).not_in(vault.key_names)), _key_name(column))))
        for column in columns
    ]
    return select(*(func.coalesce(func.sum(case((each, 1), else_=0)), 0) for each in (sealed, waiting)), *unknown)


def needs_first_key(column: ColumnElement[str], vault: Vault) -> ColumnElement[bool]:
    """Return the condition that a column is sealed with an older key."""
    return and_(_is_sealed(column), _key_name(column) != vault.first_key_name)


def _is_sealed(column: ColumnElement[str]) -> ColumnElement[bool]:
    return and_(column.is_not(None), column != "")


def _key_name(column: ColumnElement[str]) -> ColumnElement[str]:
    return func.substr(column, literal_column(str(NAME_AT)), literal_column(str(NAME_LENGTH)))


AT_ONCE = 200
"""Rows that are read at once."""

Transaction = Callable[[], AbstractAsyncContextManager[Connection]]


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress in one table. `failed` counts rows that no key opens, because they were changed or moved."""

    table: str
    sealed: int
    failed: int


async def rotate(transaction: Transaction, vault: Vault) -> AsyncIterator[Progress]:
    """Seal the rows of older keys in every table with the first key. Yield the progress after each `AT_ONCE` rows.

    A transaction that locks one row never waits for another, so it and the bot's can't end in a deadlock.
    """
    for table in list_sealed_tables():
        last, sealed, failed = None, 0, 0
        while True:
            async with transaction() as connection:
                rows = await _read_waiting(connection, table, vault, last)
            for row in rows:
                async with transaction() as connection:
                    is_sealed = await _seal_again(connection, table, vault, row)
                sealed, failed = sealed + is_sealed, failed + (not is_sealed)
            if rows:
                last = rows[-1][get_sealed_columns(table).key]
                yield Progress(table.name, sealed, failed)
            if len(rows) < AT_ONCE:
                break


async def _read_waiting(connection: Connection, table: Table, vault: Vault, last: object) -> Sequence[Any]:
    key, columns = table.c[get_sealed_columns(table).key], get_sealed_columns(table).columns
    columns_read = select(key, *(table.c[column].label(column) for column in columns))
    waiting = columns_read.where(or_(*(needs_first_key(table.c[column], vault) for column in columns)))
    rest = waiting if last is None else waiting.where(key > last)
    return (await connection.execute(rest.order_by(key).limit(AT_ONCE))).mappings().all()


async def _seal_again(connection: Connection, table: Table, vault: Vault, row: Any) -> bool:  # noqa: ANN401  a row
    """Seal each column of the row that hasn't changed. Return False if a column doesn't open."""
    key = get_sealed_columns(table).key
    for column in get_sealed_columns(table).columns:
        before = row[column]
        if not before or before.startswith(vault.first_key_prefix):
            continue
        try:
            opened = open_text(vault, table.c[column], row[key], before)
        except StoreDown:
            return False
        after = seal_text(vault, table.c[column], row[key], opened)
        is_same = (table.c[key] == row[key]) & (table.c[column] == before)
        await connection.execute(update(table).where(is_same).values({column: after}))
    return True

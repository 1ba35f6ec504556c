"""Count, export, delete and prune the rows of users in all tables, by the marks on their columns (`columns.py`)."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import Any, Final

from sqlalchemy import Column, ColumnElement, Table, delete, func, select, tuple_, update

from bot.infra.db.columns import Pruned, blank_personal_columns, list_tables
from bot.infra.db.encryption import read_rows
from bot.infra.db.transaction import Transaction

JsonObject = dict[str, object]
Keys = Sequence[Any]
"""The primary key of a row."""

NOBODY: Final = 0
"""The id that replaces that of a deleted user or chat. No Telegram user has it."""


def list_user_tables() -> list[Table]:
    """Return the tables with rows of users. Those that refer to others come first."""
    return [table for table in reversed(list_tables()) if any("owner" in column.info for column in table.columns)]


def list_exported_tables() -> list[Table]:
    """Return the tables with rows of users that are in the exported file, in its order."""
    return [table for table in reversed(list_user_tables()) if "not_exported" not in table.info]


async def count_rows(tx: Transaction, table: Table, user_id: int, *conditions: ColumnElement[bool]) -> int:
    """Return how many rows of a table belong to a user and meet the conditions, also unreadable ones."""
    counted = select(func.count()).select_from(table).where(_is_of_user(table, user_id), *conditions)
    return (await tx.connection.execute(counted)).scalar_one()


async def delete_rows(tx: Transaction, user_id: int) -> None:
    """Delete a user's rows in all tables, and what identifies the user in those that stay."""
    for table in list_user_tables():
        theirs = _is_of_user(table, user_id)
        if "stays" in table.info:
            nobody = {column.key: NOBODY for column in table.columns if column.info.get("names") == "user"}
            where = table.info["stays_where"]
            await blank_rows(tx, table, theirs & where(table) if where else theirs, nobody)
        else:
            await tx.connection.execute(delete(table).where(theirs))


async def blank_rows(
    tx: Transaction, table: Table, rows: ColumnElement[bool], values: Mapping[str, object] | None = None
) -> int:
    """Empty the personal columns of rows, and of those that refer to them, and set `values`. Return how many rows."""
    (key,) = table.primary_key
    for referring in list_tables():
        if personal := blank_personal_columns(referring):
            for column in (each.parent for each in referring.foreign_keys if each.column is key):
                of_rows = update(referring).where(column.in_(select(key).where(rows)))
                await tx.connection.execute(of_rows.values(personal))
    blank = {**blank_personal_columns(table), **(values or {})}
    return (await tx.connection.execute(update(table).where(rows).values(blank))).rowcount


def list_pruned_columns() -> Iterator[Column[Any]]:
    """Yield the columns that say after how long the rows of their tables are deleted."""
    return (column for table in list_tables() for column in table.columns if "pruned" in column.info)


async def prune_rows(
    column: Column[Any], tx: Transaction, now: datetime, retention: timedelta | None, limit: int
) -> int:
    """Delete up to `limit` rows that are too old by this column. Return how many they were.

    `retention` is the retention period. None keeps what has no maximum of its own.
    """
    rule: Pruned = column.info["pruned"]
    kept = min((each for each in (rule.after, retention) if each is not None), default=None)
    if kept is None:
        return 0
    table, key = column.table, tuple_(*column.table.primary_key)
    if rule.parent:
        (reference,) = column.foreign_keys
        parent = reference.column.table
        of_parent = select(*table.primary_key).join(parent, column == reference.column)
        old = of_parent.where(parent.c[rule.parent] < now - kept).limit(limit)
        return (await tx.connection.execute(delete(table).where(key.in_(old)))).rowcount
    is_old = column < now - kept
    if rule.where is not None:
        is_old &= rule.where(table)
    first = select(*table.primary_key).where(is_old).order_by(column).limit(limit)
    # The condition stands twice: a row can change after it was found.
    return (await tx.connection.execute(delete(table).where(is_old, key.in_(first)))).rowcount


async def find_keys(tx: Transaction, table: Table, user_id: int) -> Sequence[Keys]:
    """Return the primary keys of a user's rows, oldest first. So each page of them is read at once, however many."""
    keys = select(*table.primary_key).where(_is_of_user(table, user_id))
    return (await tx.connection.execute(keys.order_by(*_by_age(table)))).all()


async def export_rows(table: Table, tx: Transaction, keys: Sequence[Keys]) -> tuple[JsonObject, ...]:
    """Return the rows with these keys for the exported file, without unreadable ones."""
    page = select(table).where(tuple_(*table.primary_key).in_(keys)).order_by(*_by_age(table))
    return read_rows(tx.vault, table, (await tx.connection.execute(page)).mappings(), partial(_export_row, table))


def _by_age(table: Table) -> list[Column[Any]]:
    return [column for column in table.columns if column.key == "created_at"] + list(table.primary_key)


def _is_of_user(table: Table, user_id: int) -> ColumnElement[bool]:
    (owner,) = (column for column in table.columns if "owner" in column.info)
    return owner == user_id


def _export_row(table: Table, row: dict[str, Any]) -> JsonObject:
    return {column.key: _to_json(column, row[column.key]) for column in table.columns if _is_exported(column)}


def _is_exported(column: Column[Any]) -> bool:
    return not {"names", "digest", "not_exported"} & column.info.keys()


def _to_json(column: Column[Any], value: object) -> object:
    if value is not None and "json" in column.info:
        return json.loads(str(value))
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value) if isinstance(value, Decimal) else value

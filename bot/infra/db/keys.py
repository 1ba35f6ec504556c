"""Which keys the database needs, and what still waits to be sealed with the first of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Select, Table, and_, case, delete, func, literal_column, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.infra.db import upsert as writing
from bot.infra.db.encryption import sealed_tables, sealing_of
from bot.infra.db.key_tables import sealing_keys
from bot.infra.db.vault import VERSION, UnfitKeys, Vault

NAME_AT, NAME_LENGTH = len(VERSION) + 2, 8
"""Where a sealed text bears the name of its key, counted from 1 (see `bot/infra/db/vault.py`)."""

MISSING = "it contains data encrypted with a key that is missing. Add the old key at the end of ENCRYPTION_KEYS"


@dataclass(frozen=True, slots=True)
class Standing:
    """How many rows hold something sealed, and how many of these not by the first key."""

    sealed: int
    waiting: int


async def check(connection: AsyncConnection, vault: Vault) -> None:
    """See that the program has every key that has sealed something here.

    Raises:
        UnfitKeys: it hasn't.
    """
    known = frozenset((await connection.execute(select(sealing_keys.c.name))).scalars())
    if known - vault.names:
        raise UnfitKeys(MISSING)


async def adopt(connection: AsyncConnection, vault: Vault) -> None:
    """From now on the first key seals: write down that it is needed. Raises as `check` does."""
    await check(connection, vault)
    if vault.first:
        await writing.add(connection, sealing_keys, {"name": vault.first})


async def is_adopted(connection: AsyncConnection, vault: Vault) -> bool:
    """Whether a bot has been started with this first key, or nothing was sealed yet."""
    known = frozenset((await connection.execute(select(sealing_keys.c.name))).scalars())
    return not known or vault.first in known


async def drop_older(connection: AsyncConnection, vault: Vault) -> None:
    """Write down that no key but the first is needed any more."""
    await connection.execute(delete(sealing_keys).where(sealing_keys.c.name != vault.first))


async def standing(connection: AsyncConnection, vault: Vault) -> Mapping[str, Standing]:
    """Table -> what is sealed in it. Reads everything: for whoever looks after the bot, not for the bot.

    Raises:
        UnfitKeys: a row is sealed with a key that the program wasn't given.
    """
    found = {}
    for table in sealed_tables():
        sealed, waiting, strange = (await connection.execute(_counts(table, vault))).one()
        if strange:
            raise UnfitKeys(MISSING)
        found[table.name] = Standing(int(sealed), int(waiting))
    return found


def _counts(table: Table, vault: Vault) -> Select[Any]:
    columns = [table.c[column] for column in sealing_of(table).columns]
    sealed = or_(*(_is_sealed(column) for column in columns))
    waiting = or_(*(waits(column, vault) for column in columns))
    strange = or_(*(and_(_is_sealed(column), _key_name(column).not_in(vault.names)) for column in columns))
    return select(*(func.coalesce(func.sum(case((each, 1), else_=0)), 0) for each in (sealed, waiting, strange)))


def waits(column: ColumnElement[str], vault: Vault) -> ColumnElement[bool]:
    """Whether it is sealed, and not with the first key."""
    return and_(_is_sealed(column), _key_name(column) != vault.first)


def _is_sealed(column: ColumnElement[str]) -> ColumnElement[bool]:
    return and_(column.is_not(None), column != "")


def _key_name(column: ColumnElement[str]) -> ColumnElement[str]:
    return func.substr(column, literal_column(str(NAME_AT)), literal_column(str(NAME_LENGTH)))

"""What columns declare about users is true: values are deleted, exported and pruned, in every feature's tables."""

import importlib
import json
import pkgutil
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import BigInteger, Column, Table, select

import bot
from bot.infra.db.database import Database
from bot.infra.db.encryption import read_row
from bot.infra.outbox.repository import OutboxRepository
from bot.infra.telegram.inbound.repository import InboxRepository
from bot.support.ticket import TicketStatus
from bot.support.tickets.repository import TicketRepository
from bot.tables import metadata
from bot.users.privacy import PrivacyService
from bot.users.workers import Retention
from tests.infra.builders import an_infra
from tests.infra.keys import VAULT
from tests.settlement.fake_settlement import MovedClock
from tests.times import DAY, NOW
from tests.users.builders import EMMA, SARI, a_user
from tests.users.stored_data import FEATURES, USER_DATA, delete_user, fill_every_table

SOMEBODY = re.compile(r"(person|user|chat|customer|sender|author|staff|actor|operator)_id$|_by$")
OF_THE_KERNEL = {"inbox", "outbox"}
"""Tables below the features, which `bot.users.deletion_repository` deletes together with its own."""

HANDLED = "inbox.body"
"""Emptied when the update was handled. An update that waits is answered first, even if its user was deleted."""

LATER = NOW + DAY * 1000

Values = Mapping[str, list[Any]]
"""Column -> its values in all rows, without empty ones."""


def columns(**info: object) -> Iterator[Column[Any]]:
    """Return the columns of all tables with this declaration."""
    for table in metadata.sorted_tables:
        yield from (column for column in table.columns if info.items() <= column.info.items())


USERS = [*columns(names="user")]
PERSONAL = [*columns(personal=True)]


def says(name: str, column: Column[Any]) -> bool:
    """Return whether a column or its table gives a reason for this."""
    return name in column.info or name in column.table.info


def feature_of(table: Table) -> str:
    """Return the package that defines a table."""
    (name,) = {
        name.split(".")[1]
        for name, module in sys.modules.items()
        if re.fullmatch(r"bot\..*tables", name) and any(value is table for value in vars(module).values())
    }
    return name


async def contents(store: Database) -> Values:
    """Return the values of each column as they are stored: sealed texts stay sealed."""
    found = {}
    async with store._reader.connect() as connection:
        for table in metadata.sorted_tables:
            for column in table.columns:
                every = (await connection.execute(select(column))).scalars()
                found[str(column)] = [value for value in every if value is not None and value != ""]
    return found


def strings_in(value: object) -> list[str]:
    """Return the texts of a value. JSON can have several, and a sealed text can be JSON."""
    if isinstance(value, str) and value.startswith(("[", "{")):
        value = json.loads(value)
    if isinstance(value, dict | list):
        return [text for each in (value.values() if isinstance(value, dict) else value) for text in strings_in(each)]
    return [value] if isinstance(value, str) else []


@pytest.mark.parametrize(
    "column",
    [each for table in metadata.sorted_tables for each in table.columns if isinstance(each.type, BigInteger)],
    ids=str,
)
def test_a_column_with_the_id_of_somebody_says_whose(column: Column[Any]) -> None:
    assert column.info.get("names") in {"user", "staff", "chat at work"} or not SOMEBODY.search(column.name)


def test_the_columns_of_users_are_found() -> None:
    assert {"users.id", "orders.user_id", "deliveries.user_id", "outbox.chat_id"} <= {*map(str, USERS)}
    assert {"users.phrase", "orders.number", "audit.detail", HANDLED} <= {*map(str, PERSONAL)}


@pytest.mark.parametrize("table", {column.table: None for column in (*USERS, *PERSONAL)}, ids=str)
def test_a_table_about_users_belongs_to_a_feature_that_deletes_and_exports_it(table: Table) -> None:
    if table.name in OF_THE_KERNEL or feature_of(table) == "users":
        return
    (owner,) = [each for each in USER_DATA if each.feature == feature_of(table)]
    assert owner.delete_user.__module__ == f"bot.{owner.feature}.user_data"
    assert owner.rows or owner.export_user is not None or "not_exported" in table.info


def test_every_feature_with_user_data_is_registered_once() -> None:
    declared = [
        importlib.import_module(f"bot.{package.name}.user_data").USER_DATA
        for package in pkgutil.iter_modules(bot.__path__)
        if package.ispkg
        and package.name != "users"
        and any(each.name == "user_data" for each in pkgutil.iter_modules([f"{bot.__path__[0]}/{package.name}"]))
    ]
    assert sorted(each.feature for each in USER_DATA) == sorted(each.feature for each in declared)


async def test_a_deletion_leaves_no_id_of_the_user_and_nothing_personal(store: Database) -> None:
    await fill_every_table(store, EMMA)
    before = await contents(store)
    assert [str(column) for column in USERS if EMMA not in before[str(column)]] == [], "or this test shows nothing"
    assert [str(column) for column in PERSONAL if not before[str(column)]] == [HANDLED], "or this test shows nothing"
    async with store.transaction() as tx:
        await delete_user(tx, EMMA)
    after = await contents(store)
    assert [str(column) for column in USERS if EMMA in after[str(column)]] == []
    assert {str(column): after[str(column)] for column in PERSONAL if after[str(column)]} == {}


async def test_a_deletion_touches_nobody_else_s(store: Database) -> None:
    await fill_every_table(store, SARI)
    before = await contents(store)
    await fill_every_table(store, EMMA)
    async with store.transaction() as tx:
        await delete_user(tx, EMMA)
    after = await contents(store)
    for column in (*USERS, *PERSONAL):
        assert [value for value in before[str(column)] if value not in after[str(column)]] == [], str(column)


async def test_the_exported_file_has_everything_personal(store: Database) -> None:
    await fill_every_table(store, EMMA)
    exported = (await PrivacyService(an_infra(store, MovedClock(), features=FEATURES), 365).export(a_user())).decode()
    assert isinstance(json.loads(exported), dict)
    async with store._reader.connect() as connection:
        for table in {column.table for column in PERSONAL}:
            for row in (await connection.execute(select(table))).mappings():
                opened = read_row(VAULT, table, dict(row), dict)
                for column in PERSONAL:
                    if column.table is table and "digest" not in column.info and not says("not_exported", column):
                        texts = strings_in(opened[column.key])
                        assert any(text in exported for text in texts), str(column)


async def test_what_is_old_is_pruned_but_for_what_says_why_it_stays(store: Database) -> None:
    await fill_every_table(store, EMMA)
    async with store.transaction() as tx:
        (ticket,) = await TicketRepository(tx).of_user(EMMA)
        await TicketRepository(tx).save(replace(ticket, status=TicketStatus.CLOSED, closed_at=NOW))
    clock = MovedClock()
    clock.at = LATER
    await Retention(an_infra(store, clock, features=FEATURES), 30).run_once()
    async with store.transaction() as tx:
        await InboxRepository(tx).delete_finished(LATER)
        await OutboxRepository(tx).delete_old(LATER, ())
    after = await contents(store)
    stays = {str(column) for column in PERSONAL if after[str(column)]}
    assert stays == {str(column) for column in PERSONAL if says("not_pruned", column)}

"""No table can name a user without a feature that deletes and exports what is in it."""

import importlib
import pkgutil
import re
import sys

import pytest
from sqlalchemy import Table

import bot
from bot.house import USER_DATA
from bot.infra.db.database import Database
from bot.tables import metadata
from tests.deleting import delete_user
from tests.infra.test_query_plans import statements
from tests.users.leaving import EMMA

NAMES_A_USER = re.compile(r"(person|user|customer|sender|author|chat)_id$")
STAFF_S_OWN = {
    "broadcasts": "the chat is the operator's, who wrote the broadcast",
}
BY_USERS = {"people", "person_acts", "inbox", "outbox"}
"""Tables of users and of what is below them: `bot.users.deletion` deletes these after all features."""

NOT_EXPORTED = {
    "inbox": "the updates as Telegram sent them, until they are handled; what came of them is exported",
    "outbox": "the notifications of the last days: the user has them in the chat",
    "person_acts": "which buttons were pressed, for support; what they did is exported with the orders",
    "deliveries": "who was sent which broadcast: the user has it in the chat",
    "audit": "what staff did: it belongs to the operator, and is blanked when the user is deleted",
}


def user_tables() -> list[Table]:
    """The tables with a column that names a user."""
    return [
        table
        for table in metadata.tables.values()
        if table.name not in STAFF_S_OWN
        and (table.name == "people" or any(NAMES_A_USER.search(column.name) for column in table.columns))
    ]


def feature_of(table: Table) -> str:
    """The package that defines a table."""
    (name,) = {
        name.split(".")[1]
        for name, module in sys.modules.items()
        if re.fullmatch(r"bot\..*tables", name) and any(value is table for value in vars(module).values())
    }
    return name


def test_the_tables_that_name_a_user_are_found() -> None:
    assert {"people", "orders", "drafts", "recipients", "tickets", "deliveries"} <= {
        each.name for each in user_tables()
    }
    assert set(STAFF_S_OWN) | BY_USERS | set(NOT_EXPORTED) <= set(metadata.tables)


@pytest.mark.parametrize("table", user_tables(), ids=str)
def test_a_table_that_names_a_user_belongs_to_a_feature_that_deletes_and_exports_it(table: Table) -> None:
    if table.name in BY_USERS:
        assert table.name in NOT_EXPORTED or table.name == "people"
        return
    (owner,) = [each for each in USER_DATA if each.feature == feature_of(table)]
    assert (owner.export_user is not None) or table.name in NOT_EXPORTED


def test_every_feature_with_user_data_is_registered_once() -> None:
    declared = [
        importlib.import_module(f"bot.{package.name}.user_data").USER_DATA
        for package in pkgutil.iter_modules(bot.__path__)
        if package.ispkg
        and package.name != "users"
        and any(each.name == "user_data" for each in pkgutil.iter_modules([f"{bot.__path__[0]}/{package.name}"]))
    ]
    assert sorted(each.feature for each in USER_DATA) == sorted(each.feature for each in declared)
    assert all(each.delete_user.__module__ == f"bot.{each.feature}.user_data" for each in USER_DATA)


async def test_a_deletion_writes_to_every_table_that_names_a_user(store: Database) -> None:
    with statements(store) as seen:
        async with store.transaction() as tx:
            await delete_user(tx, EMMA)
    written = {found[1] for sql, _ in seen if (found := re.match(r"(?:DELETE FROM|UPDATE) (\w+)", sql))}
    deleted = {found[1] for sql, _ in seen if (found := re.match(r"DELETE FROM (\w+)", sql))}
    for table in user_tables():
        with_its_parent = {key.column.table.name for key in table.foreign_keys if key.ondelete == "CASCADE"}
        assert table.name in written or with_its_parent & deleted, table.name

"""What columns declare about users is true: values are deleted, exported and pruned, in every feature's tables."""

import importlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import BigInteger, Column, Table, select

import bot
from bot.checkout.draft import RequestTerms
from bot.checkout.repository import DraftRepository
from bot.infra.db.database import Database
from bot.infra.db.encryption import read_row
from bot.infra.outbox.repository import OutboxRepository
from bot.infra.telegram.inbound.repository import InboxRepository
from bot.orders.order import OrderEvent, Phase
from bot.orders.receipts.codes import Receipt
from bot.orders.receipts.repository import ReceiptRepository
from bot.orders.repository import OrderRepository
from bot.payment_requests.repository import PaymentRequestRepository
from bot.recipients.repository import RecipientRepository
from bot.support.model import TicketStatus
from bot.support.repository import TicketRepository
from bot.tables import metadata
from bot.users.privacy import PrivacyService
from bot.users.repository import UserRepository
from bot.users.workers import Retention
from tests.checkout.builders import a_draft
from tests.infra.builders import an_infra
from tests.infra.keys import VAULT
from tests.orders.builders import an_order
from tests.recipients.builders import a_recipient
from tests.settlement.fake_settlement import MovedClock
from tests.times import DAY, NOW
from tests.users.builders import EMMA, SARI, a_user
from tests.users.stored_data import USER_DATA, delete_user, fill_every_table

SOMEBODY = re.compile(r"(person|user|chat|customer|sender|author|staff|actor|operator)_id$|_by$")
HANDLED = "inbox.body"
"""Emptied when the update was handled. An update that waits is answered first, even if its user was deleted."""

EMPTY = [HANDLED, "orders.payer_hash", "orders.contact", "orders.answer"]
"""The others are of orders without a user."""

NUMBER = "7731004455"
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


def leads_to_a_user(table: Table) -> bool:
    """Return whether each row says whose it is, by one column or by the row that it refers to."""
    owners = [column for column in table.columns if "owner" in column.info]
    return len(owners) == 1 or (not owners and any(leads_to_a_user(each.column.table) for each in table.foreign_keys))


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


@pytest.mark.parametrize("table", {column.table: None for column in (*USERS, *PERSONAL)}, ids=str)
def test_each_row_about_a_user_says_whose_it_is(table: Table) -> None:
    assert leads_to_a_user(table)


def test_every_feature_s_user_data_is_declared() -> None:
    modules = [f"bot.{path.parent.name}.user_data" for path in Path(bot.__file__).parent.glob("*/user_data.py")]
    declared = [vars(importlib.import_module(name)).get("USER_DATA") for name in modules if "users" not in name]
    assert sorted(map(id, declared)) == sorted(map(id, USER_DATA))


async def test_a_deletion_leaves_no_id_of_the_user_and_nothing_personal(store: Database) -> None:
    await fill_every_table(store, EMMA)
    async with store.transaction() as tx:
        for request in await PaymentRequestRepository(tx).of_user(EMMA):
            await PaymentRequestRepository(tx).save_shared(replace(request, shared=("inline-1",)))
    before = await contents(store)
    assert [str(column) for column in USERS if EMMA not in before[str(column)]] == [], "or this test shows nothing"
    assert [str(column) for column in PERSONAL if not before[str(column)]] == EMPTY, "or this test shows nothing"
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
    exported = (await PrivacyService(an_infra(store, MovedClock()), USER_DATA, 365).export(a_user())).decode()
    assert isinstance(json.loads(exported), dict)
    async with store._reader.connect() as connection:
        for table in {column.table for column in PERSONAL}:
            for row in (await connection.execute(select(table))).mappings():
                opened = read_row(VAULT, table, dict(row), dict)
                for column in PERSONAL:
                    if column.table is table and "digest" not in column.info and not says("not_exported", column):
                        texts = strings_in(opened[column.key])
                        assert any(text in exported for text in texts), str(column)


@pytest.mark.parametrize("typed", ["Ibu", "\ud800", "\x00", '"}', "🏦", "\u202e"])
async def test_the_file_is_json_whatever_was_typed(store: Database, typed: str) -> None:
    order = an_order(number=NUMBER, refusal=typed, phase=Phase.DONE)
    terms = RequestTerms(payer_decides=True, note=typed)
    async with store.transaction() as tx:
        await UserRepository(tx).save(a_user(phrase=typed, username="emma_w"))
        await RecipientRepository(tx).save(a_recipient("r1", number=NUMBER, label=typed))
        await DraftRepository(tx).add(a_draft(number=NUMBER, holder=typed, terms=terms))
        await OrderRepository(tx).add(order)
        await OrderRepository(tx).add_event(OrderEvent(reference=order.reference, at=NOW, phase=Phase.DONE, state=""))
        await ReceiptRepository(tx).add(
            Receipt(reference=order.reference, code="CODE-7", code_hash="ab", created_at=NOW)
        )
    content = json.loads(await PrivacyService(an_infra(store, MovedClock()), USER_DATA, 365).export(a_user()))
    assert content["profile"] == content["profile"] | {"telegram_id": EMMA, "username": "emma_w", "phrase": typed}
    (recipient,), (draft,), (exported,) = content["recipients"], content["drafts"], content["orders"]
    assert (recipient["number"], recipient["label"], recipient["last_used_at"]) == (NUMBER, typed, NOW.isoformat())
    assert (draft["number"], draft["holder"], draft["terms"]["note"]) == (NUMBER, typed, typed)
    assert (exported["number"], exported["refusal"], exported["receipt_code"]) == (NUMBER, typed, "CODE-7")
    assert exported["timeline"] == [{"at": NOW.isoformat(), "phase": "done", "state": None, "note": None}]


async def test_what_is_old_is_pruned_but_for_what_says_why_it_stays(store: Database) -> None:
    await fill_every_table(store, EMMA)
    async with store.transaction() as tx:
        (ticket,) = await TicketRepository(tx).of_user(EMMA)
        await TicketRepository(tx).save(replace(ticket, status=TicketStatus.CLOSED, closed_at=NOW))
    clock = MovedClock()
    clock.at = LATER
    await Retention(an_infra(store, clock), USER_DATA, 30).run_once()
    async with store.transaction() as tx:
        await InboxRepository(tx).delete_finished(LATER)
        await OutboxRepository(tx).delete_old(LATER, ())
    after = await contents(store)
    stays = {str(column) for column in PERSONAL if after[str(column)]}
    assert stays == {str(column) for column in PERSONAL if says("not_pruned", column)}

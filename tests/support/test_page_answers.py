"""Answers to payers without a chat, on the page of their order (`/answer`)."""

from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import select

from bot.core.errors import Rejection
from bot.infra.db.database import Database
from bot.orders.order import payer_on_page
from bot.orders.repository import OrderRepository
from bot.orders.tables import orders
from bot.settlement.model import COMPLETED
from bot.staff.model import AuditAction
from bot.staff.repository import AuditRepository
from bot.support.service import HIDDEN_NUMBER, MAX_PAGE_ANSWER, answer_on_page
from tests.orders.builders import an_order, insert_orders
from tests.times import NOW

RINA = 3001


async def has_order(store: Database, **changes: Any) -> None:
    order = replace(an_order("R2345AB", payer=payer_on_page("a secret"), origin="0123456789abcdef"), **changes)
    async with store.transaction() as tx:
        await insert_orders(tx, [order])


async def answer(store: Database, text: str, reference: str = "R2345AB") -> str | None:
    async with store.transaction() as tx:
        await answer_on_page(tx, reference, text, by=RINA, now=NOW)
    async with store.reading() as tx:
        found = await OrderRepository(tx).get("R2345AB")
        return found.answer if found else None


async def test_the_newest_answer_counts_is_sealed_and_in_the_audit_log(store: Database) -> None:
    await has_order(store)
    assert await answer(store, "first") == "first"
    assert await answer(store, "second") == "second"
    async with store.reading() as tx:
        assert (await tx.connection.scalar(select(orders.c.answer))).startswith("s1.")
        entries = await AuditRepository(tx).page(limit=5)
    assert [(entry.actor_id, entry.action, entry.subject) for entry in entries] == [
        (RINA, AuditAction.ANSWERED, "order:R2345AB")
    ] * 2


@pytest.mark.parametrize(
    ("changes", "text", "key"),
    [
        ({"payer": None}, "hello", "support.page_answer.how"),
        ({"state": COMPLETED}, "hello", "support.page_answer.receipt"),
        ({}, "", "support.page_answer.length"),
        ({}, "x" * (MAX_PAGE_ANSWER + 1), "support.page_answer.length"),
        ({}, "your money went to 8620-123-456", HIDDEN_NUMBER),
    ],
)
async def test_what_cant_be_answered_is_refused(
    store: Database, changes: dict[str, object], text: str, key: str
) -> None:
    in_chat = {"payer": an_order().payer} if "payer" in changes else {}
    await has_order(store, number="8620123456", **changes | in_chat)
    with pytest.raises(Rejection) as refused:
        await answer(store, text)
    assert refused.value.key == key


async def test_an_unknown_order_is_refused(store: Database) -> None:
    with pytest.raises(Rejection):
        await answer(store, "hello", "NONE234")

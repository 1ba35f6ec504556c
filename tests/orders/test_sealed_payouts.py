"""Someone who can write to the database can't redirect a payout: changed drafts and recipients can't be read."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import text

from bot.checkout.draft import DraftOfChat, OrderDraft, Step
from bot.checkout.repository import DraftRepository
from bot.core.money import Amount
from bot.infra.db.database import Database
from bot.infra.db.errors import RowUnreadable
from bot.orders.repository import OrderRepository
from bot.recipients.model import SavedRecipient
from bot.recipients.repository import RecipientRepository
from bot.settlement.model import Quote
from bot.support.lookup_model import OrderFilter
from bot.support.lookup_repository import LookupRepository
from tests.checkout.builders import a_draft
from tests.orders.builders import an_order
from tests.orders.test_sealed_payments import execute
from tests.settlement.builders import BCA
from tests.times import NOW

DRAFT_CHANGES = {
    "method": "method = replace(method, 'BANK BCA', 'BANK BRI')",
    "method_malformed": "method = '{'",
    "method_of_another_shape": "method = '[]'",
    "number_put_back": "number = holder",
    "amount": "amount = replace(amount, '250000', '950000')",
    "quote": "quote = replace(quote, '1666', '9666')",
    "quote_malformed": "quote = 'NaN'",
    "channel": "channel = 'bsc'",
    "revision": "revision = revision + 1",
    "user_id": "user_id = 6666",
    "seal_taken_away": "payout_seal = NULL",
    "seal_emptied": "payout_seal = ''",
    "unknown_question": "step = 'money'",
}
RECIPIENT_CHANGES = {
    "method": "method = replace(method, 'BANK BCA', 'BANK BRI')",
    "method_malformed": "method = '{'",
    "user_id": "user_id = 6666",
    "seal_taken_away": "payout_seal = NULL",
}
LATER = NOW.replace(year=2027)


def reviewed(draft_id: str = "d1", **changes: Any) -> OrderDraft:
    """Return a draft at its review."""
    known: dict[str, Any] = {
        "step": Step.REVIEW,
        "method": BCA,
        "number": "8620123456",
        "holder": "SARI DEWI",
        "holder_asked": True,
        "amount": Amount("IDR", 250_000),
        "quote": Quote(Decimal("1666666666.6600"), NOW, source="cache"),
    }
    return a_draft(draft_id, **{**known, **changes})


def saved(recipient_id: str = "r1", **changes: Any) -> SavedRecipient:
    """Return a saved recipient of Emma at BCA."""
    known: dict[str, Any] = {"user_id": 1001, "method": BCA, "number": "8620123456", "label": "Ibu"}
    return SavedRecipient(id=recipient_id, **{**known, "created_at": NOW, "last_used_at": NOW, **changes})


async def keep(store: Database, *kept: OrderDraft | SavedRecipient) -> None:
    async with store.transaction() as tx:
        for each in kept:
            if isinstance(each, OrderDraft):
                assert await DraftRepository(tx).add(each)
            else:
                await RecipientRepository(tx).save(each)


@pytest.mark.parametrize("column", DRAFT_CHANGES)
async def test_a_draft_that_was_changed_since_its_review_is_set_aside_alone(store: Database, column: str) -> None:
    await keep(store, reviewed("BAD"), reviewed("GOOD", chat_id=1002))
    await execute(store, f"UPDATE drafts SET {DRAFT_CHANGES[column]} WHERE id = 'BAD'")  # noqa: S608
    async with store.reading() as tx:
        for read in (DraftRepository(tx).get("BAD"), DraftRepository(tx).open_of(1001)):
            with pytest.raises(RowUnreadable) as caught:
                await read
            assert caught.value.table == "drafts"
        assert await DraftRepository(tx).unfinished_of(6666) is None
        assert await DraftRepository(tx).open_of(1002) == reviewed("GOOD", chat_id=1002)
        expired = await DraftRepository(tx).expired(LATER)
        assert set(expired) == {DraftOfChat(id="BAD", chat_id=1001), DraftOfChat(id="GOOD", chat_id=1002)}
    ((row, error),) = store._vault.unreadable.items()
    assert (row, error.is_unknown) == ("drafts BAD", column == "unknown_question")


async def test_answers_of_an_earlier_revision_cannot_be_put_back(store: Database) -> None:
    await keep(store, reviewed(number="1111"))
    async with store._writer.connect() as connection:
        before = dict((await connection.execute(text("SELECT number, payout_seal FROM drafts"))).mappings().one())
    async with store.transaction() as tx:
        assert await DraftRepository(tx).save(reviewed(number="2222")) is not None
    async with store._writer.begin() as connection:
        put_back = text("UPDATE drafts SET number = :number, payout_seal = :payout_seal")
        await connection.execute(put_back, before)
    async with store.reading() as tx:
        with pytest.raises(RowUnreadable):
            await DraftRepository(tx).get("d1")


async def test_a_draft_without_answers_needs_no_seal_and_each_saving_seals_what_is_there(store: Database) -> None:
    draft = a_draft()
    await keep(store, draft)
    async with store._writer.connect() as connection:
        assert (await connection.execute(text("SELECT payout_seal FROM drafts"))).scalar_one() is None
    for changes in ({"method": BCA}, {"number": "8620123456"}, {"amount": Amount("SAT", 25_000)}, {"method": None}):
        async with store.transaction() as tx:
            after = await DraftRepository(tx).save(replace(draft, **changes))
        assert after is not None
        draft = after
        async with store.reading() as tx:
            assert await DraftRepository(tx).get("d1") == draft


@pytest.mark.parametrize("column", RECIPIENT_CHANGES)
async def test_a_recipient_that_was_changed_is_never_offered(store: Database, column: str) -> None:
    await keep(store, saved("BAD"), saved("GOOD", number="1111"))
    await execute(store, f"UPDATE recipients SET {RECIPIENT_CHANGES[column]} WHERE id = 'BAD'")  # noqa: S608
    async with store.reading() as tx:
        assert await RecipientRepository(tx).find_by_user(6666) == ()
        assert await RecipientRepository(tx).find_by_user(1001) == (saved("GOOD", number="1111"),)
        with pytest.raises(RowUnreadable) as caught:
            await RecipientRepository(tx).get("BAD")
    assert caught.value.table == "recipients"
    assert store.unreadable_rows() == {"recipients BAD"}


async def test_what_was_sealed_for_another_recipient_is_refused(store: Database) -> None:
    await keep(store, saved("r1"), saved("r2", method=replace(BCA, name="BANK BRI")))
    columns = ("method", "payout_seal")
    values = ", ".join(f"{name} = (SELECT {name} FROM recipients WHERE id = 'r2')" for name in columns)  # noqa: S608
    await execute(store, f"UPDATE recipients SET {values} WHERE id = 'r1'")  # noqa: S608
    async with store.reading() as tx:
        assert [each.id for each in await RecipientRepository(tx).find_by_user(1001)] == ["r2"]


MALFORMED_ORDERS = {
    "method": "method = '{'",
    "deposit": "deposit = '{'",
    "given": "requested_amount = '{'",
    "given_of_another_shape": "requested_amount = '[]'",
    "phase": "phase = 'lost'",
    "step": "step = 77",
    "hold": "hold_reason = 'lost'",
}


VALUES_OF_A_LATER_VERSION = {"given_of_another_shape", "phase", "step", "hold"}


@pytest.mark.parametrize("column", MALFORMED_ORDERS)
async def test_a_malformed_order_keeps_no_other_from_being_read(store: Database, column: str) -> None:
    bad, good = (an_order(name, next_poll_at=NOW, expires_at=NOW, service_id=name) for name in ("BAD", "GOOD"))
    async with store.transaction() as tx:
        assert await OrderRepository(tx).add(bad)
        assert await OrderRepository(tx).add(good)
    await execute(store, f"UPDATE orders SET {MALFORMED_ORDERS[column]} WHERE reference = 'BAD'")  # noqa: S608
    async with store.reading() as tx:
        due = await OrderRepository(tx).due(LATER, is_paid=False)
        viewed = await OrderRepository(tx).due_if_viewed(["BAD", "GOOD"], [], LATER, LATER, 10)
        assert (
            {order.reference for order in due} - {"BAD"} == {order.reference for order in viewed} - {"BAD"} == {"GOOD"}
        )
        assert await OrderRepository(tx).of_user(1001) == (good,)
        assert await OrderRepository(tx).by_service_id(["BAD", "GOOD"]) == {"GOOD": good}
        assert await LookupRepository(tx).find_orders(OrderFilter(parts=("GOOD",)), limit=5, offset=0) == (good,)
        await LookupRepository(tx).find_used_methods()
        with pytest.raises(RowUnreadable) as caught:
            await OrderRepository(tx).get("BAD")
        assert caught.value.table == "orders"
    ((row, error),) = store._vault.unreadable.items()
    assert (row, error.is_unknown) == ("orders BAD", column in VALUES_OF_A_LATER_VERSION)

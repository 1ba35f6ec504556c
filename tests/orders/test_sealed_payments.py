"""Someone who can write to the database can't redirect a payment: a changed invoice or deposit isn't shown."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import text

from bot.infra.db.columns import blank_personal_columns
from bot.infra.db.database import Database
from bot.infra.db.errors import RowUnreadable
from bot.infra.db.vault import Vault
from bot.orders.order import Order, Phase
from bot.orders.repository import OrderRepository
from bot.orders.tables import orders
from tests.infra.keys import KEY, OLDER_KEY
from tests.infra.test_key_rotation import rotate_all
from tests.orders.builders import an_order
from tests.orders.payers import LINK, PAGE
from tests.settlement.builders import a_deposit
from tests.times import NOW

SAFE = a_deposit("cbbtc", channel="base", token_address="0xcbB7")
CHANGES = {
    "method": """UPDATE orders SET method = replace(method, 'BANK BCA', 'BANK BRI')""",
    "bolt11": "UPDATE orders SET bolt11 = 'lnbc of a thief'",
    "deposit": "UPDATE orders SET deposit = replace(deposit, '0x5290', '0x6666')",
    "deposit_put_in": """UPDATE orders SET deposit = '{"to_address":"0x6666"}' WHERE deposit IS NULL""",
    "channel": "UPDATE orders SET channel = 'bsc'",
    "sats": "UPDATE orders SET sats = sats * 10",
    "user_id": "UPDATE orders SET user_id = 6666",
    "chat_id": "UPDATE orders SET chat_id = 6666",
    "page_token": "UPDATE orders SET page_token = 'token of a thief'",
    "payer_hash": "UPDATE orders SET payer_hash = 'hash of a thief'",
    "origin": "UPDATE orders SET origin = 'link of a thief'",
    "seal_taken_away": "UPDATE orders SET payment_seal = NULL",
    "seal_emptied": "UPDATE orders SET payment_seal = ''",
}
COPIED = ("payment_seal", "method", "channel", "sats", "bolt11", "deposit")


def shown(reference: str, **changes: Any) -> Order:
    """Return an order whose invoice its user has seen."""
    known = {
        "phase": Phase.OPEN,
        "sats": 15_000,
        "bolt11": f"lnbc of {reference}",
        "page_token": f"page of {reference}",
        "next_poll_at": NOW,
    }
    return an_order(reference, **{**known, **changes})


def by_deposit(reference: str, **changes: Any) -> Order:
    """Return an order with a deposit."""
    return shown(reference, **{"channel": "base", "bolt11": None, "deposit": SAFE, **changes})


async def keep(store: Database, *kept: Order) -> None:
    async with store.transaction() as tx:
        for order in kept:
            assert await OrderRepository(tx).add(order)


async def execute(store: Database, *statements: str) -> None:
    """Change a row, as someone can who has access to the database but no key."""
    async with store._writer.begin() as connection:
        for statement in statements:
            await connection.execute(text(statement))


@pytest.mark.parametrize("column", CHANGES)
async def test_an_order_that_is_paid_elsewhere_than_it_was_written_is_set_aside(store: Database, column: str) -> None:
    bad = by_deposit("BAD") if column == "deposit" else shown("BAD")
    await keep(store, bad, shown("GOOD"))
    condition = " AND " if "WHERE" in CHANGES[column] else " WHERE "
    await execute(store, f"{CHANGES[column]}{condition}reference = 'BAD'")
    async with store.reading() as tx:
        with pytest.raises(RowUnreadable) as caught:
            await OrderRepository(tx).get("BAD")
        assert caught.value.table == "orders"
        assert await OrderRepository(tx).get_if_readable("BAD") is None
        assert await OrderRepository(tx).by_page_token(["page of BAD", "token of a thief"]) == {}
        assert await OrderRepository(tx).of_user(6666) == ()
        assert await OrderRepository(tx).of_user(1001) == (shown("GOOD"),)
        assert await OrderRepository(tx).get("GOOD") == shown("GOOD")
    assert store.unreadable_rows() == {"orders BAD"}


async def test_what_is_followed_without_being_opened_holds_nothing_to_pay_with(store: Database) -> None:
    await keep(store, shown("R1"), by_deposit("R2"))
    async with store.reading() as tx:
        due = await OrderRepository(tx).due(NOW + timedelta(seconds=1), is_paid=False)
    assert {order.reference: (order.bolt11, order.deposit, order.number) for order in due} == {
        "R1": (None, None, ""),
        "R2": (None, None, ""),
    }


@pytest.mark.parametrize("column", ["payment_seal", "all"])
async def test_what_was_sealed_for_another_order_is_refused(store: Database, column: str) -> None:
    await keep(store, shown("R1"), shown("R2"), shown("R3"))
    copied = COPIED if column == "all" else (column,)
    values = ", ".join(f"{name} = (SELECT {name} FROM orders WHERE reference = 'R2')" for name in copied)  # noqa: S608
    await execute(store, f"UPDATE orders SET {values} WHERE reference = 'R1'")  # noqa: S608
    async with store.reading() as tx:
        assert [order.reference for order in await OrderRepository(tx).of_user(1001)] == ["R3", "R2"]


@pytest.mark.parametrize("changes", [{"payer": PAGE}, {"origin": LINK}], ids=["payer_hash", "origin"])
async def test_what_says_whose_an_order_is_and_what_it_hides_cannot_be_taken_away(
    store: Database, changes: dict[str, Any]
) -> None:
    await keep(store, shown("R1", **changes))
    async with store.reading() as tx:
        assert await OrderRepository(tx).get("R1") == shown("R1", **changes)
    await execute(store, "UPDATE orders SET payer_hash = NULL, origin = NULL")
    async with store.reading() as tx:
        assert await OrderRepository(tx).get_if_readable("R1") is None


async def test_each_saving_seals_what_is_there_from_then_on(store: Database) -> None:
    order = an_order("R1")
    await keep(store, order)
    for changes in ({"bolt11": "lnbc1", "sats": 7}, {"page_token": "a page"}, {"phase": Phase.DONE}):
        async with store.transaction() as tx:
            saved = await OrderRepository(tx).save(replace(order, **changes))
        assert saved is not None
        order = saved
        async with store.reading() as tx:
            assert await OrderRepository(tx).get("R1") == order


async def test_a_forgotten_order_opens_without_a_seal_and_can_be_saved(store: Database) -> None:
    await keep(store, shown("R1"))
    async with store._writer.begin() as connection:
        await connection.execute(orders.update().values(**blank_personal_columns(orders)))
        assert (await connection.execute(text("SELECT payment_seal FROM orders"))).scalar_one() is None
    async with store.transaction() as tx:
        order = await OrderRepository(tx).get("R1")
        assert order is not None
        assert await OrderRepository(tx).save(order) is not None
    async with store.reading() as tx:
        assert (await OrderRepository(tx).get("R1")).bolt11 is None  # type: ignore[union-attr]


async def test_a_change_of_keys_keeps_the_seals(database: str) -> None:
    old, both, new = (Database(database, Vault(keys)) for keys in ([OLDER_KEY], [KEY, OLDER_KEY], [KEY]))
    await old.register_first_key()
    # Only the payment of the second order is sealed.
    await keep(old, shown("R1"), by_deposit("R2", number="", holder=None))
    await both.register_first_key()
    assert await rotate_all(both) == {"orders": 2}
    assert await both.finish_rotation() == 0
    async with new.reading() as tx:
        assert await OrderRepository(tx).get("R1") == shown("R1")
        assert (await OrderRepository(tx).get("R2")).deposit == SAFE  # type: ignore[union-attr]
    for each in (old, both, new):
        await each.close()

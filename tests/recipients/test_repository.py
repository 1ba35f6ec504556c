"""Saved recipients on both databases: stored once, deleted when there are too many, and never shown to other users."""

from dataclasses import replace
from datetime import timedelta

from bot.infra.db.database import Database
from bot.orders.order import Order
from bot.recipients.model import Recipient, SavedRecipient
from bot.recipients.service import MAX_UNNAMED, RecipientService, save_recipient
from bot.users.model import User
from tests.orders.builders import an_order
from tests.times import NOW, SECOND

EMMA, SARI = 1001, 1002


async def has_ordered(store: Database, *orders: Order) -> tuple[SavedRecipient, ...]:
    """Return Emma's saved recipients after these orders."""
    for order in orders:
        async with store.transaction() as tx:
            recipient = Recipient(order.method, order.number, order.holder)
            await save_recipient(tx, order.user_id, recipient, order.created_at)
    return await RecipientService(store).list_all(EMMA)


async def test_the_same_number_at_the_same_destination_is_one_recipient(store: Database) -> None:
    first = an_order()
    kept = await has_ordered(store, first, replace(first, created_at=NOW + SECOND), replace(first, created_at=NOW))
    assert [(each.number, each.holder, each.label) for each in kept] == [("8620123456", "SARI DEWI", None)]
    assert (kept[0].created_at, kept[0].last_used_at) == (NOW, NOW + SECOND)


async def test_of_many_the_longest_unused_go_but_never_one_with_a_name(store: Database) -> None:
    known = RecipientService(store)
    oldest = (await has_ordered(store, an_order(number="named")))[0]
    await known.rename(User(id=EMMA, created_at=NOW), oldest.id, "Ibu")
    orders = [an_order(number=f"{place}", created_at=NOW + place * SECOND) for place in range(1, MAX_UNNAMED + 3)]
    kept = await has_ordered(store, *orders)
    assert [each.number for each in kept] == [*(order.number for order in reversed(orders[2:])), "named"]
    # An update of a saved recipient deletes no other.
    assert len(await has_ordered(store, replace(orders[5], created_at=NOW + timedelta(days=1)))) == MAX_UNNAMED + 1


async def test_a_name_a_holder_and_the_end_are_the_owners_alone(store: Database) -> None:
    known = RecipientService(store)
    kept = (await has_ordered(store, an_order()))[0]
    emma, sari = User(id=EMMA, created_at=NOW), User(id=SARI, created_at=NOW)
    assert await known.get(SARI, kept.id) is None
    assert await known.rename(sari, kept.id, "Mine") is None
    assert await known.set_holder(sari, kept.id, "SARI") is None
    assert await known.delete(SARI, kept.id) is False
    assert await known.list_all(EMMA) == (kept,)
    assert await known.rename(emma, kept.id, "Ibu") == replace(kept, label="Ibu")
    assert await known.set_holder(emma, kept.id, None) == replace(kept, label="Ibu", holder=None)
    assert await known.delete(EMMA, kept.id) is True
    assert await known.delete(EMMA, kept.id) is False
    assert await known.rename(emma, kept.id, "Ibu") is None
    assert await known.list_all(EMMA) == ()

"""Saved recipients on both databases: stored once, deleted when there are too many, and never shown to other users."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.infra.db.database import Database
from bot.orders.order import Order
from bot.recipients.model import Recipient, SavedRecipient
from bot.recipients.repository import RecipientRepository
from bot.recipients.service import MAX_NAMED, MAX_UNNAMED, RecipientService, TooManyNamed, save_recipient
from bot.users.model import User
from bot.users.repository import UserRepository
from tests.orders.builders import an_order
from tests.settlement.builders import BCA, OVO
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


async def test_another_number_destination_or_name_of_it_is_another_recipient(store: Database) -> None:
    renamed = replace(BCA, name="BANK CENTRAL ASIA")
    others = (an_order(number="1"), an_order(method=OVO), an_order(method=renamed), an_order(user_id=SARI))
    assert len(await has_ordered(store, an_order(), *others)) == 4


async def test_a_name_is_kept_where_none_is_given_and_replaced_where_one_is(store: Database) -> None:
    kept = await has_ordered(store, an_order(), an_order(holder=None))
    assert kept[0].holder == "SARI DEWI"
    kept = await has_ordered(store, an_order(holder="SARI WIJAYA", method=replace(BCA, cap=1)))
    assert (kept[0].holder, kept[0].method.cap) == ("SARI WIJAYA", 1)


async def test_the_last_used_stands_first(store: Database) -> None:
    first, second = an_order(number="1"), an_order(number="2", created_at=NOW + SECOND)
    assert [each.number for each in await has_ordered(store, first, second)] == ["2", "1"]
    kept = await has_ordered(store, replace(first, created_at=NOW + 2 * SECOND))
    assert [each.number for each in kept] == ["1", "2"]


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


async def test_the_question_is_answered_together_with_its_change(store: Database) -> None:
    known = RecipientService(store)
    kept = (await has_ordered(store, an_order()))[0]
    emma = User(id=EMMA, created_at=NOW, answered_update_id=7)
    await known.rename(emma, kept.id, "Ibu")
    async with store.reading() as tx:
        assert await UserRepository(tx).get(EMMA) == emma


async def test_more_names_than_are_kept_are_refused_and_nothing_is_saved(store: Database) -> None:
    known = RecipientService(store)
    emma = User(id=EMMA, created_at=NOW)
    async with store.transaction() as tx:
        for place in range(MAX_NAMED + 1):
            label = f"name {place}" if place else None
            await RecipientRepository(tx).save(
                SavedRecipient(
                    id=f"{place:04}",
                    user_id=EMMA,
                    method=BCA,
                    number=f"{place}",
                    label=label,
                    created_at=NOW,
                    last_used_at=NOW,
                )
            )
    with pytest.raises(TooManyNamed):
        await known.rename(emma, "0000", "one more")
    async with store.reading() as tx:
        assert await UserRepository(tx).get(EMMA) is None
    assert await known.rename(emma, "0001", "another") is not None
    assert await known.rename(emma, "0002", None) is not None
    assert await known.rename(emma, "0000", "one more") is not None

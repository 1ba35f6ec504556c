"""Both databases find orders by fragments and by facts, and users by their username."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bot.infra.db.database import Database
from bot.orders.order import Phase
from bot.orders.repository import OrderRepository
from bot.settlement.model import OrderStep, PayoutMethod
from bot.support.lookup_model import OrderCounts, OrderFilter
from bot.support.lookup_repository import LookupRepository
from bot.users.model import User
from bot.users.repository import UserRepository
from tests.orders.builders import an_order
from tests.settlement.builders import BCA, OVO
from tests.times import NOW

DAY = timedelta(days=1)
OLD_BCA = PayoutMethod("014", "BCA AS IT WAS", "bank", None)
ORDERS = (
    an_order("R2345AB", service_id="cmb4fqx0001abcd", idr=250_000, sats=15_001),
    an_order("XQ4FQ7K", method=OVO, created_at=NOW + DAY, expected_idr=99_000, idr=100_000),
    an_order("4FQZZZZ", created_at=NOW + 2 * DAY, service_id="CMZZZ9", method=OLD_BCA, expected_sats=777),
    an_order("T777777", created_at=NOW + 3 * DAY, idr=300_000, sats=15_001, expected_idr=250_001),
)


async def keep(store: Database) -> None:
    async with store.transaction() as tx:
        for order in ORDERS:
            assert await OrderRepository(tx).add(order)


@pytest.mark.parametrize(
    ("fragment", "found"),
    [
        ("4fq", ["4FQZZZZ", "XQ4FQ7K", "R2345AB"]),
        ("4FQ7", ["XQ4FQ7K"]),
        ("ABCD", ["R2345AB"]),
        ("cmzzz9", ["4FQZZZZ"]),
        ("R2345AB", ["R2345AB"]),
        ("zzzzzzz", []),
        ("4F%", []),
        ("4F_7", []),
        ("' OR 1=1", []),
    ],
)
async def test_a_fragment_of_either_name_finds_the_order(store: Database, fragment: str, found: list[str]) -> None:
    await keep(store)
    async with store.reading() as tx:
        orders = await LookupRepository(tx).find_orders(OrderFilter(parts=(fragment,)), limit=10, offset=0)
    assert [order.reference for order in orders] == found


async def test_what_is_found_comes_in_pages(store: Database) -> None:
    await keep(store)
    async with store.reading() as tx:
        parts = OrderFilter(parts=("4fq",))
        pages = [await LookupRepository(tx).find_orders(parts, limit=2, offset=offset) for offset in (0, 2, 4)]
        others = [
            await LookupRepository(tx).find_orders(OrderFilter(code="014"), limit=2, offset=offset) for offset in (0, 2)
        ]
    assert [[order.reference for order in page] for page in pages] == [["4FQZZZZ", "XQ4FQ7K"], ["R2345AB"], []]
    assert [[order.reference for order in page] for page in others] == [["T777777", "4FQZZZZ"], ["R2345AB"]]
    assert pages[1][0] == ORDERS[0], "whole, with what is sealed in it"


@pytest.mark.parametrize(
    ("sought", "found"),
    [
        ({"code": "014"}, ["T777777", "4FQZZZZ", "R2345AB"]),
        ({"code": "ovo", "idr": (100_000,)}, ["XQ4FQ7K"]),
        ({"code": "014", "idr": (100_000,)}, []),
        ({"idr": (250_000,)}, ["4FQZZZZ", "R2345AB"]),
        ({"idr": (99_000, 300_000)}, ["T777777", "XQ4FQ7K"]),
        ({"sats": (777,), "idr": (300_000,)}, ["T777777", "4FQZZZZ"]),
        ({"sats": (15_001,)}, ["T777777", "R2345AB"]),
        ({"since": NOW + DAY, "until": NOW + 3 * DAY}, ["4FQZZZZ", "XQ4FQ7K"]),
        ({"since": NOW + DAY, "until": NOW + 3 * DAY, "code": "ovo", "idr": (99_000,)}, ["XQ4FQ7K"]),
        ({"until": NOW}, []),
    ],
)
async def test_orders_are_found_by_destination_sum_and_time(
    store: Database, sought: dict[str, Any], found: list[str]
) -> None:
    await keep(store)
    async with store.reading() as tx:
        orders = await LookupRepository(tx).find_orders(OrderFilter(**sought), limit=10, offset=0)
    assert [order.reference for order in orders] == found


async def test_where_orders_went_is_named_once_a_code(store: Database) -> None:
    await keep(store)
    async with store.reading() as tx:
        methods = await LookupRepository(tx).find_used_methods()
    assert [method.code for method in methods] == ["014", "ovo"]
    assert methods[1] == OVO
    assert methods[0] in {BCA, OLD_BCA}


async def test_people_are_found_by_their_name_the_last_seen_first(store: Database) -> None:
    people = [
        User(id=1001, created_at=NOW, username="emma", last_seen_at=NOW, phrase="kopi tubruk"),
        User(id=1002, created_at=NOW, username="emma", last_seen_at=NOW + DAY),
        User(id=1003, created_at=NOW, username="emmanuel", last_seen_at=NOW + DAY),
        User(id=1004, created_at=NOW),
    ]
    async with store.transaction() as tx:
        for user in people:
            await UserRepository(tx).save(user)
    async with store.reading() as tx:
        assert await UserRepository(tx).find_by_username("emma") == (people[1], people[0])
        assert await UserRepository(tx).find_by_username("") == ()


async def test_a_tally_counts_one_user_alone(store: Database) -> None:
    all_facts: tuple[dict[str, Any], ...] = (
        {"phase": Phase.OPEN},
        {"phase": Phase.OPEN, "paid_at": NOW, "step": OrderStep.PAID, "state": "LN_INVOICE_PAID"},
        {"phase": Phase.DONE, "paid_at": NOW, "step": OrderStep.SENT, "state": "COMPLETED"},
        {"phase": Phase.DONE, "paid_at": NOW, "step": OrderStep.PAID, "state": "FAILED"},
        {"phase": Phase.DONE, "state": "FAILED"},
        {"phase": Phase.OPEN, "user_id": 1002},
    )
    async with store.transaction() as tx:
        for number, facts in enumerate(all_facts):
            assert await OrderRepository(tx).add(an_order(f"R{number}", **facts))
    async with store.reading() as tx:
        assert await LookupRepository(tx).count_orders(1001) == OrderCounts(orders=5, in_progress=2, paid=3, failed=1)
        assert await LookupRepository(tx).count_orders(1003) == OrderCounts()


@pytest.mark.parametrize(
    ("sought", "found"),
    [
        (OrderFilter(parts=("7890",)), ["T777777", "4FQZZZZ", "R2345AB"]),
        (OrderFilter(parts=("1234567890",)), ["T777777", "4FQZZZZ", "R2345AB"]),
        (OrderFilter(parts=("789",)), []),
        (OrderFilter(code="014", parts=("4555",)), []),
        (OrderFilter(parts=("4555",)), ["XQ4FQ7K"]),
        (OrderFilter(parts=("7777",)), ["T777777"]),
        (OrderFilter(parts=("4fq7",)), ["XQ4FQ7K"]),
        (OrderFilter(parts=("CMZZ",), idr=(100_000,)), ["4FQZZZZ", "XQ4FQ7K"]),
        (OrderFilter(parts=("7890",), since=NOW + 3 * DAY), ["T777777"]),
        (OrderFilter(parts=("nothing",)), []),
    ],
)
async def test_a_part_is_of_a_reference_an_id_or_the_end_of_a_number(
    store: Database, sought: OrderFilter, found: list[str]
) -> None:
    async with store.transaction() as tx:
        for order in ORDERS:
            number = "0812334555" if order.method == OVO else "1234567890"
            assert await OrderRepository(tx).add(replace(order, number=number))
    async with store.reading() as tx:
        orders = await LookupRepository(tx).find_orders(sought, limit=10, offset=0)
    assert [order.reference for order in orders] == found


async def test_only_the_newest_numbers_are_decrypted(store: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    await keep(store)
    monkeypatch.setattr("bot.support.lookup_repository.MAX_SCANNED", 1)
    async with store.reading() as tx:
        orders = await LookupRepository(tx).find_orders(OrderFilter(parts=(ORDERS[0].number[-4:],)), limit=10, offset=0)
    assert [order.reference for order in orders] == ["T777777"]


async def test_a_part_of_a_username_finds_its_users_the_last_seen_first(store: Database) -> None:
    async with store.transaction() as tx:
        for number, name in enumerate(("dewi_kopi", "kopi_tubruk", "sari", None, "kopi%"), 1):
            user = User(id=number, created_at=NOW, last_seen_at=NOW + number * DAY, username=name)
            await UserRepository(tx).save(user)
    async with store.reading() as tx:
        repository = LookupRepository(tx)
        assert await repository.find_users_by_part("Kopi", 10) == (5, 2, 1)
        assert await repository.find_users_by_part("kopi", 2) == (5, 2)
        assert await repository.find_users_by_part("kopi_t", 10) == (2,)
        assert await repository.find_users_by_part("%", 10) == ()

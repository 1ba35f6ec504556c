"""One person's limits: each refusal says when it will be possible again, and nothing that was typed is lost."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
import pytest_asyncio

from tests.e2e.people import Newcomer, newcomer, order_of
from tests.e2e.world import Json, World, words_of, world

pytestmark = pytest.mark.asyncio(loop_scope="module")

LIMITS = {"MAX_OPEN_ORDERS": "1", "MAX_ORDERS_PER_HOUR": "2", "MAX_IDR_PER_DAY": "1200000"}
JAKARTA = ZoneInfo("Asia/Jakarta")
FLOOD = "That was a lot at once"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def kirim(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    async with world(tmp_path_factory.mktemp("limits"), **LIMITS) as made:
        yield made


async def test_one_order_too_many_waits_with_its_draft_until_it_is_possible(kirim: World) -> None:
    emma = await newcomer(kirim)
    first = await ordered(kirim, emma, "Rp50,000")
    await emma.says("/send")
    foretold = await emma.sees("You have reached a limit: the next order is possible from")
    assert "Where should it go" in words_of(foretold)
    await goes_to_amount(emma)
    await emma.taps("Rp50,000")
    refused = await emma.sees("as many unpaid orders as one can have: 1")
    assert_is_told(words_of(refused), in_=timedelta(hours=1))
    assert [label.split()[-1] for label in await emma.labels_of(refused)] == ["again", "Back", "Cancel"]
    await kirim.service.pays(first)
    await emma.sees("Payment received at")
    await emma.taps("Try again")
    await emma.sees("Please check")
    await emma.taps("Confirm")
    await emma.sees("Waiting for your payment, until")
    await emma.speaks("id")
    await emma.says("/send")
    seen = await emma.sees("Batas pesanan sudah tercapai: pesanan berikutnya bisa dibuat mulai")
    assert_is_told(words_of(seen), in_=timedelta(hours=1))


async def test_the_day_is_told_with_what_would_be_fine_now_and_that_goes_through(kirim: World) -> None:
    sari = await newcomer(kirim)
    await kirim.service.pays(await ordered(kirim, sari, "Rp1,000,000"))
    await sari.sees("Payment received at", anywhere=True)
    await sari.says("/send")
    await sari.sees("Where should it go")
    await goes_to_amount(sari)
    await sari.says("500rb")
    told = await sari.sees("Right now up to Rp200,000 is possible, and this amount from")
    assert_is_told(words_of(told), in_=timedelta(days=1), with_day=True)
    await sari.says("2jt")
    await sari.sees("Right now the largest amount is Rp200,000")
    await sari.taps("Rp200,000")
    await sari.sees("Please check")
    await sari.taps("Confirm")
    await sari.sees("Waiting for your payment, until")


async def test_a_flood_is_told_once_and_is_none_where_the_bot_was_away(kirim: World) -> None:
    await kirim.kill_bot()
    sabar, rusuh, tenang = await newcomer(kirim), await newcomer(kirim), await newcomer(kirim)
    for _ in range(7):
        await sabar.says("/status")
    await asyncio.sleep(2.1)  # Telegram's times are whole seconds
    await kirim.start_bot(MAX_MESSAGES_PER_MINUTE="4")
    for _ in range(9):
        await rusuh.says("/start")
    await rusuh.sees(rf"{FLOOD}.* Please go on in \d+ seconds", anywhere=True)
    assert "go on in" in str(await rusuh.taps("Send rupiah"))
    await tenang.says("/status")
    await tenang.sees("No orders are under way")
    await sabar.sees_times(7, "No orders are under way")
    assert [await person.count(FLOOD) for person in (sabar, rusuh, tenang)] == [0, 1, 0]
    assert await rusuh.count("Kirim sends rupiah from this chat") == 4


async def ordered(world: World, person: Newcomer, amount: str) -> Json:
    """An order with its invoice in front of the person, as the service knows it."""
    await person.says("/send")
    await person.sees("Where should it go")
    await goes_to_amount(person)
    await person.taps(amount)
    await person.sees("Please check")
    await person.taps("Confirm")
    await person.sees("Waiting for your payment, until")
    return await order_of(world, person)


async def goes_to_amount(person: Newcomer) -> None:
    """By buttons; who has sent before finds the recipient as the first of them."""
    await person.taps("BCA")
    seen = await person.sees("Which account number|How much")
    if "How much" not in words_of(seen):
        await person.says("1234567890")
        await person.sees("Whose account")
        await person.taps("Skip")
        await person.sees("How much")


def assert_is_told(text: str, *, in_: timedelta, with_day: bool = False) -> None:
    """The text names the moment that comes then, to the minute or two, in the person's zone."""
    around = [(datetime.now(UTC) + in_ + timedelta(minutes=n)).astimezone(JAKARTA) for n in range(-2, 2)]
    assert any(f"{at:%H:%M} WIB" in text.replace(".", ":") for at in around), text
    if with_day:
        assert any(f"{at.day} {at:%b %Y}" in text for at in around), text

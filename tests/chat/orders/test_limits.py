"""A user's limits: each rejection says when the user can order again, and the draft is kept."""

import asyncio
import re
from collections.abc import AsyncIterator
from datetime import datetime, timedelta

import pytest
import pytest_asyncio

from tests.chat.system import running_in_process
from tests.e2e.chat_user import ChatUser, Json, text_of
from tests.e2e.local_times import minutes_between, now_in_jakarta
from tests.e2e.new_users import new_user
from tests.e2e.orders.steps import DESTINATION_QUESTION, order_of
from tests.e2e.system import System
from tests.texts import label, like, says

pytestmark = pytest.mark.asyncio(loop_scope="module")

LIMITS = {"MAX_OPEN_ORDERS": "1", "MAX_ORDERS_PER_HOUR": "2", "MAX_IDR_PER_DAY": "1200000"}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def kirim(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[System]:
    async with running_in_process(tmp_path_factory.mktemp("limits"), **LIMITS) as made:
        yield made


async def test_one_order_too_many_waits_with_its_draft_until_it_is_possible(kirim: System) -> None:
    emma, since = await new_user(kirim), now_in_jakarta()
    first = await ordered(kirim, emma, "Rp50,000")
    await emma.says("/send")
    warned = await emma.sees(like("checkout.limits.foretold"))
    assert re.search(DESTINATION_QUESTION, text_of(warned))
    await go_to_amount(emma)
    await emma.taps("Rp50,000")
    refused = await emma.sees(like("orders.limits.open", count=1))
    assert_is_told(text_of(refused), since, in_=timedelta(hours=1))
    pay, take = (label(f"orders.button.{name}", amount="Rp50,000") for name in ("pay", "drop_unpaid"))
    ways_on = [label("orders.button.try_again"), label("users.button.back"), label("checkout.button.cancel")]
    assert await emma.labels_of(refused) == [pay, take, *ways_on]
    await emma.taps(pay, message=refused)
    await emma.sees("lnbcrt")
    await a_stranger_drops_nothing(kirim, emma, take)
    _, drop = await emma.button(take)
    await asyncio.gather(*(emma.presses(refused, drop, force=True) for _ in range(2)))
    dropped = await emma.sees(
        f"{like('orders.limits.dropped')}(?s:.*){like('orders.limits.open', count=1)}", anywhere=True
    )
    assert dropped["message_id"] == refused["message_id"]
    assert_is_told(text_of(dropped), since, in_=timedelta(hours=1))
    await emma.sees_times(0, "lnbcrt")
    assert await emma.labels_of(dropped) == ways_on
    await kirim.service.pays(first)  # its wallet still had the invoice
    await emma.sees(like("orders.notification.paid_late"))
    await emma.taps(label("orders.button.try_again"))
    await emma.sees(like("checkout.review.title"))
    await emma.taps(label("checkout.review.confirm"))
    await emma.sees(like("orders.status_message.waiting"))
    await emma.speaks("id")
    await emma.says("/send")
    seen = await emma.sees(like("checkout.limits.foretold", "id"))
    assert_is_told(text_of(seen), since, in_=timedelta(hours=1))


async def a_stranger_drops_nothing(kirim: System, emma: ChatUser, take: str) -> None:
    sari = await new_user(kirim)
    _, drop = await emma.button(take)
    await sari.says("/start")
    welcome = await sari.sees(like("home.start.text"))
    answered = await sari.presses(welcome, drop, force=True)
    assert (answered["text"], answered["show_alert"]) == (label("orders.stale.not_yours"), True)
    assert await emma.count("lnbcrt") == 1


async def ordered(system: System, user: ChatUser, amount: str) -> Json:
    """Place an order, and return it as the service has it."""
    await user.says("/send")
    await user.sees(DESTINATION_QUESTION)
    await go_to_amount(user)
    await user.taps(amount)
    await user.sees(like("checkout.review.title"))
    await user.taps(label("checkout.review.confirm"))
    await user.sees(like("orders.status_message.waiting"))
    return await order_of(system, user)


async def go_to_amount(user: ChatUser) -> None:
    """Go to the amount by buttons. A saved recipient is the first choice."""
    await user.taps("BCA")
    seen = await user.sees(f"{like('checkout.number.ask_bank')}|{like('checkout.amount.ask')}")
    if not says(text_of(seen), "checkout.amount.ask"):
        await user.says("1234567890")
        await user.sees(like("checkout.holder.ask"))
        await user.taps(label("checkout.holder.skip"))
        await user.sees(like("checkout.amount.ask"))


def assert_is_told(text: str, since: datetime, *, in_: timedelta, with_day: bool = False) -> None:
    """Assert that the text names the minute, in the user's time zone, that is `in_` after an action since `since`."""
    possible = minutes_between(since + in_, now_in_jakarta() + in_)
    assert any(f"{at:%H:%M} WIB" in text.replace(".", ":") for at in possible), text
    if with_day:
        assert any(f"{at.day} {at:%b %Y}" in text for at in possible), text

"""Kill -9 while an order is placed: a request never gets two orders or two invoices, and no order is forgotten."""

from collections.abc import AsyncIterator
from functools import partial

import pytest
import pytest_asyncio

from tests.e2e.chat_user import text_of
from tests.e2e.faults import (
    ORDERS,
    calls_of,
    clear_faults,
    confirm_found_order,
    count_posts,
    hold_call,
    hold_service,
    invoices_in,
    kill_and_restart,
)
from tests.e2e.new_users import Sender, new_sender, new_sender_at_review
from tests.e2e.system import System, running_system
from tests.texts import label, like, says
from tests.waiting import found, until

pytestmark = pytest.mark.asyncio(loop_scope="module")

ASKED = like("orders.notification.unresolved")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def lasting(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[System]:
    """Start one system for the other tests. Each has its own users."""
    async with running_system(tmp_path_factory.mktemp("kirim"), RECONCILE_SECONDS="2") as made:
        yield made


@pytest_asyncio.fixture(loop_scope="module")
async def sender(lasting: System) -> Sender:
    """Return a user who only needs to confirm."""
    await clear_faults(lasting)
    return await new_sender_at_review(lasting)


async def is_shown_one_invoice(sender: Sender, *, orders: int = 1) -> None:
    """Check that the invoice and the status message come once, even if the user decided on a second order."""
    await sender.chat.sees(like("orders.status_message.waiting"), anywhere=True)
    shown = await invoices_in(sender.chat)
    made = await sender.orders()
    assert len(shown) == 1
    assert len(made) == orders
    assert shown <= {order["invoiceBolt11"] for order in made}


async def test_an_order_that_was_made_before_the_kill_is_found_and_paid_as_if_nothing_had_been(
    lasting: System, sender: Sender
) -> None:
    asked = await count_posts(lasting)
    async with hold_service(lasting, "delay_after"):
        await sender.chat.taps(label("checkout.review.confirm"), wait=0)
    order = await sender.has_order()
    await kill_and_restart(lasting)
    await confirm_found_order(sender.chat)
    await is_shown_one_invoice(sender)
    await lasting.service.pays(order)
    await sender.chat.sees(like("orders.notification.paid"))
    # A request is counted when it is answered. The delayed one never was.
    assert await count_posts(lasting) == asked


async def test_two_kills_in_a_row_make_no_second_order(lasting: System, sender: Sender) -> None:
    async with hold_service(lasting, "delay_after"):
        await sender.chat.taps(label("checkout.review.confirm"), wait=0)
    await lasting.kill_bot()
    await clear_faults(lasting)
    async with hold_service(lasting, method="GET", path=ORDERS):
        await lasting.start_bot()
    await kill_and_restart(lasting)
    await confirm_found_order(sender.chat)
    await is_shown_one_invoice(sender)


@pytest.mark.parametrize("fault", ["delay", "delay_after"])
async def test_kill_9_while_the_confirmation_is_being_shown_places_one_order(
    lasting: System, sender: Sender, fault: str
) -> None:
    async with hold_call(calls_of(lasting, "editMessageText"), sender.chat, fault):
        await sender.chat.taps(label("checkout.review.confirm"), wait=0)
    # The request is sent beside the call that hangs. Without an order, the user would rightly be asked to try again.
    await sender.has_order()
    await kill_and_restart(lasting)
    # The kill can come before or after the request's answer. The user is asked only about an order without answer.
    seen = await sender.chat.sees(
        f"{like('orders.status_message.waiting')}|{like('orders.notification.recipient_masked')}", anywhere=True
    )
    if says(text_of(seen), "orders.notification.recipient_masked"):
        await confirm_found_order(sender.chat)
    await is_shown_one_invoice(sender)


async def test_kill_9_with_twenty_updates_of_several_users_in_the_queue_loses_none(lasting: System) -> None:
    await clear_faults(lasting)
    senders = [await new_sender(lasting) for _ in range(5)]
    await lasting.telegram_fails("delay", "sendMessage", seconds=300)
    for said in ("/send", "bca", "", "Budi Santoso"):
        for sender in senders:
            await sender.chat.says(said or sender.number)
    await until(lambda: is_all_acknowledged(lasting), what="the receipt of all updates")
    await kill_and_restart(lasting)
    for sender in senders:
        await sender.chat.sees(like("checkout.amount.ask"))
        await found(partial(_told, sender), lambda told: len(told) == 1, what="the questions before, as gone")
        (told,) = await _told(sender)
        assert says(told, "checkout.amount.ask")


async def _told(sender: Sender) -> list[str]:
    return [text_of(each) for each in await sender.chat.messages() if each["from"]["id"] != sender.chat.id]


async def test_after_a_second_try_the_first_order_is_never_shown_even_if_it_is_made_late(
    lasting: System, sender: Sender
) -> None:
    await lasting.service.fails_with("500_before", times=1)
    await sender.chat.taps(label("checkout.review.confirm"), wait=0)
    question = await sender.chat.sees(ASKED, anywhere=True)
    await sender.chat.taps(label("orders.button.try_again"), message=question)
    await is_shown_one_invoice(sender)
    await create_late(sender)
    await kill_and_restart(lasting)
    await sender.chat.says("/status")
    await sender.chat.sees(like("orders.status.title"))
    await is_shown_one_invoice(sender, orders=2)


async def create_late(sender: Sender) -> None:
    """Let the service create the bot's order long after the request."""
    key = sender.system.environment["SERVICE_API_KEY"]
    wish = {
        "idrAmount": 500_000,
        "depositChannel": "lightning",
        "partnerBankCode": "014",
        "partnerBankName": "BANK CENTRAL ASIA",
        "recipientDetails": sender.number,
    }
    answer = await sender.system.control.post(ORDERS, json=wish, headers={"x-api-key": key})
    answer.raise_for_status()


async def is_all_acknowledged(kirim: System) -> bool:
    """Return whether the bot has acknowledged all updates."""
    token = kirim.environment["TELEGRAM_BOT_TOKEN"]
    answer = await kirim.telegram.get(f"/bot{token}/getWebhookInfo")
    pending: int = answer.json()["result"]["pending_update_count"]
    return pending == 0

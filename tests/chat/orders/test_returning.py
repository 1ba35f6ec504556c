"""Who blocked the bot while a payment arrived comes back: all that is in sight is true, and stays so."""

import asyncio
import re

import pytest

from bot.payments.tokens import TOKENS
from tests.chat.payment_requests.test_paying import a_link, an_open_link, confirms
from tests.e2e.bot_database import wait_for_row, wait_until_undeliverable
from tests.e2e.chat_user import ChatUser, Json
from tests.e2e.faults import clear_faults, wait_until_idle
from tests.e2e.new_users import new_user
from tests.e2e.orders.steps import ENDED, complete_order, order_of, tap_to_invoice, tap_to_review
from tests.e2e.system import System
from tests.texts import label, like, text

pytestmark = pytest.mark.asyncio(loop_scope="session")

CHANNELS = ("lightning", "cbbtc")
RECEIPT = like("orders.notification.sent_bank")


async def to_pay(system: System, user: ChatUser, channel: str) -> Json:
    """Order, and return the service's order. The QR code is in sight."""
    if channel == "lightning":
        return (await tap_to_invoice(system, user))[1]
    await tap_to_review(user)
    await user.taps(label("checkout.review.use_way", way=TOKENS[channel].symbol))
    await user.taps(label("checkout.review.confirm_deposit"))
    await user.sees(like("orders.pay.deposit"))
    return await order_of(system, user)


@pytest.mark.parametrize("channel", CHANNELS)
async def test_after_a_block_the_qr_code_goes_and_the_status_goes_on_until_the_receipt(
    shared_system: System, channel: str
) -> None:
    emma = await new_user(shared_system)
    order = await to_pay(shared_system, emma, channel)
    await emma.blocks()
    await shared_system.service.pays(order)
    await wait_until_undeliverable(shared_system, emma)
    await shared_system.service.does("advance", orderId=order["id"])
    await wait_for_row(shared_system, order, step=2)
    await wait_until_idle(shared_system)
    await emma.blocks(blocked=False)
    status = await emma.sees(f"{like('orders.chat.meanwhile')}(?s:.*)⏳ {text('orders.step.converting')}")
    await emma.sees_times(0, like("orders.status_message.waiting"))
    await complete_order(shared_system, order)
    await emma.waits_for(
        lambda message: bool(message.get("photo")) and re.search(RECEIPT, message["caption"]) is not None
    )
    await emma.sees_times(1, ENDED)
    await emma.sees_times(0, f"⏳ {text('orders.step.converting')}")
    current = await emma.finds(status)
    assert current is not None
    assert re.search(ENDED, current["text"])


@pytest.mark.parametrize("channel", CHANNELS)
async def test_an_order_that_was_sent_during_a_block_is_followed_by_its_receipt(
    shared_system: System, channel: str
) -> None:
    emma = await new_user(shared_system)
    order = await to_pay(shared_system, emma, channel)
    await emma.blocks()
    await shared_system.service.pays(order)
    await complete_order(shared_system, order)
    await wait_for_row(shared_system, order, state="COMPLETED")
    await wait_until_undeliverable(shared_system, emma)
    await emma.blocks(blocked=False)
    status = await emma.sees(f"{like('orders.chat.meanwhile')}(?s:.*){ENDED}")
    assert await emma.labels_of(status) == [], "the receipt below has them"
    await emma.waits_for(
        lambda message: bool(message.get("photo")) and re.search(RECEIPT, message["caption"]) is not None, anywhere=True
    )
    await emma.sees_times(0, like("orders.status_message.waiting"))


async def test_an_invoice_that_came_during_a_block_is_shown_as_one_and_goes_with_its_payment(
    shared_system: System,
) -> None:
    emma = await new_user(shared_system)
    await tap_to_review(emma)
    for method in ("sendPhoto", "sendMessage"):
        await shared_system.telegram_fails("429", method, chat_id=emma.chat_id, retry_after=1)
    await emma.taps(label("checkout.review.confirm"))
    order = await order_of(shared_system, emma)
    await emma.blocks()
    await clear_faults(shared_system)
    await wait_until_undeliverable(shared_system, emma)
    await emma.blocks(blocked=False)
    await emma.waits_for(lambda message: bool(message.get("photo")) and "lnbcrt" in message["caption"])
    await shared_system.service.pays(order)
    await emma.sees(like("orders.notification.paid"))
    await emma.sees_times(0, like("orders.status_message.waiting"))


async def test_an_asker_who_blocked_the_bot_reads_on_return_what_has_come_in(shared_system: System) -> None:
    sari, emma = await new_user(shared_system), await new_user(shared_system)
    words = [await a_link(sari), await a_link(sari), await an_open_link(sari)]
    await sari.blocks()
    orders = []
    for word in words[:2]:
        await emma.says(f"/start {word}")
        await emma.sees(like("payment_requests.pay.asker"))
        await confirms(emma)
        orders.append(await order_of(shared_system, emma))
    await asyncio.gather(*(shared_system.service.pays(order) for order in orders))
    await complete_order(shared_system, orders[0])
    await wait_for_row(shared_system, orders[0], state="COMPLETED")
    await wait_for_row(shared_system, orders[1], is_paid=True)
    await wait_until_undeliverable(shared_system, sari)
    await sari.blocks(blocked=False)
    shown = await sari.sees(like("payment_requests.missed"))
    assert shown["text"].count("Rp150,000 → BCA") == 2, "the third wasn't paid"

"""A bot killed at every step of paying a link: the payer has one order and one invoice, and the asker is notified."""

from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from bot.payment_requests.model import PaymentRequest, new_id, new_token
from bot.payment_requests.repository import PaymentRequestRepository
from bot.settlement.model import PayoutMethod
from tests.e2e.bot_database import open_transaction
from tests.e2e.chat_user import ChatUser
from tests.e2e.faults import (
    calls_of,
    clear_faults,
    confirm_found_order,
    hold_call,
    hold_service,
    invoices_in,
    kill_and_restart,
)
from tests.e2e.new_users import Sender, new_sender, new_user
from tests.e2e.system import System
from tests.payment_requests.builders import a_request
from tests.texts import label, like

REVIEW = like("payment_requests.pay.asker")
CONFIRM = label("checkout.review.confirm")


@dataclass
class Link:
    """A link that can be paid once, its asker, and a payer who opens it."""

    request: PaymentRequest
    asker: ChatUser
    payer: Sender

    async def is_opened(self) -> None:
        await self.payer.chat.says(f"/start r_{self.request.token}")


async def new_link(system: System) -> Link:
    """Return a link to an account that only this test pays to."""
    asker, payer = await new_user(system), await new_sender(system)
    await asker.says("/start")
    await asker.sees(like("home.start.text"))
    listed = next(each for each in await system.service.methods() if each["bankCode"] == "014")
    now = datetime.now(UTC)
    request = a_request(
        new_id(),
        user_id=asker.id,
        token=new_token(),
        method=PayoutMethod("014", listed["bankName"], "bank", None),
        number=payer.number,
        created_at=now,
        used_at=now,
    )
    async with open_transaction(system) as tx:
        assert await PaymentRequestRepository(tx).add(request)
    return Link(request, asker, payer)


async def is_paid_once(system: System, link: Link) -> None:
    """Check that the payer has one invoice of one order. Pay it, and check that the asker is notified."""
    await link.payer.chat.sees(like("orders.status_message.waiting"), anywhere=True)
    (order,) = await link.payer.orders()
    assert await invoices_in(link.payer.chat) == {order["invoiceBolt11"]}
    await system.service.pays(order)
    await link.asker.sees(like("payment_requests.paid"))
    await link.payer.chat.sees(like("orders.notification.paid"), anywhere=True)


async def test_kill_9_before_and_after_the_review_is_sent_shows_it(kirim: System) -> None:
    link = await new_link(kirim)
    for fault in ("delay", "delay_after"):
        async with hold_call(calls_of(kirim, "sendMessage"), link.payer.chat, fault):
            await link.is_opened()
        await kill_and_restart(kirim)
        await link.payer.chat.sees(REVIEW)
    await link.payer.chat.taps(CONFIRM)
    await is_paid_once(kirim, link)


@pytest.mark.parametrize("method", ["answerCallbackQuery", "editMessageText", "sendPhoto"])
async def test_kill_9_after_the_confirmation_places_one_order(kirim: System, method: str) -> None:
    link = await new_link(kirim)
    await link.is_opened()
    await link.payer.chat.sees(REVIEW)
    chat = None if method == "answerCallbackQuery" else link.payer.chat
    async with hold_call(calls_of(kirim, method), chat):
        await link.payer.chat.taps(CONFIRM, wait=0)
    if method != "answerCallbackQuery":
        await link.payer.has_order()
    await kill_and_restart(kirim)
    if method == "editMessageText":
        seen = f"{like('orders.status_message.waiting')}|{like('orders.notification.recipient_masked')}"
        await link.payer.chat.sees(seen, anywhere=True)
        if await link.payer.chat.count(like("orders.notification.recipient_masked")):
            await confirm_found_order(link.payer.chat)
    await is_paid_once(kirim, link)


async def test_kill_9_during_the_request_finds_its_order_and_a_second_press_creates_no_other(kirim: System) -> None:
    link = await new_link(kirim)
    await link.is_opened()
    review = await link.payer.chat.sees(REVIEW)
    confirm = review["reply_markup"]["inline_keyboard"][0][0]["callback_data"]
    async with hold_service(kirim, "delay_after"):
        await link.payer.chat.taps(CONFIRM, wait=0)
    await kirim.kill_bot()
    await clear_faults(kirim)
    await link.payer.chat.presses(review, confirm, wait=0, force=True)
    await link.is_opened()
    await kirim.start_bot()
    await confirm_found_order(link.payer.chat)
    await is_paid_once(kirim, link)


async def test_kill_9_while_the_payment_is_recorded_notifies_the_asker(kirim: System) -> None:
    link = await new_link(kirim)
    await link.is_opened()
    await link.payer.chat.sees(REVIEW)
    await link.payer.chat.taps(CONFIRM)
    await link.payer.chat.sees(like("orders.status_message.waiting"), anywhere=True)
    (order,) = await link.payer.orders()
    async with hold_call(calls_of(kirim, "sendMessage"), link.asker):
        await kirim.service.pays(order)
    await kill_and_restart(kirim)
    await link.asker.sees(like("payment_requests.paid"))
    async with open_transaction(kirim) as tx:
        request = await PaymentRequestRepository(tx).get(link.request.id)
    assert request is not None
    assert not request.is_payable(datetime.now(UTC))

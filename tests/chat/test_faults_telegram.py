"""Failures of Telegram: the bot resends a message that certainly failed. One that may have arrived is marked."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial

import pytest
import pytest_asyncio

from bot.orders.repository import MissedOrder, MissedOrderRepository, OrderRepository
from tests.chat.system import running_in_process
from tests.e2e.bot_database import open_transaction
from tests.e2e.chat_user import Json
from tests.e2e.faults import clear_faults, invoices_in
from tests.e2e.new_users import Sender, new_senders_at_review
from tests.e2e.orders.steps import ENDED, tap_change
from tests.e2e.system import System
from tests.texts import label, like, says
from tests.waiting import until

pytestmark = pytest.mark.asyncio(loop_scope="module")

SHOWN, PAID = like("orders.status_message.waiting"), like("orders.notification.paid")
FAILURES = {"500": 1, "html": 1, "drop_before": 1, "drop_after": 2, "429": 1}
"""How sending an invoice fails, and how many copies of it the user then has."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def telegram(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[System]:
    async with running_in_process(tmp_path_factory.mktemp("kirim")) as made:
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def ready(telegram: System) -> list[Sender]:
    return await new_senders_at_review(telegram, len(FAILURES) + 12)


@pytest_asyncio.fixture(scope="module", loop_scope="module", autouse=True)
async def waiting(telegram: System, ready: list[Sender]) -> dict[str, Sender]:
    """Let each failure hit the invoice of another user. An invoice that may have arrived is repeated after a while."""
    senders = {fault: ready.pop() for fault in FAILURES}
    for fault, sender in senders.items():
        where: Json = {"chat_id": sender.chat.id, "times": 1}
        await telegram.telegram_fails(fault, "sendPhoto", **where, **({"retry_after": 2} if fault == "429" else {}))
    await asyncio.gather(*(sender.chat.taps(label("checkout.review.confirm"), wait=0) for sender in senders.values()))
    await until(partial(are_used_up, telegram), what="the failures")
    return senders


@pytest_asyncio.fixture(loop_scope="module")
async def sender(telegram: System, ready: list[Sender]) -> AsyncIterator[Sender]:
    yield ready.pop()
    await clear_faults(telegram)


@pytest.mark.parametrize("fault", ["html", "drop_after", "429"])
async def test_a_question_that_could_not_be_sent_is_asked_again_by_itself(sender: Sender, fault: str) -> None:
    where: Json = {"chat_id": sender.chat.id, "times": 1, "retry_after": 1}
    await sender.system.telegram_fails(fault, "editMessageText", **where)
    await tap_change(sender.chat, "amount")
    await sender.chat.sees(like("checkout.amount.ask"))
    await sender.system.telegram_fails(fault, "sendMessage", **where)
    await sender.chat.says("250rb")
    await sender.chat.sees(like("checkout.review.figures", amount="Rp250,000"))


async def test_a_press_whose_answer_was_lost_is_carried_out_all_the_same(sender: Sender) -> None:
    await sender.system.telegram_fails("500", "answerCallbackQuery", times=1)
    await tap_change(sender.chat, "amount", wait=0)
    await sender.chat.sees(like("checkout.amount.ask"))


@pytest.mark.parametrize("fault", ["500", "drop_after", "429"])
async def test_polls_that_fail_lose_no_update(sender: Sender, fault: str) -> None:
    await sender.system.telegram_fails(fault, "getUpdates", times=2, retry_after=1)
    await tap_change(sender.chat, "amount", wait=0)
    await sender.chat.sees(like("checkout.amount.ask"))
    # The two polls after the one with the button press fail.
    await sender.chat.says("250rb")
    await sender.chat.sees(like("checkout.review.figures", amount="Rp250,000"))
    assert await are_used_up(sender.system)
    assert await sender.chat.count(like("checkout.review.figures", amount="Rp250,000")) == 1


async def test_one_who_has_blocked_the_bot_disturbs_nobody_else_and_may_come_back(
    telegram: System, sender: Sender, ready: list[Sender]
) -> None:
    other = ready.pop()
    for each in (sender, other):
        await each.chat.taps(label("checkout.review.confirm"))
        await each.chat.sees(SHOWN, anywhere=True)
    await sender.chat.blocks()
    for each in (sender, other):
        await telegram.service.pays((await each.orders())[0])
    await other.chat.sees(PAID, anywhere=True)
    await sender.chat.blocks(blocked=False)
    await sender.chat.says("/status")
    await sender.chat.sees(
        f"{like('orders.status.paid')}|{like('orders.status.converting')}|{like('orders.notification.paid')}"
    )


async def test_who_missed_a_message_about_an_order_sees_the_order_at_their_next_visit_once(sender: Sender) -> None:
    await sender.chat.taps(label("checkout.review.confirm"))
    await sender.chat.sees(SHOWN, anywhere=True)
    async with open_transaction(sender.system) as tx:
        (order,) = await OrderRepository(tx).of_user(sender.chat.id)
        await MissedOrderRepository(tx).save(
            MissedOrder(user_id=sender.chat.id, reference=order.reference, at=order.created_at)
        )
    for _ in range(2):
        await sender.chat.says("/help")
        await sender.chat.sees(like("support.help.text"))
    await sender.chat.sees(like("orders.chat.missed"), anywhere=True)
    assert await sender.chat.count(like("orders.chat.missed")) == 1


async def test_a_timeline_that_was_deleted_is_replaced_by_a_new_one_that_lives_on(sender: Sender) -> None:
    await sender.chat.taps(label("checkout.review.confirm"))
    await sender.chat.sees(SHOWN, anywhere=True)
    order = (await sender.orders())[0]
    await sender.system.service.pays(order)
    paid = await sender.chat.sees(PAID, anywhere=True)
    await deleted(sender.system, paid)
    await sender.system.service.does("advance", orderId=order["id"], state="LN_SWAP_PENDING")
    anew = await sender.chat.sees(f"⏳ {like('orders.step.converting')}", anywhere=True)
    assert anew["message_id"] != paid["message_id"]
    await sender.system.service.does("advance", orderId=order["id"], state="COMPLETED")
    last = await sender.chat.sees(ENDED, anywhere=True)
    assert last["message_id"] == anew["message_id"]


async def test_a_second_poller_only_makes_the_bot_wait(sender: Sender) -> None:
    await until(partial(second_poller_is_noticed, sender.system), what="the log of a second poller")
    await tap_change(sender.chat, "amount", wait=0)
    await sender.chat.sees(like("checkout.amount.ask"))


async def second_poller_is_noticed(made: System) -> bool:
    """Poll at the same time as the bot. A later poll ends an earlier one, whichever program made it."""
    token = made.environment["TELEGRAM_BOT_TOKEN"]
    await made.telegram.get(f"/bot{token}/getUpdates", params={"timeout": 1})
    return "second_poller_detected" in made.read_log()


async def test_an_invoice_that_may_have_arrived_is_repeated_and_says_so_and_no_other(
    waiting: dict[str, Sender],
) -> None:
    for fault, sender in waiting.items():
        await sender.chat.sees_times(FAILURES[fault], "lnbcrt")
        copies = [message["caption"] for message in await sender.chat.messages() if "photo" in message]
        assert len(copies) == FAILURES[fault], fault
        assert says(copies[-1], "infra.outbox.again") == (fault != "429"), fault
        assert not any(says(caption, "infra.outbox.again") for caption in copies[:-1]), fault
        assert len(await invoices_in(sender.chat)) == len(await sender.orders()) == 1


async def deleted(made: System, message: Json) -> None:
    """Delete a message without notifying the bot."""
    token = made.environment["TELEGRAM_BOT_TOKEN"]
    where = {"chat_id": message["chat"]["id"], "message_id": message["message_id"]}
    (await made.telegram.post(f"/bot{token}/deleteMessage", json=where)).raise_for_status()


async def are_used_up(made: System) -> bool:
    faults = (await made.telegram.get("/sandbox/faults")).json()["faults"]
    return all(fault["times"] == 0 for fault in faults)

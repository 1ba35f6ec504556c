"""Failures of Telegram: the bot resends a message that certainly failed. One that may have arrived is marked."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import pytest
import pytest_asyncio

from tests.chat.system import running_in_process
from tests.e2e.faults import clear_faults, invoices_in
from tests.e2e.new_users import Sender, new_senders_at_review
from tests.e2e.orders.steps import tap_change
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
        where: dict[str, Any] = {"chat_id": sender.chat.id, "times": 1}
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
    where: dict[str, Any] = {"chat_id": sender.chat.id, "times": 1, "retry_after": 1}
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


async def are_used_up(made: System) -> bool:
    faults = (await made.telegram.get("/sandbox/faults")).json()["faults"]
    return all(fault["times"] == 0 for fault in faults)

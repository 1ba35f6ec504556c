"""The service fails while orders are tracked: notifications come late but once, with few requests."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest
import pytest_asyncio

from tests.chat.system import running_in_process
from tests.e2e.chat_user import ChatUser
from tests.e2e.faults import clear_faults, wait_until_idle
from tests.e2e.new_users import Sender, new_sender_at_review, new_senders_at_review
from tests.e2e.system import System
from tests.texts import label, like, text
from tests.waiting import until

pytestmark = pytest.mark.asyncio(loop_scope="module")

PAID = like("orders.notification.paid")
SHOWN = like("orders.status_message.waiting")
REFUSED, TAKEN = like("staff.alarm.key_refused"), like("staff.alarm.over", line=text("staff.alarm.key_refused_over"))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def senders(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[list[Sender]]:
    """Users with an invoice, all in one system."""
    async with running_in_process(tmp_path_factory.mktemp("kirim")) as made:
        await made.oscar.says("/start")
        ready = await new_senders_at_review(made, 4)
        await asyncio.gather(*(sender.chat.taps(label("checkout.review.confirm"), wait=0) for sender in ready))
        await asyncio.gather(*(sender.chat.sees(SHOWN) for sender in ready))
        yield ready


@pytest_asyncio.fixture(loop_scope="module")
async def sender(senders: list[Sender]) -> AsyncIterator[Sender]:
    chosen = senders.pop()
    yield chosen
    await clear_faults(chosen.system)


async def pays(sender: Sender) -> None:
    await sender.system.service.pays((await sender.orders())[0])


async def test_whatever_the_service_answers_meanwhile_a_payment_is_told_once(sender: Sender) -> None:
    for fault in ("drop_before", "500_before", "html", "truncated", "503", "404"):
        await sender.system.service.fails_with(fault, method="GET", times=1)
    await sender.system.service.fails_with("empty_list", method="GET", times=3)
    await pays(sender)
    await until(partial(are_answers_used_up, sender.system), what="all of those answers")
    await sender.system.service.heals()
    await sender.chat.sees(PAID, anywhere=True)
    assert await sender.chat.count(PAID) == 1


async def test_a_revoked_key_is_told_to_operators_at_once_and_its_service_not_hammered(tmp_path: Path) -> None:
    async with running_in_process(tmp_path) as made:
        await made.oscar.says("/start")
        sender = await new_sender_at_review(made)
        await made.service.does("keys/revoke", keyId="pk_live_sandbox")
        await sender.chat.taps(label("checkout.review.confirm"))
        await sender.chat.sees(like("checkout.service.down"), anywhere=True)
        await until(partial(reads, made.oscar, REFUSED), what="the alarm")
        # Each press may send a request. It is no new outage.
        await sender.chat.taps(label("orders.button.try_again"))
        await sender.chat.taps(label("checkout.review.confirm"), wait=0)
        await wait_until_idle(made)
        assert (await made.oscar.count(REFUSED), await made.oscar.count(TAKEN)) == (1, 0)
        assert await sender.orders() == []
        assert await made.stop_bot() == 0


async def are_answers_used_up(made: System) -> bool:
    faults = (await made.control.get("/control/faults")).json()["faults"]
    return all(fault["times"] == 0 for fault in faults if fault["times"] is not None)


async def reads(user: ChatUser, text: str) -> bool:
    return await user.count(text) > 0

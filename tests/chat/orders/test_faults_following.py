"""The service fails while orders are tracked: notifications come late but once, with few requests."""

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest
import pytest_asyncio

from tests.chat.system import running_in_process
from tests.e2e.chat_user import ChatUser
from tests.e2e.faults import ORDERS, clear_faults, wait_until_idle
from tests.e2e.new_users import Sender, new_sender_at_review, new_senders_at_review
from tests.e2e.orders.steps import refresh_status
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


async def test_an_order_passed_in_leaps_tells_the_last_of_its_steps(sender: Sender) -> None:
    await sender.system.service.fails_with("503", method="GET")
    await pays(sender)
    order = (await sender.orders())[0]
    await sender.system.service.does("advance", orderId=order["id"], state="COMPLETED")
    await sender.system.service.heals()
    await sender.chat.sees(like("orders.notification.sent_bank"), anywhere=True)
    assert await sender.chat.count(PAID) == 0


async def test_a_request_for_fewer_requests_is_honoured_to_the_second(tmp_path: Path) -> None:
    # With only one order, no other request is in progress when one is rejected.
    async with running_in_process(tmp_path) as made:
        sender = await new_sender_at_review(made)
        await sender.chat.taps(label("checkout.review.confirm"))
        await sender.chat.sees(SHOWN)
        await made.service.fails_with("429", method="GET", path=ORDERS, times=1, retryAfter=3)
        await until(partial(are_answers_used_up, made), what="the refusal")
        await pays(sender)
        await sender.chat.sees(PAID, anywhere=True)
        asked = [r for r in (await made.service.requests())["recent"] if r["path"].startswith(ORDERS)]
    times = [(datetime.fromisoformat(request["time"]), request["status"]) for request in reversed(asked)]
    (refused,) = (at for at, status in times if status == 429)
    assert min(at for at, _ in times if at > refused) - refused >= timedelta(seconds=2.9)


async def test_a_failing_check_of_the_key_is_an_outage_and_no_refusal_of_the_key(sender: Sender) -> None:
    known, refusals = await outages(sender.system), await sender.system.oscar.count(REFUSED)
    await sender.system.service.does("settings", keyCheckDown=True)
    await until(partial(has_more_outages, sender.system, known), what="a failing check")
    await sender.system.service.does("settings", keyCheckDown=False)
    await pays(sender)
    await sender.chat.sees(PAID, anywhere=True)
    assert await sender.system.oscar.count(REFUSED) == refusals


async def test_a_key_that_is_refused_for_a_while_is_told_to_operators_once_and_so_is_its_end(sender: Sender) -> None:
    oscar = sender.system.oscar
    await sender.system.service.fails_with("401", method="GET", path="/v1")
    await until(partial(reads, oscar, REFUSED), what="the alarm")
    # A bot at its request limit leaves no such gap: the next request follows within a tenth of a second.
    await until(partial(has_paused, sender.system), what="a rest after a refusal")
    await pays(sender)
    shown = await sender.chat.sees(SHOWN, anywhere=True)
    await refresh_status(sender.system, sender.chat, shown, await sender.has_order())
    await sender.chat.sees(like("orders.status_message.cannot_look"))
    await sender.system.service.heals()
    await sender.chat.sees(PAID, anywhere=True)
    await until(partial(reads, oscar, TAKEN), what="the end of the alarm")
    assert (await oscar.count(REFUSED), await oscar.count(TAKEN)) == (1, 1)


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


async def has_paused(made: System) -> bool:
    """Return whether a second passed between two rejected requests."""
    recent = [request for request in (await made.service.requests())["recent"] if request["path"].startswith(ORDERS)]
    times = [datetime.fromisoformat(request["time"]) for request in recent if request["status"] == 401]
    return any(later - earlier >= timedelta(seconds=0.9) for later, earlier in pairwise(times))


async def outages(made: System) -> int:
    statuses: dict[str, int] = (await made.service.requests())["statuses"]
    return statuses.get("503", 0)


async def has_more_outages(made: System, known: int) -> bool:
    return await outages(made) > known

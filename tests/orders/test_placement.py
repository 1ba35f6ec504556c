"""An order is placed exactly once, despite repeated taps, crashes and a second process."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bot.checkout.draft import DraftStatus
from bot.core.errors import Rejection
from bot.core.money import Amount
from bot.orders.notifications import OrderNotification
from bot.orders.order import Phase
from bot.orders.placement.service import ConfirmationOutdated
from bot.orders.placement.submission import LIST_SECONDS
from bot.settlement.errors import KeyRefused, MethodVanished, NeverReached, Refused
from bot.settlement.http import Timeouts
from bot.settlement.transport import DELIVERED_WITHIN_SECONDS
from bot.staff.notifications import AlarmNotification
from tests.orders.order_system import EMMA, OSCAR, RULES, OrderSystem
from tests.settlement.builders import BRI, GOPAY
from tests.settlement.fake_settlement import FakeSettlement


async def test_a_confirmed_draft_becomes_an_order_whose_invoice_is_shown(
    system: OrderSystem, service: FakeSettlement
) -> None:
    order = await system.place()
    await system.deliver()
    assert (order.phase, order.service_id, order.sats, order.idr) == (Phase.OPEN, "svc-1", 14_706, 250_000)
    assert system.sender.kinds() == [OrderNotification.INVOICE]
    assert system.sender.payment_requests() == [service.records["svc-1"].bolt11]
    assert order.expires_at == system.clock.now() + service.expiry


@pytest.mark.parametrize("wrong", [{"sats": 14_707}, {"idr": 249_999}, {"idr": 250_001}, {"bolt11": None}])
async def test_what_is_not_as_agreed_is_never_shown_and_staff_are_alarmed(
    system: OrderSystem, service: FakeSettlement, wrong: dict[str, Any]
) -> None:
    service.answers.append(wrong)
    order = await system.place()
    await system.deliver()
    assert (order.phase, order.bolt11) == (Phase.ABANDONED, None)
    assert system.sender.kinds(EMMA) == [OrderNotification.NOT_SHOWN]
    assert system.sender.kinds(OSCAR) == [AlarmNotification.RAISED]


async def test_a_second_tap_on_confirm_creates_no_second_order(system: OrderSystem, service: FakeSettlement) -> None:
    draft = await system.draft()
    first = await system.confirm(draft)
    second = await system.confirm(draft)
    await system.orders.submission.wait()
    third = await system.confirm(draft)
    assert first.reference == second.reference == third.reference
    assert service.times("place") == 1


async def test_two_processes_place_one_order(
    system: OrderSystem, other_system: OrderSystem, service: FakeSettlement
) -> None:
    draft = await system.draft()
    mine, theirs = await asyncio.gather(system.confirm(draft), other_system.confirm(draft))
    await asyncio.gather(system.orders.submission.wait(), other_system.orders.submission.wait())
    assert mine.reference == theirs.reference
    assert service.times("place") == 1


async def test_a_placed_draft_that_is_replayed_after_a_crash_posts_nothing(
    system: OrderSystem, other_system: OrderSystem, service: FakeSettlement
) -> None:
    draft = await system.draft()
    order = await system.confirm(draft)
    await system.orders.submission.wait()
    kept = await other_system.drafts.get(draft.id)
    assert kept is not None
    assert kept.status is DraftStatus.PLACED
    assert (await other_system.confirm(kept)).reference == order.reference
    await other_system.orders.submission.wait()
    assert service.times("place") == 1


async def test_a_draft_that_was_edited_meanwhile_is_not_placed_as_it_was(
    system: OrderSystem, service: FakeSettlement
) -> None:
    draft = await system.draft()
    await system.drafts.save(replace(draft, amount=Amount("IDR", 900_000)), 3)
    with pytest.raises(ConfirmationOutdated):
        await system.confirm(draft)
    assert service.times("place") == 0


async def test_a_vanished_method_is_not_posted_and_leaves_the_draft_open(
    system: OrderSystem, service: FakeSettlement
) -> None:
    draft = await system.draft()
    service.methods = (BRI, GOPAY)
    with pytest.raises(MethodVanished):
        await system.confirm(draft)
    kept = await system.drafts.get(draft.id)
    assert kept is not None
    assert kept.status is DraftStatus.OPEN
    assert service.times("place") == 0


@pytest.mark.parametrize(
    ("amount", "key", "names"),
    [
        (Amount("IDR", 19_999), "orders.amount.below_minimum", {"minimum": 20_000}),
        (Amount("SAT", 1_000), "orders.amount.below_minimum", {"minimum": 20_000}),
        (Amount("IDR", 250_000_001), "orders.amount.above_cap", {"cap": 250_000_000, "name": "BCA"}),
    ],
)
async def test_a_sum_outside_the_limits_is_refused_with_the_number_that_would_be_fine(
    system: OrderSystem, service: FakeSettlement, amount: Amount, key: str, names: dict[str, object]
) -> None:
    draft = await system.draft(amount=amount)
    for attempt in (system.review, system.confirm):
        with pytest.raises(Rejection) as refused:
            await attempt(draft)
        assert (refused.value.key, dict(refused.value.arguments)) == (key, names)
    assert service.times("place") == 0


async def test_what_the_service_refuses_is_told_once_with_its_reason_kept_for_staff(
    system: OrderSystem, service: FakeSettlement
) -> None:
    service.places.append(Refused(reason="recipientDetails must be digits"))
    order = await system.place()
    await system.deliver()
    assert (order.phase, order.refusal) == (Phase.REFUSED, "recipientDetails must be digits")
    assert system.sender.kinds() == [OrderNotification.REFUSED]
    await system.find_lost_orders(after=120)
    assert system.sender.kinds() == [OrderNotification.REFUSED]


@pytest.mark.parametrize("failure", [NeverReached(), KeyRefused()])
async def test_a_post_that_surely_made_nothing_is_said_to_have_failed(
    system: OrderSystem, service: FakeSettlement, failure: Exception
) -> None:
    service.places.append(failure)
    assert (await system.place()).phase is Phase.REFUSED
    await system.deliver()
    assert system.sender.kinds() == [OrderNotification.REFUSED]


async def test_an_intent_says_until_when_its_request_can_be_in_progress_and_an_order_does_not(
    system: OrderSystem, service: FakeSettlement
) -> None:
    service.gate = asyncio.Event()
    order = await system.begin()
    assert order.posting_until == order.created_at + RULES.longest_placement
    assert (await system.order(order.reference)).posting_until == order.posting_until
    service.gate.set()
    await system.orders.submission.wait()
    assert (await system.order(order.reference)).posting_until is None


@pytest.mark.parametrize(("seconds", "requests"), [(5.0, 1), (5.1, 0), (60.0, 0)])
async def test_a_process_that_was_stopped_after_it_saved_the_intent_asks_only_if_the_request_ends_in_time(
    system: OrderSystem, service: FakeSettlement, seconds: float, requests: int
) -> None:
    order = await system.confirm(await system.draft())
    system.clock.passes(seconds=seconds)
    await system.orders.submission.wait()
    assert service.times("place") == requests
    assert (await system.order(order.reference)).phase is (Phase.OPEN if requests else Phase.REFUSED)


async def test_an_intent_that_has_a_result_already_is_not_asked_for(
    system: OrderSystem, other_system: OrderSystem, service: FakeSettlement, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_request = system.orders.results.may_request

    async def ask_after_another_process(reference: str) -> bool:
        await other_system.orders.results.record_unknown(reference)
        return await may_request(reference)

    monkeypatch.setattr(system.orders.results, "may_request", ask_after_another_process)
    order = await system.place()
    assert service.times("place") == 0
    assert (await system.order(order.reference)).phase is Phase.REFUSED


def test_the_time_of_a_request_covers_the_time_out_of_the_client() -> None:
    assert RULES.longest_request >= timedelta(seconds=Timeouts().total)
    assert RULES.longest_placement - RULES.longest_request >= timedelta(seconds=LIST_SECONDS)
    assert RULES.longest_answer >= timedelta(seconds=max(Timeouts().read, DELIVERED_WITHIN_SECONDS))
    assert RULES.longest_placement - RULES.longest_answer >= timedelta(seconds=Timeouts().pool + Timeouts().connect)

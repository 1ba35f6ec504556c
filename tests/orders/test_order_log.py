"""The log tells the story of each order under its reference, and never mixes two orders."""

from collections.abc import Iterator

import pytest
from structlog.contextvars import get_contextvars, merge_contextvars
from structlog.testing import capture_logs
from structlog.typing import EventDict

from bot.infra.logging import bind_fields
from bot.infra.outbox.model import RetryLater, Undeliverable
from bot.infra.outbox.repository import OutboxRepository
from bot.orders.order import EventNote
from bot.orders.repository import OrderRepository
from bot.settlement.errors import NeverReached, NotCreated, Refused
from tests.infra.builders import a_notification
from tests.orders.builders import an_order
from tests.orders.order_system import EMMA, NUMBER, OSCAR, SARI, OrderSystem, place_unresolved, rules
from tests.settlement.fake_settlement import FakeSettlement

RINA = 3001
FIELDS = ("phase", "state", "note", "message", "error", "reason", "alarm")


@pytest.fixture
def lines() -> Iterator[list[EventDict]]:
    with capture_logs([merge_contextvars]) as captured:
        yield captured


def story(lines: list[EventDict], reference: str) -> list[str]:
    """Return the events of an order at the level info and above, each with what distinguishes it."""
    return [
        " ".join([line["event"], *(str(line[name]) for name in FIELDS if name in line)])
        for line in lines
        if line.get("order") == reference and line["log_level"] != "debug"
    ]


async def test_the_log_has_each_step_from_the_confirmation_to_the_receipt(
    system: OrderSystem, service: FakeSettlement, lines: list[EventDict]
) -> None:
    with bind_fields(update=77):
        order = await system.place()
    await system.deliver()
    service.becomes("svc-1", "LN_INVOICE_PAID")
    await system.poll()
    service.becomes("svc-1", "COMPLETED")
    await system.poll()
    edits = ["message_sent remove_invoice", "message_sent edit_status"]
    logged = story(lines, order.reference)
    assert [line for line in logged if line in edits] == edits
    assert [line for line in logged if line not in edits] == [
        "order_confirmed",
        "order_submitted",
        "order_created",
        "order_changed open",
        "message_sent invoice",
        "order_changed open LN_INVOICE_PAID",
        "message_sent paid",
        "order_changed done COMPLETED",
        "message_sent sent",
    ]
    # Only what the update did has its id.
    assert [line["event"] for line in lines if line.get("update") == 77] == [
        "order_confirmed",
        "order_submitted",
        "order_created",
        "order_changed",
    ]
    assert [line["order_id"] for line in lines if "order_id" in line] == ["svc-1"]


async def test_the_log_of_an_unanswered_order_says_that_its_result_is_unknown_and_that_it_was_found(
    system: OrderSystem, service: FakeSettlement, lines: list[EventDict]
) -> None:
    service.places.append("lost_after")
    order = await system.place()
    await system.find_lost_orders()
    assert story(lines, order.reference)[:7] == [
        "order_confirmed",
        "order_submitted",
        "order_result_unknown",
        "order_changed unknown",
        "order_changed open",
        "order_found",
        "message_sent checking",
    ]


@pytest.mark.parametrize("failure", [Refused(reason=f"no {NUMBER}"), NotCreated()])
async def test_the_log_has_a_rejection_without_the_services_words(
    system: OrderSystem, service: FakeSettlement, lines: list[EventDict], failure: Exception
) -> None:
    service.places.append(failure)
    order = await system.place()
    await system.deliver()
    assert story(lines, order.reference) == [
        "order_confirmed",
        "order_submitted",
        f"order_rejected {type(failure).__name__}",
        "order_changed refused",
        "message_sent refused",
    ]
    assert NUMBER not in str(lines)


async def test_an_order_placed_again_has_a_story_of_its_own(
    system: OrderSystem, service: FakeSettlement, lines: list[EventDict]
) -> None:
    lost = await place_unresolved(system, service)
    lines.clear()
    again = await system.orders.try_again(lost.reference)
    assert again is not None
    await system.orders.submission.wait()
    assert story(lines, lost.reference) == [f"order_changed abandoned {EventNote.TRIED_AGAIN}"]
    assert story(lines, again.reference) == [
        "order_confirmed",
        "order_submitted",
        "order_created",
        "order_changed open",
    ]
    assert [line["attempt"] for line in lines if "attempt" in line] == [2]


async def test_a_poll_logs_each_failure_with_its_own_order_and_the_list_with_none(
    system: OrderSystem, service: FakeSettlement, lines: list[EventDict]
) -> None:
    orders = [await system.place(1000 + index) for index in range(4)]
    await system.deliver()
    lines.clear()
    service.reads.extend([NeverReached()] * 5)
    await system.poll()
    assert get_contextvars() == {}
    assert sorted(line["order"] for line in lines if line["event"] == "order_poll_failed") == sorted(
        order.reference for order in orders
    )
    assert [set(line) for line in lines if line["event"] == "list_poll_failed"] == [{"event", "error", "log_level"}]


async def test_orders_that_change_in_one_list_do_not_mix(
    system: OrderSystem, service: FakeSettlement, lines: list[EventDict]
) -> None:
    orders = [await system.place(1000 + index) for index in range(4)]
    await system.deliver()
    lines.clear()
    for number in range(1, 5):
        service.becomes(f"svc-{number}", "LN_INVOICE_PAID")
    await system.poll()
    for order in orders:
        changed, *messages = story(lines, order.reference)
        assert changed == "order_changed open LN_INVOICE_PAID"
        assert messages == ["message_sent paid", "message_sent remove_invoice"]


async def test_each_attempt_to_send_a_message_is_logged_and_its_time_counts_from_the_event(
    system: OrderSystem, lines: list[EventDict]
) -> None:
    order = await system.place()
    system.sender.outcomes[EMMA].append(RetryLater(10))
    await system.deliver()
    system.clock.passes(seconds=10)
    await system.deliver()
    first, second = [line for line in lines if line["event"].startswith("message_")]
    assert (first["event"], first["retry_in"], first["attempts"]) == ("message_retry_scheduled", 10, 1)
    assert (second["event"], second["seconds"], second["attempts"]) == ("message_sent", 10, 2)
    assert {first["order"], second["order"]} == {order.reference}


async def test_a_chat_that_is_given_up_is_logged_under_each_of_its_orders(
    system: OrderSystem, lines: list[EventDict]
) -> None:
    orders = [await system.place(), await system.place(SARI)]
    lines.clear()
    system.sender.outcomes[EMMA].append(Undeliverable("bot was blocked by the user", whole_chat=True))
    await system.deliver()
    blocked = "bot was blocked by the user"
    assert story(lines, orders[0].reference) == [
        f"chat_unreachable invoice {blocked}",
        f"message_undeliverable invoice {blocked}",
    ]
    assert story(lines, orders[1].reference) == ["message_sent invoice"]


async def test_a_message_about_something_else_has_no_order_and_its_subject_is_not_logged(
    system: OrderSystem, lines: list[EventDict]
) -> None:
    now = system.clock.now()
    async with system.store.transaction() as tx:
        await OutboxRepository(tx).add([a_notification("person:1001", "deleted", due_at=now, created_at=now)])
    await system.deliver()
    (sent,) = [line for line in lines if line["event"] == "message_sent"]
    assert sent == {"event": "message_sent", "log_level": "info", "message": "deleted", "seconds": 0, "attempts": 1}


async def test_nothing_is_logged_of_a_change_that_was_not_saved(system: OrderSystem, lines: list[EventDict]) -> None:
    order = an_order()

    async def change_and_fail() -> None:
        async with system.store.transaction() as tx:
            await OrderRepository(tx).add(order)
            await OrderRepository(tx).record_event(order, system.clock.now())
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await change_and_fail()
    assert lines == []


async def test_an_overdue_order_has_its_alarm_and_its_ticket_in_its_story(
    file: str, service: FakeSettlement, lines: list[EventDict]
) -> None:
    system = OrderSystem(file, service, rules=rules(support_ids=frozenset({RINA})))
    order = await system.place()
    service.becomes("svc-1", "LN_INVOICE_PAID")
    await system.poll()
    lines.clear()
    system.clock.passes(hours=2)
    await system.poller.tick()
    await system.tracker.check_deadlines()
    assert story(lines, order.reference) == [
        f"order_changed open LN_INVOICE_PAID {EventNote.OVERDUE}",
        "alarm_raised order_stuck",
        "ticket_opened",
    ]
    await system.deliver()
    assert "message_sent overdue" in story(lines, order.reference)
    assert {EMMA, OSCAR, RINA}.isdisjoint(value for line in lines for value in line.values())
    await system.close()

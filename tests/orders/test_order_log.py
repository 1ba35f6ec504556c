"""The log tells the story of each order under its reference, and never mixes two orders."""

from collections.abc import Iterator

import pytest
from structlog.contextvars import merge_contextvars
from structlog.testing import capture_logs
from structlog.typing import EventDict

from bot.infra.logging import bind_fields
from bot.orders.repository import OrderRepository
from bot.settlement.errors import NotCreated, Refused
from tests.orders.builders import an_order
from tests.orders.order_system import NUMBER, OrderSystem
from tests.settlement.fake_settlement import FakeSettlement

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

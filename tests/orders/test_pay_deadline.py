"""An invoice that can be paid for weeks is shown for an hour, and a payment after that is followed as ever."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from bot.infra.db.database import Database
from bot.orders.notifications import OrderNotification
from bot.orders.order import OrderStatus, Phase
from tests.orders.builders import INVOICE, an_open_order
from tests.orders.order_system import EMMA, OSCAR, OrderSystem
from tests.orders.test_screens_status_message import labels, status_text
from tests.orders.test_wallet_page_button import Telegram, send_notification
from tests.orders.test_wallet_page_button import labels as labels_of
from tests.screens import NOW
from tests.settlement.fake_settlement import FakeSettlement
from tests.texts import label, says

WEEKS = timedelta(weeks=3)
HOUR = timedelta(hours=1)
LATE = an_open_order(created_at=NOW - timedelta(minutes=56), expires_at=NOW + timedelta(minutes=4))
"""An order that can be paid for four minutes more."""


@pytest.fixture
def service(service: FakeSettlement) -> FakeSettlement:
    service.expiry = WEEKS
    return service


async def test_an_invoice_of_weeks_is_shown_for_an_hour_and_removed(system: OrderSystem) -> None:
    order = await system.place()
    await system.deliver()
    assert (order.expires_at, order.invoice_expires_at) == (order.created_at + HOUR, order.created_at + WEEKS)
    await system.poll(after=3600)
    assert system.sender.edits_and_messages() == [
        OrderNotification.REMOVE_INVOICE,
        OrderNotification.INVOICE,
        OrderNotification.EXPIRED,
    ]
    expired = await system.order(order.reference)
    assert (expired.phase, expired.status(system.clock.now())) == (Phase.OPEN, OrderStatus.EXPIRED)


async def test_a_payment_before_the_invoice_itself_ends_is_followed(
    system: OrderSystem, service: FakeSettlement
) -> None:
    order = await system.place()
    await system.poll(after=3600)
    for _ in range(20):
        await system.poll(after=24 * 3600)
    service.becomes(order.service_id or "", "LN_INVOICE_PAID")
    await system.poll(after=600)
    assert OrderNotification.PAID_LATE in system.sender.kinds(EMMA)
    assert (await system.order(order.reference)).status(system.clock.now()) is OrderStatus.PAID


async def test_the_end_counts_from_our_request_however_wrong_the_clock_of_the_service_is(
    system: OrderSystem, service: FakeSettlement
) -> None:
    service.answers.append({"bolt11": service.invoice(14_706, timestamp=system.clock.now() - 5 * HOUR)})
    order = await system.place()
    assert order.expires_at == order.created_at + HOUR


@pytest.mark.parametrize("minutes", [30, 56, 90])
async def test_a_lost_order_that_is_found_late_keeps_its_end_or_offers_the_price_of_now(
    system: OrderSystem, service: FakeSettlement, minutes: int
) -> None:
    service.places.append("lost_after")
    order = await system.place()
    await system.deliver()
    await system.find_lost_orders(after=minutes * 60)
    found = await system.order(order.reference)
    assert found.service_id == "svc-1"
    assert found.expires_at == order.created_at + HOUR
    if minutes == 30:
        assert (found.phase, system.sender.kinds(EMMA)[-1]) == (Phase.OPEN, OrderNotification.INVOICE)
        return
    assert (found.phase, found.bolt11) == (Phase.ABANDONED, None)
    assert system.sender.kinds(EMMA)[-1] == OrderNotification.OFFER_OVER
    assert system.sender.kinds(OSCAR) == [], "that it was found late is no error of the service"
    assert found.may_be_sent_again(system.clock.now())


@pytest.mark.parametrize(("minutes", "is_shown"), [(54, True), (56, False)])
async def test_a_changed_price_that_is_accepted_late_keeps_the_end_of_its_creation(
    system: OrderSystem, service: FakeSettlement, minutes: int, *, is_shown: bool
) -> None:
    service.locked_rate = service.rate * Decimal("0.9")
    order = await system.place()
    assert order.phase is Phase.NEEDS_CONFIRMATION
    system.clock.passes(minutes=minutes)
    accepted = await system.orders.accept(order.reference)
    if is_shown:
        assert accepted is not None
        assert accepted.expires_at == order.created_at + HOUR
    else:
        assert accepted is None
        assert (await system.order(order.reference)).status(system.clock.now()) is OrderStatus.OFFER_OVER


async def test_an_invoice_that_is_delivered_too_late_offers_the_price_of_now(sqlite_store: Database) -> None:
    telegram = Telegram()
    await send_notification(sqlite_store, telegram, LATE)
    assert telegram.photos == []
    assert says(telegram.texts[0], "orders.status_message.ending")
    assert INVOICE not in telegram.texts[0]
    assert labels_of(telegram.keyboards[0]) == [label("orders.button.have_paid"), label("orders.button.requote")]


def test_with_little_time_left_the_price_of_now_is_offered_and_the_same_can_be_ordered() -> None:
    early = replace(LATE, created_at=NOW - timedelta(minutes=1), expires_at=NOW + timedelta(minutes=59))
    assert labels(early)[0] == label("orders.button.show_payment")
    assert labels(LATE) == [label(f"orders.button.{each}") for each in ("have_paid", "requote", "help")]
    assert says(status_text(LATE).text, "orders.status_message.ending")
    assert (early.may_be_sent_again(NOW), LATE.may_be_sent_again(NOW)) == (False, True)
    assert LATE.awaits_payment(NOW), "the QR code in sight stays until the end"

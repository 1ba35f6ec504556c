"""Who has chosen so gets one summary of each day the next morning, and no message about each payment."""

import csv
import io
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest

from bot.infra.outbox.model import Undeliverable
from bot.infra.outbox.repository import unpack
from bot.infra.telegram.ui.reader import Reader
from bot.orders.order import Order, payer_in_chat
from bot.orders.repository import LINK, MissedOrderRepository
from bot.payment_requests.model import DAILY, PaymentRequest, ReceivedPayment
from bot.payment_requests.paying.notifications import LinkNotification, SummaryNotification, record_missed_day
from bot.payment_requests.paying.service import PayService
from bot.payment_requests.repository import PaymentRequestRepository
from bot.payment_requests.screens import NEWEST, build_file, show_list, show_summary
from bot.payment_requests.user_data import begin_deletion
from bot.users.model import User
from bot.users.repository import UserRepository
from tests.infra.builders import all_notifications
from tests.orders.order_system import EMMA, SARI, OrderSystem
from tests.payment_requests.builders import a_request
from tests.payment_requests.test_paying import a_system, ask, connect, heard, pay
from tests.screens import JAKARTA
from tests.settlement.fake_settlement import FakeSettlement
from tests.texts import TRANSLATIONS, readable, text

EVENING: Final = datetime(2026, 11, 20, 13, 0, tzinfo=UTC)
"""20:00 in Jakarta."""

MORNING: Final = datetime(2026, 11, 21, 0, 0, tzinfo=UTC)
"""7:00 in Jakarta, the next day."""


@pytest.fixture
async def system(file: str, service: FakeSettlement) -> AsyncIterator[OrderSystem]:
    service.clock.at = EVENING
    system = a_system(file, service)
    async with system.sql.transaction() as tx:
        await UserRepository(tx).save(User(id=SARI, created_at=EVENING, notification_preferences=DAILY))
    yield system
    await system.close()


@pytest.fixture
def paying(system: OrderSystem) -> PayService:
    return connect(system)


async def becomes(system: OrderSystem, order: Order, state: str) -> None:
    assert order.service_id is not None
    system.service.becomes(order.service_id, state)
    await system.poll()
    await system.poll()


async def received(system: OrderSystem) -> tuple[ReceivedPayment, ...]:
    async with system.sql.reading() as tx:
        return await PaymentRequestRepository(tx).received(SARI)


async def test_payments_of_a_day_are_one_message_the_next_morning(system: OrderSystem, paying: PayService) -> None:
    request = await ask(system)
    for _ in range(2):
        order = await pay(system, paying, payer_in_chat(EMMA), request)
        await becomes(system, order, "LN_INVOICE_PAID")
        await becomes(system, order, "COMPLETED")
    assert await heard(system, SARI) == [], "nothing before the morning"
    system.clock.at = MORNING
    assert await heard(system, SARI) == [SummaryNotification.DAY]
    system.clock.at = MORNING + timedelta(days=1)
    assert await heard(system, SARI) == [SummaryNotification.DAY], "a day without a payment has none"


async def test_a_failed_payment_is_a_message_at_once(system: OrderSystem, paying: PayService) -> None:
    order = await pay(system, paying, payer_in_chat(EMMA), await ask(system))
    await becomes(system, order, "LN_INVOICE_PAID")
    await becomes(system, order, "FAILED")
    assert await heard(system, SARI) == [LinkNotification.FAILED]


async def test_what_is_sent_after_its_summary_is_a_message(system: OrderSystem, paying: PayService) -> None:
    order = await pay(system, paying, payer_in_chat(EMMA), await ask(system))
    await becomes(system, order, "LN_INVOICE_PAID")
    system.clock.at = MORNING
    assert await heard(system, SARI) == [SummaryNotification.DAY]
    await becomes(system, order, "COMPLETED")
    assert await heard(system, SARI) == [SummaryNotification.DAY, LinkNotification.SENT]


async def test_a_summary_holds_up_no_other_message(system: OrderSystem, paying: PayService) -> None:
    order = await pay(system, paying, payer_in_chat(EMMA), await ask(system))
    await becomes(system, order, "LN_INVOICE_PAID")
    async with system.sql.transaction() as tx:
        await UserRepository(tx).save(User(id=SARI, created_at=EVENING))
    await becomes(system, order, "COMPLETED")
    assert await heard(system, SARI) == [LinkNotification.SENT]
    system.clock.at = MORNING
    assert await heard(system, SARI) == [LinkNotification.SENT, SummaryNotification.DAY]


async def test_a_deletion_sends_the_summary_at_once_and_waits_for_no_other(
    system: OrderSystem, paying: PayService
) -> None:
    request = await ask(system)
    order = await pay(system, paying, payer_in_chat(EMMA), request)
    await becomes(system, order, "LN_INVOICE_PAID")
    async with system.sql.transaction() as tx:
        asked_at = system.clock.now()
        await UserRepository(tx).save(
            User(id=SARI, created_at=EVENING, notification_preferences=DAILY, deletion_requested_at=asked_at)
        )
        await begin_deletion(tx, SARI, asked_at)
    assert await heard(system, SARI) == [SummaryNotification.DAY]
    await becomes(system, order, "COMPLETED")
    assert await heard(system, SARI) == [SummaryNotification.DAY, LinkNotification.SENT]


async def test_the_links_of_a_summary_that_was_missed_are_saved(system: OrderSystem, paying: PayService) -> None:
    request = await ask(system)
    await becomes(system, await pay(system, paying, payer_in_chat(EMMA), request), "LN_INVOICE_PAID")
    async with system.sql.transaction() as tx:
        (row,) = [each for each in await all_notifications(tx) if each.kind == SummaryNotification.DAY]
        day = unpack(SummaryNotification.DAY, row)
        await record_missed_day(tx, day, Undeliverable("blocked", whole_chat=True), MORNING)
        (missed,) = await MissedOrderRepository(tx).of_user(SARI)
    assert missed.reference == LINK + request.id


def payment(request: PaymentRequest | None, hours: int, state: str = "sent", idr: int = 100_000) -> ReceivedPayment:
    return ReceivedPayment(request=request, idr=idr, paid_at=EVENING - timedelta(hours=hours), state=state)


async def test_a_days_total_counts_all_payments_of_the_day_but_failed_ones() -> None:
    reader = Reader(TRANSLATIONS.get("en"), JAKARTA, EVENING)
    many = [payment(a_request(), 0) for _ in range(NEWEST)]
    payments = [*many, payment(None, 1, "in_progress"), payment(a_request(), 2, "failed"), payment(None, 24)]
    shown = readable(show_list(reader, [a_request()], {}, payments).text)
    total = text("payment_requests.list.day", day="today", total="Rp1,100,000", payments="11 payments")
    assert shown.count("Rp100,000") == NEWEST
    assert total in shown
    assert total in readable(show_summary(reader, payments).text)


@pytest.mark.parametrize("note", ["=1+1", "+62", "-5", "@SUM(A1)"])
def test_no_cell_of_the_file_is_a_formula(note: str) -> None:
    reader = Reader(TRANSLATIONS.get("id"), JAKARTA, EVENING)
    file = build_file(reader, [payment(a_request(note=note), 0, "failed"), payment(None, 0)])
    head, first, second = csv.reader(io.StringIO(file.decode()))
    assert head == ["waktu", "rupiah", "catatan", "status", "rekening"]
    assert first == ["2026-11-20T20:00:00+07:00", "100000", f"'{note}", "gagal", "BCA ••••4455"]
    assert second[2:] == ["", "terkirim", ""]


async def test_what_came_in_is_the_users_own_and_read_from_all_their_requests(
    system: OrderSystem, paying: PayService
) -> None:
    mine, other = await ask(system), await ask(system, request_id="f" * 16, user_id=EMMA, token="f" * 16, draft_id="f")
    for request in (mine, other):
        await becomes(system, await pay(system, paying, payer_in_chat(EMMA), request), "LN_INVOICE_PAID")
    (payment_of_mine,) = await received(system)
    assert payment_of_mine.request is not None
    assert (payment_of_mine.request.id, payment_of_mine.state) == (mine.id, "in_progress")

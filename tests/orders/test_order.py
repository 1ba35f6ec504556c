"""An order only moves forward, whichever reports arrive in whichever sequence. Notifications aren't repeated."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.orders.notifications import OrderNotification
from bot.orders.order import REFERENCE_ALPHABET, REFERENCE_LENGTH, Failure, Order, Phase, advance, expire, new_reference
from bot.settlement.model import STEP_OF_STATE, OrderReport, OrderStep
from tests.orders.builders import an_order
from tests.settlement.builders import a_report

NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
STATES = [*STEP_OF_STATE, "FAILED", "P2PM_DISPUTED", ""]
UNPAID = ["IDLE", "NWC_CONNECTED", "QR_SCANNED", "ROUTE_SHOWN"]
CHANGES = frozenset({OrderNotification.REMOVE_INVOICE, OrderNotification.EDIT_STATUS})
MONEY = {
    OrderNotification.PAID,
    OrderNotification.PAID_LATE,
    OrderNotification.SENT,
    OrderNotification.FAILED,
    OrderNotification.EXPIRED,
}


def open_order(**changes: object) -> Order:
    expiry = NOW + timedelta(hours=1)
    order = an_order(service_id="svc", phase=Phase.OPEN, state="IDLE", created_at=NOW, expires_at=expiry)
    return replace(order, **changes)  # type: ignore[arg-type]


def report(state: str, *, paid: bool = False) -> OrderReport:
    return a_report(service_id="svc", state=state, paid_at=NOW if paid else None)


def apply_states(order: Order, *states: str, now: datetime = NOW) -> tuple[Order, list[OrderNotification]]:
    """Return the order after these states, and all notifications about them."""
    notifications: list[OrderNotification] = []
    for state in states:
        order, more = advance(order, report(state), now)
        notifications += more
    return order, notifications


def without_poll(order: Order) -> Order:
    """Return the order without what each report changes: when it was polled, and its evidence."""
    return replace(order, last_polled_at=None, evidence=())


looks = st.builds(report, st.sampled_from(STATES), paid=st.booleans())
lives = st.lists(st.tuples(st.one_of(looks, st.none()), st.integers(0, 4000)), max_size=25)
orders = st.builds(open_order, expires_at=st.sampled_from([None, NOW + timedelta(hours=1)]))


@given(orders, lives)
def test_nothing_that_can_happen_takes_an_order_back_or_tells_twice(
    order: Order, life: list[tuple[OrderReport | None, int]]
) -> None:
    now, all_notifications = NOW, list[OrderNotification]()
    for look, seconds in life:
        now += timedelta(seconds=seconds)
        before = order
        order, notifications = expire(order, now) if look is None else advance(order, look, now)
        assert order.step >= before.step
        assert order.is_paid >= before.is_paid
        if before.is_ended and (before.is_paid or not order.is_paid):
            assert (without_poll(order), notifications) == (without_poll(before), ())
        assert len(set(notifications)) == len(notifications)
        is_first_report = order.is_paid and not before.is_paid and not order.failure
        assert list(notifications) == sorted(notifications, key=CHANGES.__contains__, reverse=not is_first_report)
        all_notifications += notifications
        if {OrderNotification.REMOVE_INVOICE} <= set(all_notifications):
            assert not order.awaits_payment(now)
    times = Counter(all_notifications)
    # A payment can arrive after an order has failed without one.
    assert all(times[notice] <= 1 for notice in MONEY - {OrderNotification.FAILED})
    assert times[OrderNotification.PAID] + times[OrderNotification.PAID_LATE] <= 1
    assert times[OrderNotification.SENT] + times[OrderNotification.FAILED] <= (2 if order.is_paid else 1)
    assert order.is_ended is (order.phase is Phase.DONE)
    assert order.expires_at or not times[OrderNotification.EXPIRED]
    if times[OrderNotification.EXPIRED] and times[OrderNotification.FAILED]:
        assert order.is_paid
    if times[OrderNotification.PAID_LATE]:
        assert all_notifications.index(OrderNotification.EXPIRED) < all_notifications.index(OrderNotification.PAID_LATE)
    if MONEY & set(all_notifications):
        assert OrderNotification.REMOVE_INVOICE in all_notifications


@given(st.lists(st.sampled_from(STATES), max_size=12), st.sampled_from(["COMPLETED", "FAILED"]))
def test_the_last_word_of_the_service_about_a_paid_order_is_the_last(states: list[str], end: str) -> None:
    ended, _ = apply_states(open_order(), "LN_INVOICE_PAID", end)
    after, notifications = apply_states(ended, *states)
    assert after == ended
    assert notifications == []


@given(st.lists(st.sampled_from([*UNPAID, "FAILED"]), max_size=12))
def test_only_a_payment_changes_an_order_that_failed_unpaid(states: list[str]) -> None:
    ended, _ = apply_states(open_order(), "FAILED", now=NOW + timedelta(hours=1))
    after, nothing = apply_states(ended, *states)
    assert (without_poll(after), nothing) == (without_poll(ended), [])
    paid, notifications = advance(ended, report("FAILED", paid=True), NOW + timedelta(hours=2))
    assert (paid.failure, notifications[-1]) == (Failure.PAID, OrderNotification.FAILED)
    followed, notifications = advance(ended, report("LN_INVOICE_PAID"), NOW + timedelta(hours=2))
    assert (followed.phase, notifications[0]) == (Phase.OPEN, OrderNotification.PAID_LATE)


def test_a_payment_takes_the_code_down_and_is_told() -> None:
    order, notifications = apply_states(open_order(), "LN_INVOICE_PAID")
    assert notifications == [OrderNotification.PAID, OrderNotification.REMOVE_INVOICE, OrderNotification.EDIT_STATUS]
    assert (order.paid_at, order.is_paid) == (NOW, True)


def test_a_late_payment_is_said_to_be_late() -> None:
    late = NOW + timedelta(hours=2)
    expired, notifications = expire(open_order(), late)
    assert notifications == (OrderNotification.REMOVE_INVOICE, OrderNotification.EDIT_STATUS, OrderNotification.EXPIRED)
    assert apply_states(expired, "LN_INVOICE_PAID", now=late)[1] == [
        OrderNotification.PAID_LATE,
        OrderNotification.REMOVE_INVOICE,
        OrderNotification.EDIT_STATUS,
    ]


def test_an_expiry_is_told_once_and_not_before_its_time() -> None:
    order = open_order()
    assert expire(order, NOW + timedelta(minutes=59)) == (order, ())
    expired, _ = expire(order, NOW + timedelta(hours=1))
    assert expire(expired, NOW + timedelta(hours=9)) == (expired, ())


@pytest.mark.parametrize("minutes", [58, 60, 600])
def test_the_documented_failure_of_an_expired_order_is_told_as_an_expiry_once(minutes: int) -> None:
    now = NOW + timedelta(minutes=minutes)
    order, notifications = apply_states(open_order(), "FAILED", now=now)
    assert notifications == [OrderNotification.REMOVE_INVOICE, OrderNotification.EDIT_STATUS, OrderNotification.EXPIRED]
    assert expire(order, now + timedelta(hours=1))[1] == ()
    expired, _ = expire(open_order(), NOW + timedelta(hours=1))
    assert OrderNotification.EXPIRED not in apply_states(expired, "FAILED", now=NOW + timedelta(hours=2))[1]


def test_an_invoice_that_the_service_closed_early_has_expired_and_not_failed() -> None:
    closed = replace(report("FAILED"), expires_at=NOW + timedelta(minutes=5))
    order, notifications = advance(open_order(), closed, NOW + timedelta(minutes=6))
    assert notifications == (OrderNotification.REMOVE_INVOICE, OrderNotification.EDIT_STATUS, OrderNotification.EXPIRED)
    assert order.expires_at == closed.expires_at
    # Only a failure closes an invoice, and it never makes one longer.
    waiting = replace(report("ROUTE_SHOWN"), expires_at=NOW + timedelta(minutes=5))
    assert advance(open_order(), waiting, NOW)[0].expires_at == open_order().expires_at
    later = replace(report("FAILED"), expires_at=NOW + timedelta(hours=9))
    assert advance(open_order(), later, NOW)[1][-1] is OrderNotification.FAILED


def test_a_failure_with_evidence_of_a_payment_is_a_paid_failure_even_after_the_expiry() -> None:
    late = NOW + timedelta(hours=2)
    expired, _ = expire(open_order(), late)
    order, notifications = advance(expired, report("FAILED", paid=True), late)
    assert notifications == (OrderNotification.REMOVE_INVOICE, OrderNotification.EDIT_STATUS, OrderNotification.FAILED)
    assert order.is_paid


def test_the_services_own_time_of_the_end_is_kept() -> None:
    end = NOW - timedelta(minutes=3)
    order, _ = advance(open_order(), replace(report("COMPLETED"), completed_at=end), NOW)
    assert order.ended_at == end


@pytest.mark.parametrize(
    ("changes", "open_question"),
    [
        ({}, True),
        ({"phase": Phase.NEEDS_CONFIRMATION}, False),
        ({"phase": Phase.ABANDONED}, False),
        ({"step": OrderStep.PAID}, False),
        ({"paid_at": NOW}, False),
        ({"state": "FAILED"}, False),
        ({"expires_at": NOW}, False),
        ({"expires_at": None}, True),
    ],
)
def test_an_invoice_stands_only_while_it_may_be_paid(changes: dict[str, object], *, open_question: bool) -> None:
    assert open_order(**changes).awaits_payment(NOW) is open_question


def test_references_can_be_read_out_and_do_not_repeat() -> None:
    references = {new_reference() for _ in range(2000)}
    assert len(references) == 2000
    assert {len(reference) for reference in references} == {REFERENCE_LENGTH}
    assert set("".join(references)) <= set(REFERENCE_ALPHABET)
    assert not set("01OILoil") & set(REFERENCE_ALPHABET) - {"L"}

"""Compare the service's records with our rows. All functions are pure.

What they return is a suspicion until the single order was read again: the list and our rows are never read at the same
moment. Our row must be read after the service's record. Then a row that is ahead was polled since.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from bot.operations.reconciliation.model import (
    Difference,
    DifferenceKind,
    Facts,
    ListedSpan,
    Pending,
    Reading,
)
from bot.orders.deposits import LONGEST_LIST, may_be_paid
from bot.orders.order import Order
from bot.orders.placement.matching import CREATED_AFTER, CREATED_BEFORE
from bot.orders.poll_intervals import LONGEST_INTERVAL, is_tracked
from bot.payments.tokens import LIGHTNING, TOKENS
from bot.settlement.model import FAILED, STEP_OF_STATE, OrderReport, OrderStep, step_after

PENDING_FOR: Final = LONGEST_INTERVAL + timedelta(minutes=5)
"""For so long the poller may not have read a state yet. An order is polled every ten minutes at least."""

NEWEST: Final = 20
"""How many of the newest orders show how fast orders come right now."""

SHORTEST_INTERVAL: Final = timedelta(seconds=5)
LONGEST_PAUSE: Final = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the comparison of one order found. `pending` is a state that the poller may be about to read."""

    differences: tuple[Difference, ...] = ()
    pending: Pending | None = None


def compare_order(order: Order, report: OrderReport, reading: Reading, pending: Mapping[str, Pending]) -> Verdict:
    """Compare our row of an order with the service's record of it.

    `pending` has what the last runs have seen and our rows didn't have, by reference.
    """
    differences = [*_compare_amounts(order, report, reading)]
    kind = _compare_states(order, report)
    if kind is None:
        return Verdict(tuple(differences))
    if not is_followed(order):
        return Verdict((*differences, _difference(kind, order, report, reading)))
    known = pending.get(order.reference)
    since = known.since if known is not None and known.state == report.state else reading.asked_at
    waiting = Pending(order.reference, report.state, since)
    was_polled_since = order.last_polled_at is not None and order.last_polled_at >= reading.asked_at
    if was_polled_since or reading.asked_at - since < PENDING_FOR:
        return Verdict(tuple(differences), waiting)
    return Verdict((*differences, _difference(kind, order, report, reading)), waiting)


def missing(order: Order, reading: Reading) -> Difference:
    """Return the difference of an order that the service doesn't have."""
    return Difference(
        kind=DifferenceKind.MISSING,
        reference=order.reference,
        service_id=order.service_id or "",
        ours=_facts_of(order),
        theirs=None,
        is_about_money=order.is_paid or is_followed(order),
        found_at=reading.asked_at,
        checked_at=reading.asked_at,
    )


def find_shared_deposits(
    reports: Sequence[OrderReport], orders: Mapping[str, Order], reading: Reading
) -> Iterator[Difference]:
    """Yield our deposits that wait for a payment while the same payment could settle another order.

    `orders` has our orders by the service's ids, also those that aren't in `reports`. The service attributes deposits
    by their sum, and knows nothing of what was shown. So the other order counts, whoever created it.
    """
    now = reading.answered_at + reading.offset
    listed = {report.service_id: report for report in reports}
    waiting = [
        _Deposit(report.channel, report.sats, _address_of(report), service_id)
        for service_id, report in listed.items()
        if report.channel in TOKENS and may_be_paid(report, now)
    ]
    own = {service_id: order for service_id, order in orders.items() if awaits_deposit(order)}
    waiting += [
        _Deposit(order.channel, order.sats, None, service_id)
        for service_id, order in own.items()
        if service_id not in listed
    ]
    by_sum: dict[tuple[str | None, int | None], list[_Deposit]] = {}
    for each in waiting:
        by_sum.setdefault((each.channel, each.sats), []).append(each)
    for alike in by_sum.values():
        for each in alike:
            order = own.get(each.service_id)
            other = next((rival for rival in alike if rival.may_be_taken_for(each)), None)
            if order is not None and other is not None:
                yield shared_deposit(order, listed.get(each.service_id), other.service_id, reading)


def shared_deposit(order: Order, report: OrderReport | None, other: str, reading: Reading) -> Difference:
    """Return the difference of a deposit that could also pay the order `other` of the service."""
    return Difference(
        kind=DifferenceKind.SHARED_DEPOSIT,
        reference=order.reference,
        service_id=order.service_id or "",
        ours=_facts_of(order),
        theirs=_facts_of_report(report) if report else None,
        is_about_money=True,
        other=other,
        found_at=reading.asked_at,
        checked_at=reading.asked_at,
    )


def are_both_unpaid(reports: Sequence[OrderReport], now: datetime) -> bool:
    """Return whether all these orders can still be paid. `now` is the service's time."""
    return all(may_be_paid(report, now) for report in reports)


def find_shown_span(
    reports: Sequence[OrderReport], served_at: datetime | None, asked_at: datetime, answered_at: datetime
) -> ListedSpan | None:
    """Return the time of which the list has every order, by our own clock. None if it isn't sorted by its times.

    It begins with the oldest order, and ends with the request. Times are compared as ages, because the service's clock
    may differ from ours.
    """
    created = [report.created_at for report in reports if report.created_at is not None]
    if served_at is None or not created or len(created) < len(reports) or created != sorted(created, reverse=True):
        return None
    since = answered_at - (served_at - created[-1])
    return ListedSpan(since, asked_at) if since < asked_at else None


def span_of_absent(shown: ListedSpan) -> ListedSpan:
    """Return when an intent was saved whose order must be in the list.

    The service creates an order up to 40 seconds later. An intent near an edge may belong to a neighbouring list.
    """
    return ListedSpan(shown.since + CREATED_BEFORE, shown.until - CREATED_AFTER)


def compute_interval(reports: Sequence[OrderReport], served_at: datetime | None, least: timedelta) -> timedelta:
    """Return the time until the next run: half of what the list takes to turn over, by its own times.

    The newest orders count as well as all, so that a rush is noticed. `least` is what the request budget allows.
    """
    turnovers = [
        (served_at - created_at) * LONGEST_LIST / place
        for place in (NEWEST, LONGEST_LIST)
        if served_at is not None and len(reports) >= place and (created_at := reports[place - 1].created_at) is not None
    ]
    return max(min([LONGEST_PAUSE, *(turnover / 2 for turnover in turnovers)]), least, SHORTEST_INTERVAL)


def is_followed(order: Order) -> bool:
    """Return whether the poller will read the order again."""
    return is_tracked(order) and order.next_poll_at is not None


def awaits_deposit(order: Order) -> bool:
    """Return whether the order is shown to its sender and waits for a deposit."""
    return is_tracked(order) and order.channel != LIGHTNING and not order.is_paid


@dataclass(frozen=True, slots=True)
class _Deposit:
    channel: str | None
    sats: int | None
    address: str | None
    service_id: str

    def may_be_taken_for(self, other: "_Deposit") -> bool:
        """Return whether a payment for `other` could pay this one. A record without an address counts."""
        is_same_address = None in {self.address, other.address} or self.address == other.address
        return self.service_id != other.service_id and is_same_address


def _address_of(report: OrderReport) -> str | None:
    return report.deposit.to_address.lower() if report.deposit else None


def _compare_amounts(order: Order, report: OrderReport, reading: Reading) -> Iterator[Difference]:
    pairs = ((order.idr, report.idr), (order.sats, report.sats))
    if any(None not in pair and pair[0] != pair[1] for pair in pairs):
        yield _difference(DifferenceKind.AMOUNT, order, report, reading)


def _compare_states(order: Order, report: OrderReport) -> DifferenceKind | None:
    is_paid_there = _shows_payment(report)
    if is_followed(order):
        is_same = _stage(order.state) == _stage(report.state) and order.is_paid == is_paid_there
        return None if is_same else DifferenceKind.STATE
    if order.is_paid and not order.is_ended:
        return DifferenceKind.UNFOLLOWED
    if not order.is_paid and (is_paid_there or _may_have_been_paid(order, report)):
        return DifferenceKind.UNFOLLOWED
    if order.is_ended and _stage(order.state) != _stage(report.state):
        return DifferenceKind.STATE
    return None


def _may_have_been_paid(order: Order, report: OrderReport) -> bool:
    """Return whether a deposit failed that we no longer follow. It may have arrived: its record has no time for it."""
    return report.state == FAILED and not order.is_ended and order.channel != LIGHTNING


def _shows_payment(report: OrderReport) -> bool:
    return report.paid_at is not None or step_after(OrderStep.CREATED, report.state) is not OrderStep.CREATED


def _stage(state: str) -> OrderStep | str:
    """Return what a state means. States before the payment are one. An undocumented state is only like itself."""
    return STEP_OF_STATE.get(state or "IDLE", state)


def _difference(kind: DifferenceKind, order: Order, report: OrderReport, reading: Reading) -> Difference:
    has_money = order.is_paid or _shows_payment(report) or kind is DifferenceKind.UNFOLLOWED
    return Difference(
        kind=kind,
        reference=order.reference,
        service_id=report.service_id,
        ours=_facts_of(order),
        theirs=_facts_of_report(report),
        is_about_money=has_money or is_followed(order),
        found_at=reading.asked_at,
        checked_at=reading.asked_at,
    )


def _facts_of(order: Order) -> Facts:
    return Facts(order.state, order.idr, order.sats)


def _facts_of_report(report: OrderReport) -> Facts:
    return Facts(report.state, report.idr, report.sats)

"""Decide which order in the service's list belongs to an intent."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from bot.core.clock import Clock
from bot.orders.deposits import is_settled
from bot.orders.order import Order
from bot.payments.tokens import LIGHTNING
from bot.recipients.holders import is_same_holder
from bot.recipients.numbers import NumberMatch, compare_numbers
from bot.settlement.client import SettlementClient
from bot.settlement.errors import SettlementFailure
from bot.settlement.model import OrderReport, OrderStep, step_after

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.orders.repository import Rival

CREATED_BEFORE = timedelta(seconds=5)
CREATED_AFTER = timedelta(seconds=40)
"""How long before or after its intent an order can be created: the longest request, with slack on both sides."""


@dataclass(frozen=True, slots=True)
class OrderListing:
    """A list of orders, the service's time of it, and our times before and after the request.

    `settled` has the ids of our orders that were paid or have failed, as the service says, while our rows don't say so.
    """

    reports: tuple[OrderReport, ...]
    served_at: datetime | None
    asked_at: datetime
    answered_at: datetime
    settled: frozenset[str] = frozenset()

    def find(self, service_id: str) -> OrderReport | None:
        """Return the report of an order, or None if the list doesn't have it."""
        return next((report for report in self.reports if report.service_id == service_id), None)


async def read_list(settlement: SettlementClient, clock: Clock) -> OrderListing:
    """Return the newest orders of our key. Raises `SettlementFailure`."""
    asked_at = clock.now()
    newest = await settlement.newest()
    return OrderListing(newest.reports, newest.served_at, asked_at, clock.now())


async def read_rivals(settlement: SettlementClient, listing: OrderListing, rivals: "Sequence[Rival]") -> OrderListing:
    """Return the list with those of `rivals` as settled that the service says were paid or have failed.

    An order that isn't in the list is read by its id. After the first one that may still be paid, no other is read.
    """
    settled = set[str]()
    for rival in rivals:
        if rival.service_id is None:
            break
        try:
            report = listing.find(rival.service_id) or await settlement.look_up(rival.service_id)
        except SettlementFailure:
            break
        if not is_settled(report):
            break
        settled.add(rival.service_id)
    return replace(listing, settled=frozenset(settled))


def may_match(order: Order, report: OrderReport, listing: OrderListing) -> bool:
    """Return whether the service's order may belong to the intent `order`.

    Times are compared as ages, each by its own clock, because the service's clock may differ from ours. A paid order
    belongs to another program, because we haven't shown its invoice to anybody. A masked recipient is no proof:
    another program with the same key may have ordered for another recipient at the same bank
    (`compare_recipients`).
    """
    return (
        is_same_request(order, report)
        and compare_recipients(order, report) != "different"
        and report.paid_at is None
        and step_after(OrderStep.CREATED, report.state) is OrderStep.CREATED
        and _created_in_window(order, report, listing)
    )


def is_same_request(order: Order, report: OrderReport) -> bool:
    """Return whether both have the same destination, amount and channel. Neither recipient nor time is compared."""
    return (
        (report.bank_code, report.bank_name) == (order.method.code, order.method.name)
        and _has_requested_amount(order, report)
        and (report.channel or LIGHTNING) == order.channel
    )


def compare_recipients(order: Order, report: OrderReport) -> NumberMatch:
    """Return whether both have the same recipient. "masked" means probably, and then the user is asked.

    A masked number needs four visible digits. If both have a holder's name, the names must match.
    """
    if report.recipient is None:
        return "different"
    sameness = compare_numbers(order.number, report.recipient, order.method.kind)
    if sameness == "masked" and not is_same_holder(order.holder, report.holder):
        return "different"
    return sameness


def _has_requested_amount(order: Order, report: OrderReport) -> bool:
    amount = report.sats if order.requested_amount.currency == "SAT" else report.idr
    return amount == order.requested_amount.value


def _created_in_window(order: Order, report: OrderReport, listing: OrderListing) -> bool:
    if report.created_at is None or listing.served_at is None:
        return False
    age = listing.served_at - report.created_at
    earliest, latest = listing.asked_at - age, listing.answered_at - age
    return earliest <= order.created_at + CREATED_AFTER and latest >= order.created_at - CREATED_BEFORE

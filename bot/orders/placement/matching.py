"""Which order of the service's list is the one that an intent of ours asked for."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.core.clock import Clock
from bot.orders.order import Order
from bot.payments.tokens import LIGHTNING
from bot.recipients.holders import is_same_holder
from bot.recipients.matching import Sameness, same_recipient
from bot.settlement.model import OrderReport, Settlement
from bot.settlement.steps import Step, step_after

BEFORE = timedelta(seconds=5)
AFTER = timedelta(seconds=40)
"""An order was made between our intent and the end of the longest request, a little slack on both sides."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The list, and when it was made: by the service's own clock, and by ours between asking and being answered."""

    reports: tuple[OrderReport, ...]
    served_at: datetime | None
    asked_at: datetime
    answered_at: datetime


async def read_list(settlement: Settlement, clock: Clock) -> Seen:
    """Return the newest orders of our key. Raises `SettlementFailure`."""
    asked_at = clock.now()
    newest = await settlement.newest()
    return Seen(newest.reports, newest.served_at, asked_at, clock.now())


def could_be(order: Order, report: OrderReport, seen: Seen) -> bool:
    """Whether the service's order may be the one that `order` intended.

    Times are compared as ages, each by its own clock: the service's may differ from ours. One that is paid is
    another's, since nobody was shown its invoice. A recipient that the service masks is no proof: another program
    with the same key may have ordered for somebody else at the same bank. See `recipients_of`.
    """
    return (
        (report.bank_code, report.bank_name) == (order.method.code, order.method.name)
        and _has_given_amount(order, report)
        and (report.channel or LIGHTNING) == order.channel
        and recipients_of(order, report) != "different"
        and report.paid_at is None
        and step_after(Step.CREATED, report.state) is Step.CREATED
        and _made_in_window(order, report, seen)
    )


def recipients_of(order: Order, report: OrderReport) -> Sameness:
    """Return whether both go to one recipient; "masked" is only likely, and the sender is asked then.

    A masked number needs four telling digits, and the holder's name to agree where both sides have one.
    """
    if report.recipient is None:
        return "different"
    sameness = same_recipient(order.number, report.recipient, order.method.kind)
    if sameness == "masked" and not is_same_holder(order.holder, report.holder):
        return "different"
    return sameness


def _has_given_amount(order: Order, report: OrderReport) -> bool:
    said = report.sats if order.requested_amount.currency == "SAT" else report.idr
    return said == order.requested_amount.value


def _made_in_window(order: Order, report: OrderReport, seen: Seen) -> bool:
    if report.created_at is None or seen.served_at is None:
        return False
    age = seen.served_at - report.created_at
    earliest, latest = seen.asked_at - age, seen.answered_at - age
    return earliest <= order.created_at + AFTER and latest >= order.created_at - BEFORE

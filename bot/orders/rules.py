"""The settings by which orders are placed and tracked, the limits of an amount, and the time of a request.

The time in which the one request for an intent can begin and end is saved with the intent (`Order.posting_until`). So
every process judges by the same row: the one that asks, and the one whose `LostOrders` looks for lost orders.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal

from bot.core.errors import Rejection
from bot.core.money import MAX_SATS, AmountRejected
from bot.infra.db.transaction import Transaction
from bot.orders.limits import AmountLimits, Limits, LinkLimits
from bot.orders.notifications import OrderNotification
from bot.orders.order import Order, Phase
from bot.recipients.banks import display_name
from bot.settlement.model import PayoutMethod

CheckLink = Callable[[Transaction, str | None, datetime], Awaitable[OrderNotification | None]]
"""Locks a link until the transaction ends, and returns why no order of it may be made or shown at this time.

It returns one of `LINK_OUTCOMES`, or None if an order may. Without a link it does nothing and returns None.
Every step that leads to a request to the service, or to an invoice, asks it in its own transaction. Whoever changes a
link and its orders locks the link first, so that no two of them wait for each other.
"""


class DestinationClosed(Rejection):
    """A listed destination takes no orders, whatever their amount."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderRules:
    """The settings of orders.

    `pay_within` is how long after its creation an invoice can be shown, if it can be paid for longer.
    `longest_request` is how long the request that creates an order can take: the client's total time-out.
    `longest_placement` is how long after its intent that request can be in progress. So it has to begin within the
    difference of both, and after `longest_placement` no process can still be waiting for the answer.
    `longest_answer` is how long before that its first byte must be sent. Connecting takes time, too.
    """

    check_link: CheckLink
    network: str = "bc"
    min_order_idr: int = 20_000
    drift_percent: Decimal = Decimal(1)
    pay_within: timedelta = timedelta(hours=1)
    ask_lost_after: timedelta = timedelta(seconds=60)
    poll_interval: timedelta = timedelta(seconds=5)
    longest_request: timedelta = timedelta(seconds=30)
    longest_placement: timedelta = timedelta(seconds=35)
    longest_answer: timedelta = timedelta(seconds=20)
    operator_ids: frozenset[int] = frozenset()
    support_ids: frozenset[int] = frozenset()
    limits: Limits = field(default_factory=Limits)
    link_limits: LinkLimits = field(default_factory=LinkLimits)
    overdue_after: timedelta = timedelta(minutes=30)
    public_url: str = ""
    """The address of the payment pages; empty if there are none."""

    @property
    def staff_ids(self) -> frozenset[int]:
        """The operators and the support agents."""
        return self.operator_ids | self.support_ids

    def amounts_for(self, method: PayoutMethod | None) -> AmountLimits:
        """Return the limits of one order to `method`, in rupiah. None is a destination that isn't chosen yet."""
        return AmountLimits(self.min_order_idr, method.cap if method else None)

    def check_open(self, method: PayoutMethod | None) -> None:
        """Raise `DestinationClosed` if no order can go to `method`, because not even the smallest fits its cap."""
        if method is not None and self.amounts_for(method).is_above(self.min_order_idr):
            key = "orders.closed.unreadable" if method.unread else "orders.closed.nothing"
            raise DestinationClosed(key, name=display_name(method))

    def check_amount(self, method: PayoutMethod | None, *, idr: int, sats: int) -> None:
        """Raise `DestinationClosed`, or `AmountRejected` for an amount below the minimum or above the cap."""
        self.check_open(method)
        allowed = self.amounts_for(method)
        if allowed.is_below(idr):
            raise AmountRejected("orders.amount.below_minimum", minimum=allowed.minimum)
        if method is not None and allowed.is_above(idr):
            raise AmountRejected("orders.amount.above_cap", cap=allowed.maximum, name=display_name(method))
        if sats > MAX_SATS:
            raise AmountRejected("core.amount.too_large_sats", maximum=MAX_SATS)


def ends_at(intent: Order) -> datetime:
    """Return the time after which no process can still be asking for this intent."""
    return intent.posting_until or intent.created_at


def may_begin(intent: Order, now: datetime, rules: OrderRules) -> bool:
    """Return whether the request may begin now: the intent has no result, and the request will end in time.

    A process that was stopped for a while finds that it is too late, and doesn't ask.
    """
    return intent.phase is Phase.INTENDED and now + rules.longest_request <= ends_at(intent)


def sent_by(intent: Order, rules: OrderRules) -> datetime:
    """Return the time after which the request isn't sent, even if it has begun, such as by waiting for a connection."""
    return ends_at(intent) - rules.longest_answer


def may_be_in_progress(intent: Order, now: datetime) -> bool:
    """Return whether a process can be asking for this intent now."""
    return intent.phase is Phase.INTENDED and now < ends_at(intent)

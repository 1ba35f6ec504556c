"""The time in which the one request for an intent can begin and end.

It is saved with the intent (`Order.posting_until`), so that every process judges by the same row: the one that asks,
and the one whose `LostOrders` looks for lost orders.
"""

from datetime import datetime

from bot.orders.order import Order, Phase
from bot.orders.rules import OrderRules


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

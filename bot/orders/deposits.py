"""Deposits that look the same. The bot and the agents' tools share this rule, also if they share a service key.

Each order by deposit asks for a sum of a token at the tenant's one address (settlement API, 2.6). If two open orders
had the same sum, nobody could say which one a payment is for. So the order that was created first is shown, and the
later one isn't. Both sides read this from the service's list and decide by the service's own times and ids. So two
orders of the same moment can't both be shown, nor both be withheld.
"""

from collections.abc import Sequence
from datetime import UTC, datetime

from bot.orders.order import OFFER_VALID_FOR
from bot.orders.tracking.intervals import TRACK_WITHOUT_EXPIRY
from bot.settlement.model import Deposit, OrderReport
from bot.settlement.steps import FAILED, OrderStep, step_after

LONGEST_LIST = 100
"""Orders in the longest list of the service (4.7). There is no next page, so an older order of another program isn't
seen."""

MAY_BE_PAID_FOR = OFFER_VALID_FOR + TRACK_WITHOUT_EXPIRY
"""How long after its creation a deposit can be shown to a payer: users of the bot may accept a price late."""

FAR = datetime.max.replace(tzinfo=UTC)


def is_list_conclusive(reports: Sequence[OrderReport], service_id: str, *, is_new: bool) -> bool:
    """Return whether the list can say which deposits were open when the order `service_id` was created.

    The service answers with an empty list while its database is away, and orders of that time are in none of its lists.
    So a list without the order proves nothing, unless a hundred newer ones have pushed it out. That can't have happened
    to an order that `is_new`.
    """
    return any(report.service_id == service_id for report in reports) or (not is_new and len(reports) >= LONGEST_LIST)


def find_earlier_deposits(
    reports: Sequence[OrderReport], service_id: str, deposit: Deposit, sats: int, now: datetime
) -> list[OrderReport]:
    """Return the open orders of the list that keep the order `service_id` from being shown, the first of them first.

    Each of them asks for the same sum at the same address, and was created before. Where the list doesn't have the
    order, each open one counts: its creator may not have seen the order in a list either.

    Sats are compared: a token's base units are always the same multiple of them.
    """
    own = next((report for report in reports if report.service_id == service_id), None)
    alike = [
        report
        for report in reports
        if report.service_id != service_id
        and (own is None or _place(report) < _place(own))
        and report.channel == deposit.channel
        and report.sats == sats
        and _may_go_to(report, deposit.to_address)
        and _may_be_paid(report, now)
    ]
    return sorted(alike, key=_place)


def _place(report: OrderReport) -> tuple[datetime, str]:
    """Return what orders are sorted by, on both sides alike: one without a time comes last."""
    return report.created_at or FAR, report.service_id


def _may_go_to(report: OrderReport, address: str) -> bool:
    """Return whether a deposit goes to `address`: where the record doesn't say, it does, as all of a tenant's do."""
    return report.deposit is None or report.deposit.to_address.lower() == address.lower()


def _may_be_paid(report: OrderReport, now: datetime) -> bool:
    """Return whether a payment can still come in; a state that nobody documented is no payment.

    Deposits have no expiry: one counts for as long as the bot could follow it.
    """
    return (
        report.paid_at is None
        and report.state != FAILED
        and step_after(OrderStep.CREATED, report.state) is OrderStep.CREATED
        and (report.expires_at is None or now < report.expires_at)
        and (report.created_at is None or now < report.created_at + MAY_BE_PAID_FOR)
    )

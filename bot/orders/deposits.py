"""Keep deposits apart. The bot and the agents' tools share these rules.

Each order by deposit asks for an amount of a token at the tenant's one address (settlement API, 2.6). If two open
orders had the same amount, nobody could say which one a payment is for. The service knows nothing of what was shown:
an order that was dropped, lost or withheld can still be paid.

So the bot orders deposits in sats, and each of its orders gets a sum of its own (`choose_sum`). Other programs may use
the same service key, and the bot's database doesn't know their orders. Of equal ones, the order that was created first
is shown, and the later one isn't. The bot and the tools decide by the times and ids in the service's list, so of two
orders created at the same moment, exactly one is shown.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import count

from bot.orders.order import OFFER_VALID_FOR
from bot.orders.poll_intervals import TRACK_WITHOUT_EXPIRY
from bot.settlement.model import FAILED, Deposit, NewestOrders, OrderReport, OrderStep, step_after

LONGEST_LIST = 100
"""Orders in the longest list of the service (settlement API, 4.7). There is no next page, so older orders of other
programs aren't seen."""

MAY_BE_PAID_FOR = OFFER_VALID_FOR + TRACK_WITHOUT_EXPIRY
"""How long after its creation a deposit can be paid. Users of the bot can accept a price for up to a day."""

SEARCHED_PER_MILLE = 10
"""How much larger than the least possible sum one may be that no order ever had, in thousandths of it."""

LAST = datetime.max.replace(tzinfo=UTC)


def last_sum_preferred(least: int) -> int:
    """Return the largest sum that is preferred, if no order ever had it, over a smaller one of an old order."""
    return least + least * SEARCHED_PER_MILLE // 1000


def choose_sum(least: int, used: Mapping[int, bool]) -> int:
    """Return the sum in sats of a new deposit: the first free one, `least` or more.

    `used` has the sums of our deposits that aren't known to be paid or ended, and whether one of them may be paid now:
    it is shown, or it is new enough (`MAY_BE_PAID_FOR`). The service never ends an unpaid order. So a sum that no order
    ever had is preferred, if there is one close by. Otherwise the sum of an old order is free again.
    """
    unused = next((sats for sats in range(least, last_sum_preferred(least) + 1) if sats not in used), None)
    if unused is not None:
        return unused
    return next(sats for sats in count(least) if not used.get(sats, False))


def is_list_conclusive(reports: Sequence[OrderReport], service_id: str, *, is_new: bool) -> bool:
    """Return whether the list shows which deposits were open when the order `service_id` was created.

    While its database is down, the service answers with an empty list, and orders created then are never listed. So a
    list without the order proves nothing. The exception is a full list: a hundred newer orders may have displaced the
    order, unless it `is_new`.
    """
    return any(report.service_id == service_id for report in reports) or (not is_new and len(reports) >= LONGEST_LIST)


def has_all_open_deposits(newest: NewestOrders, now: datetime) -> bool:
    """Return whether the list has every deposit that can still be paid.

    Each row can be read, and the list is either shorter than the longest one, or its oldest order is so old that none
    before it can be paid.
    """
    if newest.skipped:
        return False
    if len(newest.reports) < LONGEST_LIST:
        return True
    oldest = newest.reports[-1].created_at
    return oldest is not None and oldest <= now - MAY_BE_PAID_FOR


def find_earlier_deposits(
    reports: Sequence[OrderReport], service_id: str, deposit: Deposit, sats: int, now: datetime
) -> list[OrderReport]:
    """Return the open orders in the list because of which the order `service_id` can't be shown, oldest first.

    Each asks for the same amount at the same address, and was created before. If the list doesn't have the order, each
    such open order counts, because its creator may not have seen this order in a list either.

    Amounts are compared in sats. A token's base units are always the same multiple of them.
    """
    own = next((report for report in reports if report.service_id == service_id), None)
    alike = [
        report
        for report in reports
        if report.service_id != service_id
        and (own is None or _sort_key(report) < _sort_key(own))
        and report.channel == deposit.channel
        and report.sats == sats
        and _may_go_to(report, deposit.to_address)
        and may_be_paid(report, now)
    ]
    return sorted(alike, key=_sort_key)


def _sort_key(report: OrderReport) -> tuple[datetime, str]:
    """Return the creation time and the id, by which the bot and the tools sort. Orders without a time come last."""
    return report.created_at or LAST, report.service_id


def _may_go_to(report: OrderReport, address: str) -> bool:
    """Return whether a deposit may go to `address`. A record without an address counts: a tenant has only one."""
    return report.deposit is None or report.deposit.to_address.lower() == address.lower()


def may_be_paid(report: OrderReport, now: datetime) -> bool:
    """Return whether an order can still be paid. An undocumented state counts as unpaid.

    Deposits have no expiry. So a deposit counts for as long as the bot would poll it.
    """
    return (
        not is_settled(report)
        and (report.expires_at is None or now < report.expires_at)
        and (report.created_at is None or now < report.created_at + MAY_BE_PAID_FOR)
    )


def is_settled(report: OrderReport) -> bool:
    """Return whether the service has failed the order, or has received its payment."""
    return (
        report.paid_at is not None
        or report.state == FAILED
        or step_after(OrderStep.CREATED, report.state) is not OrderStep.CREATED
    )

"""The payment part of an order's record: how to pay, or why the payment isn't shown.

Orders that this process created were compared with the request, and the result is remembered. After a restart it is
lost, and another program with the same key may have created the order. Then the price is compared with the current
quote and the amount with the destination's cap. The caller is asked to compare the rest.
"""

from dataclasses import dataclass
from decimal import Decimal

from bot.core.money import Amount
from bot.mcp_server.service import NewestOrders, Service
from bot.mcp_server.tools.payable import NOT_ALL_LISTED, USE_LIGHTNING, Payment, check_known_payment, explain_duplicate
from bot.orders.deposits import find_earlier_deposits, is_list_conclusive
from bot.orders.placement.invoice_check import Unpayable
from bot.rates.model import estimate, price_drift_percent
from bot.settlement.adapter import to_deposit
from bot.settlement.client import Order, SettlementError
from bot.settlement.model import Quote

UNCHECKED = (
    "its price and amount can't be checked, because the rate or the list of destinations isn't available right now. "
    "Call again in 5 seconds"
)
UNLISTED = (
    "the list of orders doesn't have it, so it isn't known whether another deposit of the same amount is open. Call "
    "again in 5 seconds"
)
COMPARE = (
    "This server doesn't remember what was requested with this order. Pay it only if the amount and the destination "
    "are exactly what your user wants."
)


@dataclass(frozen=True, slots=True)
class ShownPayment:
    """Either `payment` with a note to read before paying, or the reason `why_not`."""

    payment: Payment | None = None
    why_not: str | None = None
    warnings: tuple[str, ...] = ()


async def shown_payment(service: Service, order: Order) -> ShownPayment:
    """Return the payment part of one order."""
    (shown,) = await shown_payments(service, (order,))
    return shown


async def shown_payments(service: Service, orders: tuple[Order, ...]) -> list[ShownPayment]:
    """Return the payment part of each order. Rate and caps are read once, and only if an order needs them."""
    checked = [_checked(service, order) for order in orders]
    if all(each.payment is None or service.is_verified(order.id) for order, each in zip(orders, checked, strict=True)):
        return checked
    try:
        await service.methods()
        quote = await service.price()
        has_deposit = any(each.payment is not None and each.payment.deposit is not None for each in checked)
        newest = await service.newest() if has_deposit else NewestOrders()
    except SettlementError:
        price, newest = None, NewestOrders()
    else:
        price = Quote(quote.btc_idr, quote.fetched_at)
    return [_compared(service, order, _checked(service, order), price, newest) for order in orders]


def _checked(service: Service, order: Order) -> ShownPayment:
    """Check what the record and this process's memory allow. A cap is checked only if it was read."""
    withheld = service.why_withheld(order.id)
    if withheld is not None:
        return ShownPayment(why_not=withheld)
    allowed = service.amounts_for(order.partner_payout_bank_code, order.partner_payout_bank_name)
    try:
        payment = check_known_payment(order, service.rules, allowed=allowed, now=service.clock.now())
    except Unpayable as reason:
        return ShownPayment(why_not=str(reason))
    return ShownPayment(payment)


def _compared(
    service: Service, order: Order, shown: ShownPayment, price: Quote | None, newest: NewestOrders
) -> ShownPayment:
    """Compare an order that this process doesn't remember with the current quote and the newest orders."""
    if shown.payment is None or service.is_verified(order.id):
        return shown
    if price is None:
        return ShownPayment(why_not=UNCHECKED)
    why_not = _why_not_alone(service, order, newest)
    if why_not is not None:
        return ShownPayment(why_not=why_not)
    checked = service.rules.check_price(_drift_percent(order, price))
    if checked.why_not is not None:
        return ShownPayment(why_not=checked.why_not)
    return ShownPayment(shown.payment, warnings=(COMPARE, *checked.warnings))


def _why_not_alone(service: Service, order: Order, newest: NewestOrders) -> str | None:
    """Return why a deposit isn't shown that can be confused with another one, or None."""
    deposit = to_deposit(order)
    if deposit is None:
        return None
    now = service.clock.now()
    if not is_list_conclusive(newest.reports, order.id, is_new=False):
        return UNLISTED
    if not newest.has_all_open_deposits(now):
        return f"{NOT_ALL_LISTED}. Create the order again: {USE_LIGHTNING}"
    before = find_earlier_deposits(newest.reports, order.id, deposit, order.sat_amount, now)
    return explain_duplicate(before[0]) if before else None


def _drift_percent(order: Order, price: Quote) -> Decimal:
    expected = estimate(Amount("IDR", order.idr_amount), price)
    return price_drift_percent(
        expected_sats=expected.sats, expected_idr=expected.idr, sats=order.sat_amount, idr=order.idr_amount
    )

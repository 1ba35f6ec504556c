"""The payment of an order, shown only if it is what was agreed: see `orders/placement/invoice_check`.

An invoice must ask for exactly the order's sats, on the right network, and not be expired. A deposit must name a known
token, contract and chain. Anything else isn't shown, because an agent pays what it is shown.

Orders that this process created were compared with the request, and the result is remembered. After a restart it is
lost, and another program with the same key may have created the order. Then the price is compared with the current
quote and the amount with the destination's cap. The caller is asked to compare the rest.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import partial

from pydantic import Field

from bot.core.money import Amount
from bot.mcp_server.answers import Output, format_time
from bot.mcp_server.service import AgentRules, Service
from bot.orders.deposits import find_earlier_deposits, has_all_open_deposits, is_list_conclusive
from bot.orders.limits import AmountLimits
from bot.orders.placement.invoice_check import CheckedPayment, Unpayable, check_created, limit_invoice_time
from bot.payments.erc681 import format_token_amount, transfer_uri, units_for_sats
from bot.payments.qr import invoice_qr_payload
from bot.payments.tokens import LIGHTNING, LIGHTNING_SCHEME, TOKENS
from bot.rates.model import Estimate, estimate, price_drift_percent
from bot.settlement.errors import SettlementFailure
from bot.settlement.model import STEP_OF_STATE, CreatedOrder, Deposit, NewestOrders, OrderReport, OrderStep, Quote

NOT_AWAITED = "the order isn't waiting for payment"
NOT_ALL_LISTED = (
    "the service's list doesn't show every deposit that can still be paid, and a payment could be taken for another one"
)
UNCHECKED = (
    "its price and amount can't be checked, because the rate or the list of destinations isn't available right now. "
    "Call again in 5 seconds"
)
UNLISTED = (
    "the list of orders doesn't have it right now, so it isn't known whether another deposit of the same amount is "
    "open. Don't create another order. Call get_offramp_order for it in 5 seconds or later"
)
COMPARE = (
    "This server doesn't remember what was requested with this order. Pay it only if the amount and the destination "
    "are exactly what your user wants."
)
USE_LIGHTNING = "Send depositChannel lightning instead: every Lightning invoice is unmistakable"


class DepositOut(Output):
    """How an order is paid with a token."""

    channel: str
    chain_id: int
    chain_name: str
    token_symbol: str
    token_address: str = Field(description="The token's contract.")
    to_address: str = Field(description="The address to send the token to.")
    decimals: int
    amount: str = Field(description="Amount of the token, in decimal.")
    amount_units: str = Field(
        description="The same amount in the token's base units. A string, because it can exceed 2^53."
    )
    qr_value: str = Field(description="ERC-681 request for exactly this transfer, for a wallet to open or scan.")


@dataclass(frozen=True, slots=True)
class Payment:
    """A payment that was checked against the order."""

    bolt11: str | None
    deposit: DepositOut | None
    expires_at: datetime | None
    payment_hash: str | None = None

    @property
    def uri(self) -> str:
        """Return the URI that opens a wallet."""
        return f"{LIGHTNING_SCHEME}{self.bolt11}" if self.deposit is None else self.deposit.qr_value

    @property
    def qr_payload(self) -> str:
        """Return the URI in the form that suits a QR code."""
        return invoice_qr_payload(self.bolt11 or "") if self.deposit is None else self.deposit.qr_value


def check_new_payment(
    created: CreatedOrder, rules: AgentRules, *, requested: Amount, channel: str, allowed: AmountLimits, now: datetime
) -> Payment:
    """Return the payment of a new order. Raise `Unpayable` if it isn't what was requested."""
    shown = check_created(
        created, requested=requested, channel=channel, network=rules.network, allowed=allowed, now=now
    )
    return _payment(created, channel, shown, now + rules.pay_within)


def check_known_payment(order: OrderReport, rules: AgentRules, *, allowed: AmountLimits, now: datetime) -> Payment:
    """Return the payment of a listed order. Raise `Unpayable` if there is none, or a wrong one."""
    if not awaits_payment(order):
        raise Unpayable(NOT_AWAITED)
    created, requested, channel = order.as_created(), Amount("SAT", order.sats), order.channel or LIGHTNING
    shown = check_created(
        created, requested=requested, channel=channel, network=rules.network, allowed=allowed, now=now
    )
    payment = _payment(created, channel, shown, (order.created_at or now) + rules.pay_within)
    if payment.expires_at is not None and payment.expires_at <= now:
        raise Unpayable(f"the time to pay it ended at {payment.expires_at:%Y-%m-%d %H:%M:%S} UTC")
    return payment


def awaits_payment(order: OrderReport) -> bool:
    """Return whether the service's record says that the order isn't paid yet."""
    return STEP_OF_STATE.get(order.state) == OrderStep.CREATED and order.paid_at is None


def check_alone(
    newest: NewestOrders, order_id: str, deposit: Deposit | None, *, sats: int, is_new: bool, now: datetime
) -> None:
    """Check that an order's deposit can't be confused with that of another. Raise `Unpayable` if it can."""
    if deposit is None:
        return
    if not is_list_conclusive(newest.reports, order_id, is_new=is_new):
        raise Unpayable(UNLISTED)
    if not has_all_open_deposits(newest, now):
        raise Unpayable(f"{NOT_ALL_LISTED}. Create the order again: {USE_LIGHTNING}")
    for first in find_earlier_deposits(newest.reports, order_id, deposit, sats, now):
        raise Unpayable(
            f"order {first.service_id} waits for a deposit of the same amount to the same address, and a payment could "
            "be taken for either. Wait until that order is done, or use another amount or depositChannel lightning"
        )


def _payment(created: CreatedOrder, channel: str, payable: CheckedPayment, pay_by: datetime) -> Payment:
    if channel == LIGHTNING or created.deposit is None:
        return Payment(payable.bolt11, None, limit_invoice_time(payable, pay_by), payable.payment_hash)
    return Payment(None, _deposit_out(created.deposit, created.sats), payable.expires_at)


def _deposit_out(deposit: Deposit, sats: int) -> DepositOut:
    token = TOKENS[deposit.channel]
    return DepositOut(
        channel=token.code,
        chain_id=token.chain.id,
        chain_name=token.chain.name,
        token_symbol=token.symbol,
        token_address=token.contract,
        to_address=deposit.to_address,
        decimals=token.decimals,
        amount=format_token_amount(sats),
        amount_units=str(units_for_sats(token, sats)),
        qr_value=transfer_uri(token, deposit.to_address, sats),
    )


@dataclass(frozen=True, slots=True)
class ShownPayment:
    """Either `payment` with a note to read before paying, or the reason `why_not`."""

    payment: Payment | None = None
    why_not: str | None = None
    warnings: tuple[str, ...] = ()


async def shown_payment(service: Service, order: OrderReport) -> ShownPayment:
    """Return the payment part of one order."""
    (shown,) = await shown_payments(service, (order,))
    return shown


async def shown_payments(service: Service, orders: tuple[OrderReport, ...]) -> list[ShownPayment]:
    """Return the payment part of each order. Rate and caps are read once, and only if an order needs them."""
    shown = [_show(service, order) for order in orders]
    paid_with = [
        each.payment
        for order, each in zip(orders, shown, strict=True)
        if each.payment is not None and not service.is_verified(order.service_id)
    ]
    if not paid_with:
        return shown
    price, newest = None, NewestOrders()
    with suppress(SettlementFailure):
        await service.methods()
        quote = await service.price()
        if any(payment.deposit for payment in paid_with):
            newest = await service.newest()
        price = quote
    return [_show(service, order, partial(_compare, service, price, newest)) for order in orders]


def _show(
    service: Service, order: OrderReport, compare: Callable[[OrderReport], tuple[str, ...]] = lambda _: ()
) -> ShownPayment:
    """Return the payment part of an order. `compare` is for those that this process doesn't remember."""
    try:
        payment = _check(service, order)
        return ShownPayment(payment, warnings=() if service.is_verified(order.service_id) else compare(order))
    except Unpayable as reason:
        return ShownPayment(why_not=str(reason))


def _check(service: Service, order: OrderReport) -> Payment:
    """Check what the record and this process's memory allow. A cap is checked only if it was read."""
    withheld = service.why_withheld(order.service_id)
    if withheld is not None:
        raise Unpayable(withheld)
    allowed = service.amounts_for(order.bank_code, order.bank_name)
    return check_known_payment(order, service.rules, allowed=allowed, now=service.clock.now())


def _compare(service: Service, price: Quote | None, newest: NewestOrders, order: OrderReport) -> tuple[str, ...]:
    """Compare an order that this process doesn't remember with the quote and the newest orders. Return warnings."""
    if price is None:
        raise Unpayable(UNCHECKED)
    now = service.clock.now()
    check_alone(newest, order.service_id, order.deposit, sats=order.sats, is_new=False, now=now)
    expected = estimate(Amount("IDR", order.idr), price)
    return (COMPARE, *service.rules.check_price(drift_percent(expected, sats=order.sats, idr=order.idr)))


def drift_percent(expected: Estimate, *, sats: int, idr: int) -> Decimal:
    """Return how much worse for the payer a price is than the expected one, in percent."""
    return price_drift_percent(expected_sats=expected.sats, expected_idr=expected.idr, sats=sats, idr=idr)


def payment_lines(bolt11: str | None, deposit: DepositOut | None, expires_at: datetime | None) -> list[str]:
    """Return the lines that say how to pay."""
    until = "" if expires_at is None else f" before {format_time(expires_at)}"
    if deposit is None:
        return [f"Pay this Lightning invoice{until}:", str(bolt11)]
    where = f"on {deposit.chain_name} (chain {deposit.chain_id})"
    token = f"{deposit.token_symbol} (contract {deposit.token_address})"
    return [
        f"Send exactly {deposit.amount} {token} {where} to {deposit.to_address}{until}.",
        "Another token, network or amount may not count for this order. After such a mistake don't send again.",
        deposit.qr_value,
    ]

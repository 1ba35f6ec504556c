"""What may be shown of an order that the service has created: its invoice, a question, or nothing."""

from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

from bot.core.money import Amount
from bot.orders.limits import AmountLimits
from bot.orders.notifications.kinds import OrderNotification
from bot.orders.order import EventNote, HoldReason, Order, Phase, make_payable
from bot.payments import bolt11, erc681
from bot.payments.errors import InvoiceMismatch
from bot.payments.tokens import LIGHTNING
from bot.rates.quote import price_drift_percent
from bot.settlement.model import Placed
from bot.settlement.steps import FAILED

LONG_INVOICE = 500
"""Characters; a shorter one surely stands under its picture. A longer one may need a message of its own."""

TOO_GOOD_PERCENT = Decimal(5)
"""A locked price better than the reviewed one by more than this is likely a slip of units: the sender is asked."""


@dataclass(frozen=True, slots=True)
class InvoiceCheck:
    """The order with the service's answer, the notifications for its user, and a complaint for the staff.

    `note` is for the order's timeline.
    """

    order: Order
    notifications: tuple[OrderNotification, ...]
    complaint: str | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Payable:
    """What a payer may be shown: `bolt11` as the decoder reads it, never as the service spells it; UTC `expires_at`."""

    expires_at: datetime | None
    bolt11: str | None = None
    payment_hash: str | None = None


def check_invoice(
    order: Order,
    placed: Placed,
    *,
    network: str,
    drift_percent: Decimal,
    allowed: AmountLimits,
    now: datetime,
    is_masked: bool = False,
) -> InvoiceCheck:
    """Check `placed`, the service's answer to what `order` asks for.

    Nothing that asks for other than the agreed amount, on another network, of another token or too late is
    shown, nor what would bring more or less than `allowed`. The sender is asked first where the locked price is
    worse than the reviewed one by more than `drift_percent` or better by more than `TOO_GOOD_PERCENT`, and where
    the order was found by a recipient that the service shows in part only (`is_masked`).
    """
    made = replace(
        order,
        service_id=placed.service_id,
        sats=placed.sats,
        idr=placed.idr,
        btc_idr=placed.btc_idr,
        bolt11=placed.bolt11,
        deposit=placed.deposit,
        expires_at=placed.expires_at,
    )
    try:
        payable = check_placed(
            placed, requested=order.requested_amount, channel=order.channel, network=network, allowed=allowed, now=now
        )
    except OutsideLimits:
        # The market moved between the review and the order: nobody's mistake, and nothing for staff to do.
        return withhold(_with_payment_hash(made), OrderNotification.OUTSIDE_LIMITS, note=EventNote.OUTSIDE_LIMITS)
    except Unpayable as complaint:
        return withhold(_with_payment_hash(made), OrderNotification.NOT_SHOWN, complaint=str(complaint))
    made = replace(made, expires_at=payable.expires_at, bolt11=payable.bolt11, payment_hash=payable.payment_hash)
    if is_masked:
        return InvoiceCheck(
            replace(made, phase=Phase.NEEDS_CONFIRMATION, hold_reason=HoldReason.RECIPIENT_MASKED),
            (OrderNotification.RECIPIENT_MASKED,),
        )
    drift = price_drift_percent(
        expected_sats=order.expected_sats, expected_idr=order.expected_idr, sats=placed.sats, idr=placed.idr
    )
    if drift > drift_percent or drift < -TOO_GOOD_PERCENT:
        return InvoiceCheck(
            replace(made, phase=Phase.NEEDS_CONFIRMATION, hold_reason=HoldReason.PRICE_CHANGED),
            (OrderNotification.PRICE_MOVED,),
        )
    payable_now = make_payable(made, now)
    return InvoiceCheck(payable_now, payment_notifications(payable_now))


def payment_notifications(order: Order) -> tuple[OrderNotification, ...]:
    """Return what shows the user how to pay."""
    if order.bolt11 is not None and len(order.bolt11) > LONG_INVOICE:
        return (OrderNotification.INVOICE, OrderNotification.INVOICE_TEXT, OrderNotification.CARD)
    return (OrderNotification.INVOICE, OrderNotification.CARD)


def withhold(order: Order, kind: OrderNotification, *, complaint: str | None = None, note: str = "") -> InvoiceCheck:
    """Return the check of an `order` that is never shown. What must not be paid isn't even kept.

    Only the payment hash is, so that no other order is shown with the same invoice.
    """
    abandoned = replace(order, phase=Phase.ABANDONED, bolt11=None, deposit=None)
    return InvoiceCheck(abandoned, (kind,), complaint, note)


def _with_payment_hash(order: Order) -> Order:
    try:
        return replace(order, payment_hash=bolt11.decode(order.bolt11 or "").payment_hash)
    except bolt11.InvoiceError:
        return order


class Unpayable(Exception):
    """What the service asks the payer for isn't what was agreed. The message is for staff: figures only."""


class OutsideLimits(Unpayable):
    """The locked amount would fail after the payment: too little to pay out, or over the destination's cap."""


def check_placed(
    placed: Placed, *, requested: Amount, channel: str, network: str, allowed: AmountLimits, now: datetime
) -> Payable:
    """Return what may be shown of `placed`, and until when it can be paid.

    Raises:
        OutsideLimits: all is as agreed, but the locked rupiah are outside `allowed` (settlement API, 4.5.6).
        Unpayable: it asks for other than `requested` over `channel`, or can't be paid (any more).
    """
    if placed.state == FAILED:
        raise Unpayable("the order failed before it was shown")
    _check_amounts(requested, placed)
    if channel == LIGHTNING:
        payable = _check_invoice(placed, network, now)
    else:
        _check_deposit(channel, placed)
        payable = Payable(placed.expires_at)
    if payable.expires_at is not None and payable.expires_at <= now:
        raise Unpayable(f"the order expired at {payable.expires_at:%Y-%m-%d %H:%M:%S} UTC")
    if allowed.is_below(placed.idr):
        raise OutsideLimits(f"it would bring {placed.idr} rupiah, less than the smallest order ({allowed.minimum})")
    if allowed.is_above(placed.idr):
        raise OutsideLimits(
            f"it would bring {placed.idr} rupiah, more than the destination accepts ({allowed.maximum})"
        )
    return payable


def _check_amounts(requested: Amount, placed: Placed) -> None:
    answered = placed.sats if requested.currency == "SAT" else placed.idr
    if answered != requested.value:
        raise Unpayable(f"{requested.value} {requested.currency} was requested, but the order is for {answered}")
    if placed.sats <= 0 or placed.idr <= 0:
        raise Unpayable(f"the order is for {placed.sats} sats and {placed.idr} rupiah")


def _check_invoice(placed: Placed, network: str, now: datetime) -> Payable:
    if placed.bolt11 is None:
        raise Unpayable("the order has no Lightning invoice")
    try:
        invoice = bolt11.decode(placed.bolt11)
        bolt11.check(invoice, sats=placed.sats, network=network, now=now)
    except InvoiceMismatch as error:
        raise Unpayable(str(error)) from None
    except bolt11.InvoiceError as error:
        raise Unpayable(f"the invoice can't be used: {error}") from None
    # The invoice is what a wallet goes by; the order's own field may only shorten it.
    expires_at = min(invoice.expires_at, placed.expires_at or invoice.expires_at)
    return Payable(expires_at, invoice.text, invoice.payment_hash)


def _check_deposit(channel: str, placed: Placed) -> None:
    deposit = placed.deposit
    if deposit is None or placed.bolt11 is not None:
        raise Unpayable(f"the {channel} order has no deposit instructions")
    try:
        erc681.check_deposit(
            channel=channel,
            chain_id=deposit.chain_id,
            token_address=deposit.token_address,
            decimals=deposit.decimals,
            to_address=deposit.to_address,
        )
    except erc681.DepositCheckError as error:
        raise Unpayable(f"the deposit instructions are wrong: {error}") from None
    if deposit.channel != channel:
        raise Unpayable(f"{channel} was requested, but the deposit is {deposit.channel}")

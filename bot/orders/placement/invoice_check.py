"""Decide what may be shown of an order that the service has created: its invoice, a question, or nothing."""

from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from bot.core.money import Amount
from bot.orders.limits import AmountLimits
from bot.orders.notifications import OrderNotification
from bot.orders.order import EventNote, HoldReason, Order, Phase, make_payable
from bot.payments import bolt11, erc681
from bot.payments.errors import InvoiceMismatch
from bot.payments.tokens import LIGHTNING
from bot.rates.model import price_drift_percent
from bot.settlement.model import FAILED, CreatedOrder

if TYPE_CHECKING:
    from bot.orders.rules import OrderRules

LONG_INVOICE = 500
"""Characters. A longer invoice may not fit under its picture, and then needs a message of its own."""

TOO_GOOD_PERCENT = Decimal(5)
"""If the locked price is better than the reviewed one by more than this, the units may be mixed up. The sender is
asked."""


@dataclass(frozen=True, slots=True)
class InvoiceCheck:
    """The order after the service's answer, and the notifications for its user.

    `complaint` tells the staff what is wrong. `note` is for the order's timeline.
    """

    order: Order
    notifications: tuple[OrderNotification, ...]
    complaint: str | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class CheckedPayment:
    """What a payer may be shown. `bolt11` is as the decoder normalises it, not as the service wrote it."""

    expires_at: datetime | None
    bolt11: str | None = None
    payment_hash: str | None = None


def check_invoice(
    order: Order, created: CreatedOrder, rules: "OrderRules", now: datetime, *, is_masked: bool = False
) -> InvoiceCheck:
    """Check the service's answer `created` to the request of `order`.

    The order isn't shown if the amount, the network or the token isn't as agreed, if it has expired, or if its rupiah
    are outside the limits. The sender is asked first if the locked price is worse than the reviewed one by more than
    `drift_percent`, or better by more than `TOO_GOOD_PERCENT`, or if a deposit would bring less rupiah than the sender
    asked for. The sender is also asked if the service shows only part of the recipient by which the order was found
    (`is_masked`). An invoice is shown for up to `pay_within` after the request for it. If the order was found
    so late that little of that time is left, the price of now is offered.
    """
    asked = order.created_at  # an order that is found later can have expired since
    order_after = replace(
        order,
        service_id=created.service_id,
        sats=created.sats,
        idr=created.idr,
        btc_idr=created.btc_idr,
        bolt11=created.bolt11,
        deposit=created.deposit,
        expires_at=created.expires_at,
    )
    try:
        checked = check_created(
            created,
            requested=order.requested_amount,
            channel=order.channel,
            network=rules.network,
            allowed=rules.amounts_for(order.method),
            now=asked,
        )
    except OutsideLimits:
        # The market moved between the review and the order. That is no error, so the staff get no alarm.
        return withhold(
            _with_payment_hash(order_after), OrderNotification.OUTSIDE_LIMITS, note=EventNote.OUTSIDE_LIMITS
        )
    except Unpayable as complaint:
        return withhold(_with_payment_hash(order_after), OrderNotification.NOT_SHOWN, complaint=str(complaint))
    order_after = replace(
        order_after,
        expires_at=limit_invoice_time(checked, asked + rules.pay_within),
        invoice_expires_at=checked.expires_at,
        bolt11=checked.bolt11,
        payment_hash=checked.payment_hash,
    )
    if order_after.is_offer_over(now):
        return withhold(order_after, OrderNotification.OFFER_OVER, note=EventNote.OFFER_OVER)
    if is_masked:
        return _ask(order_after, HoldReason.RECIPIENT_MASKED, OrderNotification.RECIPIENT_MASKED)
    drift = price_drift_percent(
        expected_sats=order.expected_sats, expected_idr=order.expected_idr, sats=created.sats, idr=created.idr
    )
    if drift > rules.drift_percent or drift < -TOO_GOOD_PERCENT or order_after.brings_less_than_asked:
        return _ask(order_after, HoldReason.PRICE_CHANGED, OrderNotification.PRICE_MOVED)
    payable_order = make_payable(order_after, now)
    return InvoiceCheck(payable_order, payment_notifications(payable_order))


def payment_notifications(order: Order) -> tuple[OrderNotification, ...]:
    """Return the notifications that show the user how to pay."""
    if order.bolt11 is not None and len(order.bolt11) > LONG_INVOICE:
        return (OrderNotification.INVOICE, OrderNotification.INVOICE_TEXT)
    return (OrderNotification.INVOICE,)


def withhold(order: Order, kind: OrderNotification, *, complaint: str | None = None, note: str = "") -> InvoiceCheck:
    """Return the check of an `order` that is never shown. Its invoice and deposit are removed.

    The payment hash is kept, so that no other order is shown with the same invoice.
    """
    abandoned = replace(order, phase=Phase.ABANDONED, bolt11=None, deposit=None)
    return InvoiceCheck(abandoned, (kind,), complaint, note)


def _ask(order: Order, reason: HoldReason, question: OrderNotification) -> InvoiceCheck:
    return InvoiceCheck(replace(order, phase=Phase.NEEDS_CONFIRMATION, hold_reason=reason), (question,))


def _with_payment_hash(order: Order) -> Order:
    try:
        return replace(order, payment_hash=bolt11.decode(order.bolt11 or "").payment_hash)
    except bolt11.InvoiceError:
        return order


class Unpayable(Exception):
    """The order isn't as agreed, or can't be paid. The message is for staff, and contains no personal data."""


class OutsideLimits(Unpayable):
    """The payout would fail after the payment: the locked amount is below the minimum or above the cap."""


def check_created(
    created: CreatedOrder, *, requested: Amount, channel: str, network: str, allowed: AmountLimits, now: datetime
) -> CheckedPayment:
    """Return what a payer may be shown of `created`.

    Raises:
        OutsideLimits: everything is as agreed, but the locked rupiah are outside `allowed` (settlement API, 4.5.6).
        Unpayable: the order isn't for `requested` over `channel`, or can't be paid (any longer).
    """
    if created.state == FAILED:
        raise Unpayable("the order failed before it was shown")
    _check_amounts(requested, created)
    if channel == LIGHTNING:
        checked = _check_invoice(created, network, now)
    else:
        _check_deposit(channel, created)
        checked = CheckedPayment(created.expires_at)
    if checked.expires_at is not None and checked.expires_at <= now:
        raise Unpayable(f"the order expired at {checked.expires_at:%Y-%m-%d %H:%M:%S} UTC")
    if allowed.is_below(created.idr):
        raise OutsideLimits(f"it would bring {created.idr} rupiah, less than the smallest order ({allowed.minimum})")
    if allowed.is_above(created.idr):
        raise OutsideLimits(
            f"it would bring {created.idr} rupiah, more than the destination accepts ({allowed.maximum})"
        )
    return checked


def limit_invoice_time(checked: CheckedPayment, pay_by: datetime) -> datetime | None:
    """Return until when a payment is shown: an invoice until `pay_by`, or its earlier end. A deposit keeps its time."""
    return checked.expires_at if checked.bolt11 is None else min(checked.expires_at or pay_by, pay_by)


def _check_amounts(requested: Amount, created: CreatedOrder) -> None:
    answered = created.sats if requested.currency == "SAT" else created.idr
    if answered != requested.value:
        raise Unpayable(f"{requested.value} {requested.currency} was requested, but the order is for {answered}")
    if created.sats <= 0 or created.idr <= 0:
        raise Unpayable(f"the order is for {created.sats} sats and {created.idr} rupiah")


def _check_invoice(created: CreatedOrder, network: str, now: datetime) -> CheckedPayment:
    if created.bolt11 is None:
        raise Unpayable("the order has no Lightning invoice")
    try:
        invoice = bolt11.decode(created.bolt11)
        bolt11.check(invoice, sats=created.sats, network=network, now=now)
    except InvoiceMismatch as error:
        raise Unpayable(str(error)) from None
    except bolt11.InvoiceError as error:
        raise Unpayable(f"the invoice can't be used: {error}") from None
    # Wallets use the expiry of the invoice. The order's own field can only make it earlier.
    expires_at = min(invoice.expires_at, created.expires_at or invoice.expires_at)
    return CheckedPayment(expires_at, invoice.text, invoice.payment_hash)


def _check_deposit(channel: str, created: CreatedOrder) -> None:
    deposit = created.deposit
    if deposit is None or created.bolt11 is not None:
        raise Unpayable(f"the {channel} order has no deposit instructions")
    try:
        token = erc681.check_deposit(
            channel=channel,
            chain_id=deposit.chain_id,
            token_address=deposit.token_address,
            decimals=deposit.decimals,
            to_address=deposit.to_address,
        )
        if created.deposit_uri is not None:
            erc681.check_service_uri(created.deposit_uri, token, deposit.to_address, created.sats)
    except erc681.DepositCheckError as error:
        raise Unpayable(f"the deposit instructions are wrong: {error}") from None
    if deposit.channel != channel:
        raise Unpayable(f"{channel} was requested, but the deposit is {deposit.channel}")

"""What may be shown of an order that the service has made: its invoice, a question, or nothing."""

from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

from bot.actions.market import LIGHTNING
from bot.actions.ports import Placed
from bot.domain.money import Amount
from bot.domain.order import Notice, Order, Phase
from bot.domain.quote import price_drift_percent
from bot.domain.timeline import FAILED
from bot.invoices import bolt11, erc681


@dataclass(frozen=True, slots=True)
class Verdict:
    """The order with what the service made of it, what its person is told, and what staff must hear of it."""

    order: Order
    notices: tuple[Notice, ...]
    complaint: str | None = None


def judge(order: Order, placed: Placed, *, network: str, drift_percent: Decimal, now: datetime) -> Verdict:
    """Decide on `placed`, the service's answer to `order`'s wish.

    Nothing that asks for other than the agreed amount, on another network, of another token or too late is
    shown; a locked price worse than the reviewed one by more than `drift_percent` is asked about first.
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
        expires_at = check_placed(placed, given=order.given, channel=order.channel, network=network, now=now)
        made = replace(made, expires_at=expires_at)
    except Unpayable as complaint:
        # What must never be shown is not even kept.
        unshown = replace(made, phase=Phase.UNSHOWN, bolt11=None, deposit=None)
        return Verdict(unshown, (Notice.NOT_SHOWN,), str(complaint))
    drift = price_drift_percent(
        expected_sats=order.expected_sats, expected_idr=order.expected_idr, sats=placed.sats, idr=placed.idr
    )
    if drift > drift_percent:
        return Verdict(replace(made, phase=Phase.HELD), (Notice.PRICE_MOVED,))
    return Verdict(replace(made, phase=Phase.OPEN), (Notice.INVOICE, Notice.CARD))


class Unpayable(Exception):
    """What the service asks the payer for isn't what was agreed. The message is for staff: figures only."""


def check_placed(placed: Placed, *, given: Amount, channel: str, network: str, now: datetime) -> datetime | None:
    """When `placed` can no longer be paid, if ever.

    Raises:
        Unpayable: it asks for other than `given` over `channel`, or can't be paid (any more).
    """
    if placed.state == FAILED:
        raise Unpayable("the order failed before anybody was shown it")
    _check_amounts(given, placed)
    expires_at = placed.expires_at
    if channel == LIGHTNING:
        expires_at = _check_invoice(placed, network, now)
    else:
        _check_deposit(channel, placed)
    if expires_at is not None and expires_at <= now:
        raise Unpayable(f"the order expired at {expires_at:%Y-%m-%d %H:%M:%S} UTC")
    return expires_at


def _check_amounts(given: Amount, placed: Placed) -> None:
    answered = placed.sats if given.currency == "SAT" else placed.idr
    if answered != given.value:
        raise Unpayable(f"asked for {given.value} {given.currency}, the order says {answered}")
    if placed.sats <= 0 or placed.idr <= 0:
        raise Unpayable(f"the order is for {placed.sats} sats and {placed.idr} rupiah")


def _check_invoice(placed: Placed, network: str, now: datetime) -> datetime:
    if placed.bolt11 is None:
        raise Unpayable("a Lightning order without an invoice")
    try:
        invoice = bolt11.decode(placed.bolt11)
        bolt11.check(invoice, sats=placed.sats, network=network, now=now)
    except bolt11.InvoiceError as error:
        raise Unpayable(f"{type(error).__name__}: {error}") from None
    # The invoice is what a wallet goes by; the order's own field may only shorten it.
    return min(invoice.expires_at, placed.expires_at or invoice.expires_at)


def _check_deposit(channel: str, placed: Placed) -> None:
    deposit = placed.deposit
    if deposit is None or placed.bolt11 is not None:
        raise Unpayable(f"a {channel} order without deposit instructions")
    try:
        erc681.check_deposit(
            channel=channel,
            chain_id=deposit.chain_id,
            token_address=deposit.token_address,
            decimals=deposit.decimals,
            to_address=deposit.to_address,
        )
    except erc681.DepositCheckError as error:
        raise Unpayable(f"{type(error).__name__}: {error}") from None
    if deposit.channel != channel:
        raise Unpayable(f"asked for {channel}, the deposit is {deposit.channel}")

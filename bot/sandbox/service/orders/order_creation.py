"""Creation of orders: the locked price, the partner's caps, the invoice or deposit (settlement API, 4.5)."""

from __future__ import annotations

import secrets
import string
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Final

import structlog

from bot.payments.tokens import LIGHTNING
from bot.sandbox.service import quote
from bot.sandbox.service.errors import Refusal
from bot.sandbox.service.orders import validation
from bot.sandbox.service.orders.invoices import payable
from bot.sandbox.service.orders.orders import Order

if TYPE_CHECKING:
    from bot.sandbox.service.orders.validation import Wanted
    from bot.sandbox.service.quote import Quote
    from bot.sandbox.service.service import Service

_JAKARTA: Final = timezone(timedelta(hours=7))
_FEE_IDR: Final = 5_000
_ALPHABET: Final = string.digits + string.ascii_lowercase
# The live service accepts small orders. The partner rejects them after they are paid.
_SMALL_ORDERS_FAIL_AT: Final = "USDT_RECEIVED"

log = structlog.get_logger(__name__)


def place(service: Service, tenant: str, body: object) -> Order:
    """Create the order that a tenant requests.

    Raises:
        Refusal: 400 (or as the profile says), a rule of settlement API, 4.5 is broken; 503, the database is down.
    """
    switches, profile = service.switches, service.switches.profile
    wanted = validation.read_request(body, service.methods, profile, evm=switches.configured)
    if switches.database_down and not profile.ids_without_database:
        raise Refusal(503, "database unavailable, try again shortly")
    locked = service.quote().locked(switches.locked_price_percent)
    sats, idr = amounts(wanted, locked, fee=_FEE_IDR if switches.fee_on_top else 0)
    validation.check_cap(idr, wanted.method, profile)
    _check_partner_caps(service, idr)
    order = compose(service, tenant=tenant, wanted=wanted, sats=sats, idr=idr, locked=locked)
    service.book.add(order)
    log.info("order_created", order_id=order.id, tenant=tenant, channel=order.channel, state=order.state)
    return order


def amounts(wanted: Wanted, locked: Quote, *, fee: int = 0) -> tuple[int, int]:
    """Return sats, rounded up, and rupiah, rounded down, at the locked price. `fee` is in rupiah, on top of it.

    Raises:
        Refusal: 400, the amount is outside the range of invoices.
    """
    if wanted.sat_amount is not None:
        sats, idr = wanted.sat_amount, quote.idr_for(wanted.sat_amount, locked.btc_idr) - fee
    else:
        idr = wanted.idr_amount or 0
        sats = max(1, quote.sats_for(idr + fee, locked.btc_idr))
    if not payable(sats):
        raise Refusal(400, "the amount is more than an invoice can ask for")
    return sats, idr


def compose(service: Service, *, tenant: str, wanted: Wanted, sats: int, idr: int, locked: Quote) -> Order:
    """Return a new, unpaid order that isn't saved yet."""
    switches, profile, now = service.switches, service.switches.profile, service.now()
    seconds = switches.invoice_expiry_seconds
    expiry = None if seconds is None else timedelta(seconds=seconds)
    order_id = new_order_id(unlisted=switches.database_down)
    bolt11, payment_hash, expires_at = _payment(service, order_id, wanted, sats=sats, idr=idr, now=now, expiry=expiry)
    return Order(
        id=order_id,
        tenant=tenant,
        listed=not switches.database_down,
        state=profile.first_state,
        reached=(profile.first_state,),
        channel=wanted.channel,
        sat_amount=sats,
        idr_amount=idr,
        btc_idr=locked.btc_idr,
        quoted_at=locked.fetched_at,
        bolt11=bolt11,
        payment_hash=payment_hash,
        expires_at=expires_at,
        bank_code=wanted.method.bank_code,
        bank_name=wanted.method.bank_name,
        kind=wanted.method.kind,
        recipient=wanted.recipient,
        account_name=wanted.account_name,
        created_at=now,
        updated_at=now,
        fail_at=_SMALL_ORDERS_FAIL_AT if idr < profile.fails_paid_orders_below_idr else None,
        wrong_deposit=switches.wrong_deposit,
    )


def new_order_id(*, unlisted: bool) -> str:
    """Return an opaque id of 25 characters, or `mem_…` for an order that is never listed."""
    tail = "".join(secrets.choice(_ALPHABET) for _ in range(24))
    return f"mem_{tail}" if unlisted else f"c{tail}"


def _payment(
    service: Service,
    order_id: str,
    wanted: Wanted,
    *,
    sats: int,
    idr: int,
    now: datetime,
    expiry: timedelta | None,
) -> tuple[str | None, str | None, datetime | None]:
    switches = service.switches
    if wanted.channel != LIGHTNING:
        return None, None, now + expiry if expiry and switches.profile.deposits_expire else None
    # Without the recipient's number: wallets show and store the memo.
    memo = f"Rp{idr:,} to {wanted.method.bank_name}, order {order_id}"
    invoice = service.node.invoice(
        order_id=order_id,
        sats=sats,
        memo=memo,
        network=switches.network,
        now=now,
        expiry=expiry,
        wrong=switches.wrong_invoice,
    )
    return invoice.bolt11, invoice.payment_hash, invoice.expires_at


def _check_partner_caps(service: Service, idr: int) -> None:
    today = service.now().astimezone(_JAKARTA).replace(hour=0, minute=0, second=0, microsecond=0)
    caps = (
        ("daily", service.switches.daily_cap_idr, today),
        ("monthly", service.switches.monthly_cap_idr, today.replace(day=1)),
    )
    for name, cap, since in caps:
        if cap is not None and service.book.idr_since(since) + idr > cap:
            raise Refusal(400, f"the payout partner's {name} cap of IDR {cap} would be exceeded")

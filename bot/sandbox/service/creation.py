"""Creation of orders: the rules of settlement API, 4.5, the locked price, the partner's cap, the invoice or deposit.

Messages never repeat the recipient or the name, because messages end up in logs.
"""

from __future__ import annotations

import re
import secrets
import string
from dataclasses import dataclass
from datetime import timedelta, timezone
from typing import TYPE_CHECKING, Final

import structlog

from bot.payments.tokens import CODES, LIGHTNING, TOKENS
from bot.sandbox.service.invoices import payable
from bot.sandbox.service.market import idr_for, sats_for
from bot.sandbox.service.orders import Order
from bot.sandbox.service.settings import Refusal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from bot.sandbox.service.market import MethodsList, PayoutMethod, Quote
    from bot.sandbox.service.settings import Profile
    from bot.sandbox.settlement import Service

_MOST: Final = 10**15
# "Typically 10 to 16" isn't a rule. No account number is shorter or longer than this.
_BANK_NUMBER: Final = re.compile(r"[0-9]{5,20}")
_STRICT_WALLET: Final = re.compile(r"\+[1-9][0-9]{9,14}|0[0-9]{9,14}")
_LENIENT_WALLET: Final = re.compile(r"\+?[0-9]{10,15}")
_DEFAULT_NAME: Final = "ACCOUNT HOLDER"
_LONGEST_NAME: Final = 140

_BANK_MESSAGE: Final = (
    "recipientDetails for a bank must be the account number: digits only, no spaces, dashes or country code"
)
_WALLET_MESSAGE: Final = (
    "recipientDetails for an e-wallet must be a mobile number of 10 to 15 digits,"
    " either +<country code><number> or local with a leading 0"
)
_JAKARTA: Final = timezone(timedelta(hours=7))
_FEE_IDR: Final = 5_000
_ALPHABET: Final = string.digits + string.ascii_lowercase
# The live service accepts small orders. The partner rejects them after they are paid.
_SMALL_ORDERS_FAIL_AT: Final = "USDT_RECEIVED"

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A valid request. At most one amount is None, and `recipient` is in the profile's format."""

    sat_amount: int | None
    idr_amount: int | None
    channel: str
    method: PayoutMethod
    recipient: str
    account_name: str


def read_request(body: object, methods: MethodsList, profile: Profile, *, evm: bool) -> Wanted:
    """Check an OfframpCreateInput (settlement API, 2.5).

    Args:
        body: the parsed JSON.
        methods: the list that must contain code and name.
        profile: whose rules apply.
        evm: whether deposits on EVM chains are configured.

    Raises:
        Refusal: 400 (500 where the live service does so), with the broken rule.
    """
    if not isinstance(body, dict):
        raise Refusal(400, "the body must be a JSON object")
    sats, idr = _amounts(body, profile)
    method = _method(body, methods, profile)
    _payout_method(body)
    return Wanted(
        sat_amount=sats,
        idr_amount=idr,
        channel=_channel(body, evm=evm),
        method=method,
        recipient=_recipient(body, method, profile),
        account_name=_account_name(body),
    )


def check_cap(idr: int, method: PayoutMethod, profile: Profile) -> None:
    """Check rule 6: the amount isn't over the method's cap for one transaction.

    Raises:
        Refusal: 400, with the cap.
    """
    if not profile.lenient_amounts and method.cap is not None and idr > method.cap:
        raise Refusal(400, f"idrAmount must not be over {method.cap}, the most that {method.bank_name} takes at once")


def _amounts(body: Mapping[str, object], profile: Profile) -> tuple[int | None, int | None]:
    sats, idr = _amount(body, "satAmount"), _amount(body, "idrAmount")
    if (sats is None) is not (idr is None):
        return sats, idr
    if not profile.lenient_amounts:
        raise Refusal(400, "send exactly one of satAmount and idrAmount")
    # The live service accepts this. Which of the two it uses is unknown.
    return None, idr or 0


def _amount(body: Mapping[str, object], name: str) -> int | None:
    value = body.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= _MOST or value % 1:
        raise Refusal(400, f"{name} must be a whole positive number")
    return int(value)


def _channel(body: Mapping[str, object], *, evm: bool) -> str:
    channel = body.get("depositChannel") or LIGHTNING
    if channel not in CODES:
        raise Refusal(400, f"depositChannel must be one of {', '.join(CODES)}")
    if channel in TOKENS and not evm:
        raise Refusal(400, f"depositChannel {channel} is not configured; only lightning is")
    return str(channel)


def _method(body: Mapping[str, object], methods: MethodsList, profile: Profile) -> PayoutMethod:
    code, name = _text(body, "partnerBankCode"), _text(body, "partnerBankName")
    method = methods.pair(code, name, profile)
    if method is None:
        raise Refusal(400, "partnerBankCode and partnerBankName are not a pair of the payout methods list")
    return method


def _payout_method(body: Mapping[str, object]) -> None:
    if body.get("payoutMethod") not in (None, "bank_transfer"):
        raise Refusal(400, "payoutMethod must be bank_transfer, or left out")


def _text(body: Mapping[str, object], name: str) -> str:
    value = body.get(name)
    if not isinstance(value, str) or not value:
        raise Refusal(400, f"{name} is required and must be a string")
    return value


def _recipient(body: Mapping[str, object], method: PayoutMethod, profile: Profile) -> str:
    sent = _text(body, "recipientDetails")
    return _bank_number(sent, profile) if method.kind == "bank" else _wallet_number(sent, profile)


def _bank_number(sent: str, profile: Profile) -> str:
    number = re.sub(r"[^0-9]", "", sent) if profile.lenient_bank_numbers else sent
    if not _BANK_NUMBER.fullmatch(number):
        raise Refusal(400, _BANK_MESSAGE)
    return number


def _wallet_number(sent: str, profile: Profile) -> str:
    pattern = _STRICT_WALLET if profile.ewallet_needs_plus else _LENIENT_WALLET
    if not pattern.fullmatch(sent):
        raise Refusal(profile.ewallet_format_status, _WALLET_MESSAGE)
    return sent.removeprefix("+")


def _account_name(body: Mapping[str, object]) -> str:
    name = body.get("bankAccountName")
    if name is not None and (not isinstance(name, str) or len(name) > _LONGEST_NAME):
        raise Refusal(400, f"bankAccountName must be a string of at most {_LONGEST_NAME} characters")
    return name or _DEFAULT_NAME


def place(service: Service, body: object) -> Order:
    """Create the order that an integrator requests.

    Raises:
        Refusal: 400 (or as the profile says), a rule of settlement API, 4.5 is broken; 503, the database is down.
    """
    switches, profile = service.switches, service.switches.profile
    wanted = read_request(body, service.methods, profile, evm=switches.configured)
    if switches.database_down and not profile.ids_without_database:
        raise Refusal(503, "database unavailable, try again shortly")
    locked = service.quote().locked(switches.locked_price_percent)
    sats, idr = amounts(wanted, locked, fee=_FEE_IDR if switches.fee_on_top else 0)
    check_cap(idr, wanted.method, profile)
    _check_partner_cap(service, idr)
    order = compose(service, wanted=wanted, sats=sats, idr=idr, locked=locked)
    service.book.add(order)
    log.info("order_created", order_id=order.id, channel=order.channel, state=order.state)
    return order


def amounts(wanted: Wanted, locked: Quote, *, fee: int = 0) -> tuple[int, int]:
    """Return sats, rounded up, and rupiah, rounded down, at the locked price. `fee` is in rupiah, on top of it.

    Raises:
        Refusal: 400, the amount is outside the range of invoices.
    """
    if wanted.sat_amount is not None:
        sats, idr = wanted.sat_amount, idr_for(wanted.sat_amount, locked.btc_idr) - fee
    else:
        idr = wanted.idr_amount or 0
        sats = max(1, sats_for(idr + fee, locked.btc_idr))
    if not payable(sats):
        raise Refusal(400, "the amount is more than an invoice can ask for")
    return sats, idr


def compose(service: Service, *, wanted: Wanted, sats: int, idr: int, locked: Quote) -> Order:
    """Return a new, unpaid order that isn't saved yet."""
    switches, profile, now = service.switches, service.switches.profile, service.now()
    order_id = new_order_id(unlisted=switches.database_down)
    bolt11, payment_hash, expires_at = _payment(service, order_id, wanted, sats=sats, idr=idr, now=now)
    return Order(
        id=order_id,
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
) -> tuple[str | None, str | None, datetime | None]:
    switches = service.switches
    seconds = switches.invoice_expiry_seconds
    expiry = None if seconds is None else timedelta(seconds=seconds)
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


def _check_partner_cap(service: Service, idr: int) -> None:
    """Check rule 7: the day's orders, in Jakarta, are within the payout partner's cap."""
    cap = service.switches.daily_cap_idr
    today = service.now().astimezone(_JAKARTA).replace(hour=0, minute=0, second=0, microsecond=0)
    if cap is not None and service.book.idr_since(today) + idr > cap:
        raise Refusal(400, f"the payout partner's daily cap of IDR {cap} would be exceeded")

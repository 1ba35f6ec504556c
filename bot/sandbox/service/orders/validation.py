"""Validation of new orders: rules 1 to 6 of settlement API, 4.5, and the live service's version of them.

Rule 7, the partner's caps, needs the other orders and is checked in `order_creation`. Messages never repeat the
recipient or the name, because messages end up in logs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bot.payments.tokens import CODES, LIGHTNING, TOKENS
from bot.sandbox.service.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.sandbox.service.control.profile import Profile
    from bot.sandbox.service.methods import MethodsList, PayoutMethod

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

"""Validation of a new order before the service gets it. The live service accepts wrong ones, or answers a bare 500.

Each error says what to send instead. None repeats a number or a name.
"""

import re
from dataclasses import dataclass

from bot.core.errors import Rejection
from bot.core.money import Amount
from bot.mcp_server.formats import format_rupiah
from bot.mcp_server.service import AgentRules
from bot.mcp_server.tools.answers import Refusal
from bot.recipients.holders import MAX_HOLDER_LENGTH, clean_holder
from bot.recipients.numbers import MAX_ACCOUNT_DIGITS, MIN_ACCOUNT_DIGITS, clean_number
from bot.settlement.model import EWALLET, PayoutMethod

_ACCOUNT = re.compile(r"[0-9]+")
_MOBILE = re.compile(r"\+?[0-9]+")

_ACCOUNT_WANTED = (
    "recipientDetails must be an account number for this bank (kind bank): "
    f"{MIN_ACCOUNT_DIGITS} to {MAX_ACCOUNT_DIGITS} digits (usually 10 to 16), "
    "without spaces, dashes or country code, as a string."
)
_MOBILE_WANTED = (
    "recipientDetails must be an Indonesian mobile number for this e-wallet (kind ewallet): 10 to 15 digits, such as "
    "081234567890 or +6281234567890, without spaces or dashes, as a string."
)
_HOLDER_WANTED = (
    f"bankAccountName must be the holder's name in letters, on one line, at most {MAX_HOLDER_LENGTH} characters. You "
    "can leave it out."
)
_REMARKS = {
    "recipients.number.unusual_length": (
        "This bank's account numbers usually have {expected} digits, and this one has {actual}.",
        "Nomor rekening bank ini biasanya {expected} angka, yang ini {actual}.",
    ),
    "recipients.number.rare_length": (
        "Account numbers usually have {shortest} to {longest} digits, and this one has {actual}.",
        "Nomor rekening biasanya {shortest} sampai {longest} angka, yang ini {actual}.",
    ),
    "recipients.number.like_mobile": (
        "This account number looks like a mobile number, and {method} is a bank.",
        "Nomor rekening ini mirip nomor HP, sedangkan {method} adalah bank.",
    ),
    "recipients.number.unusual_mobile": (
        "This mobile number has {actual} digits and isn't in a known number range.",
        "Nomor HP ini terdiri dari {actual} angka dan awalannya tidak dikenal.",
    ),
}
CHECK_IT = " Ask your user to check it before paying."


@dataclass(frozen=True, slots=True)
class Number:
    """A recipient's number as it is sent, and a warning in English and in Indonesian if it is unusual."""

    sent: str
    remarks: tuple[str, str] = ("", "")


def require_one_amount(sat_amount: int | None, idr_amount: int | None) -> Amount:
    """Return the one amount that the agent sent (settlement API, 4.5.1)."""
    if sat_amount is not None and idr_amount is not None:
        raise Refusal(
            "Both satAmount and idrAmount were given. Send exactly one: idrAmount for what the recipient receives, or "
            "satAmount for what is paid."
        )
    if idr_amount is not None:
        return Amount("IDR", idr_amount)
    if sat_amount is not None:
        return Amount("SAT", sat_amount)
    raise Refusal(
        "Neither satAmount nor idrAmount was given. Send exactly one: idrAmount for what the recipient receives, or "
        "satAmount for what is paid."
    )


def find_method(methods: tuple[PayoutMethod, ...], code: str, name: str) -> PayoutMethod | None:
    """Return the entry of the live list with this code and name (4.5.3)."""
    return next((method for method in methods if method.pair == (code, name)), None)


def unlisted_error(methods: tuple[PayoutMethod, ...], code: str, name: str) -> Refusal:
    """Return the error for an unknown pair, with the pair that is probably meant."""
    near = [method for method in methods if method.code == code or method.name.casefold() == name.casefold()]
    pairs = [f"partnerBankCode “{method.code}” with partnerBankName “{method.name}”" for method in near[:3]]
    hint = f" Did you mean {', or '.join(pairs)}?" if pairs else ""
    return Refusal(
        "partnerBankCode and partnerBankName aren't a matching pair in the live list. Call list_payout_methods and "
        f"send bankCode and bankName of one entry, unchanged.{hint}"
    )


def explain_closed(method: PayoutMethod, rules: AgentRules) -> str:
    """Return why no order can go to a listed destination, or "" if one can."""
    if not rules.amounts_up_to(method.cap).is_above(rules.min_order_idr):
        return ""
    why = f"the meaning of its {method.unread} isn't known" if method.unread else "it takes nothing now"
    return f"{method.name} takes no orders: {why}."


def check_number(method: PayoutMethod, details: str) -> Number:
    """Return the number in the service's format (4.5.4 and 4.5.5)."""
    form, wanted = (_MOBILE, _MOBILE_WANTED) if method.kind == EWALLET else (_ACCOUNT, _ACCOUNT_WANTED)
    if not form.fullmatch(details):
        raise Refusal(wanted)
    try:
        clean = clean_number(method, details)
    except Rejection:
        raise Refusal(wanted) from None
    if clean.remark is None:
        return Number(clean.number)
    english, indonesian = (text.format(**clean.remark.arguments) for text in _REMARKS[clean.remark.key])
    return Number(clean.number, (english + CHECK_IT, f"{indonesian} Periksa lagi sebelum membayar."))


def check_holder(name: str | None) -> str | None:
    """Return the holder's name without extra spaces, or None if there is none."""
    try:
        return None if name is None else clean_holder(name)
    except Rejection:
        raise Refusal(_HOLDER_WANTED) from None


def check_limits(method: PayoutMethod, idr: int, requested: Amount, rules: AgentRules) -> None:
    """Check the minimum and the destination's cap (4.5.6) for the amount that arrives."""
    worth = "" if requested.currency == "IDR" else f" (satAmount is worth about {format_rupiah(idr)})"
    allowed = rules.amounts_up_to(method.cap)
    if allowed.is_below(idr):
        raise Refusal(
            f"The smallest order is {format_rupiah(rules.min_order_idr)}{worth}. Send idrAmount {rules.min_order_idr} "
            "or more: a smaller order would fail after it was paid."
        )
    if allowed.maximum is not None and allowed.is_above(idr):
        cap = allowed.maximum
        raise Refusal(
            f"{method.name} accepts at most {format_rupiah(cap)} per transfer{worth}. Send idrAmount {cap} or "
            "less, or choose another destination."
        )

"""Argument types of the tools: described in the schema, parsed exactly, with errors that say what to send.

Numbers are JSON numbers or digits in a string. `"50.000"` is rejected, because it can mean 50 or 50,000. A recipient's
number must be a string: a JSON number would lose its leading zeros.

A new order is checked before the service gets it. The live service accepts wrong ones, or answers a bare 500. No error
repeats a number or a name.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationError

from bot.core.errors import Rejection
from bot.core.locales import read_tables
from bot.core.money import MAX_RUPIAH, MAX_SATS, Amount
from bot.mcp_server.answers import Refusal, format_rupiah, join_words, no_effect_text
from bot.mcp_server.service import AgentRules
from bot.payments.tokens import CODES, LIGHTNING, TOKENS
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
LARGEST_EXACT = 2**53
MOST_DIGITS = 18
LONGEST_WAIT = 600
USUAL_WAIT = 50
MOST_LISTED = 100
USUALLY_LISTED = 50


def to_whole_number(value: object) -> int:
    """Return a whole number, exactly as sent.

    Raises:
        ValueError: the value is anything else.
    """
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= MOST_DIGITS:
        return int(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < LARGEST_EXACT:
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("must be a whole JSON number without separators, such as 150000")  # noqa: TRY004  pydantic reports ValueErrors
    return value


WholeNumber = BeforeValidator(to_whole_number)

OrderId = Annotated[
    str,
    Field(
        min_length=1,
        max_length=200,
        description="The order's id: `orderId` of create_offramp_order, or `id` of list_offramp_orders. Opaque.",
    ),
]
LeftOut = BeforeValidator(lambda value: None if value == "" else value)
"""An empty text in place of an enum's value is left out, as null is for every optional argument."""

IncludeQr = Annotated[
    bool | None, Field(description="Add a QR code (PNG image) of the payment, for a wallet to scan. Default false.")
]
Limit = Annotated[
    Annotated[int, Field(ge=1, le=MOST_LISTED), WholeNumber] | None,
    Field(description="Number of orders, newest first: 1 to 100. Default 50."),
]
WaitSeconds = Annotated[
    Annotated[int, Field(ge=1, le=LONGEST_WAIT), WholeNumber] | None,
    Field(description="Maximum wait in seconds: 1 to 600. Default 50."),
]

SatAmount = Annotated[
    Annotated[int, Field(gt=0, le=MAX_SATS), WholeNumber] | None,
    Field(description="Amount to pay in whole sats. Give exactly one of satAmount and idrAmount."),
]
IdrAmount = Annotated[
    Annotated[int, Field(gt=0, le=MAX_RUPIAH), WholeNumber] | None,
    Field(
        description="Amount the recipient receives, in whole rupiah without separators (150000, not 150.000). Give "
        "exactly one of idrAmount and satAmount."
    ),
]

if TYPE_CHECKING:
    DepositChannel = str | None
else:
    # The type checker can't read a Literal that is computed. Pydantic can: the schema lists exactly these values.
    _NAMED = [f"{token.code} ({token.english_name})" for token in TOKENS.values()]
    DepositChannel = Annotated[
        Literal[CODES] | None,
        LeftOut,
        Field(description=f"Way to pay: {join_words([f'{LIGHTNING} (default)', *_NAMED], 'or')}."),
    ]

BankCode = Annotated[
    str, Field(min_length=1, max_length=100, description="`bankCode`, exactly as list_payout_methods returned it.")
]
BankName = Annotated[
    str, Field(min_length=1, max_length=200, description="`bankName` of the same entry, exactly as returned.")
]
RecipientDetails = Annotated[
    str,
    Field(
        min_length=1,
        max_length=64,
        description="A string, to keep leading zeros. kind bank: the account number, digits only. kind "
        "ewallet: the mobile number, as 081234567890 or +6281234567890 (10 to 15 digits).",
    ),
]
AccountName = Annotated[
    Annotated[str, Field(max_length=200)] | None,
    Field(description="The account holder's name, if known. Optional."),
]
PayoutKind = Annotated[
    Literal["bank_transfer"] | None,
    LeftOut,
    Field(description="Reserved. Leave it out; the only value is bank_transfer."),
]


def describe_faults(error: ValidationError, tool: str) -> str:
    """Return what is wrong with a call's arguments, one line each, without repeating what was sent."""
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    lines = list(dict.fromkeys(f"- {_name(fault)}: {_reason(fault)}" for fault in faults))
    return "\n".join(
        [f"{tool} can't accept these arguments. {no_effect_text(tool)} Correct them and call again:", *lines]
    )


def find_unknown_arguments(sent: Mapping[str, Any], schema: Mapping[str, Any]) -> list[str]:
    """Return the names that aren't in a tool's schema."""
    return sorted(set(sent) - set(schema.get("properties", {})))


def _name(fault: Mapping[str, Any]) -> str:
    return str(fault["loc"][0]) if fault["loc"] else "arguments"


def _reason(fault: Mapping[str, Any]) -> str:
    match fault["type"]:
        case "missing":
            return "required, but missing"
        case "string_type":
            return "must be a JSON string, in quotes"
        case _:
            message = str(fault["msg"]).removeprefix("Value error, ")
            return message.replace("Input should be", "must be").replace("String should have", "must have")


@dataclass(frozen=True, slots=True)
class Number:
    """A recipient's number as it is sent, and a warning in each language if it is unusual."""

    sent: str
    remarks: Mapping[str, str] = field(default_factory=dict)


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
    key, facts = clean.remark.key, clean.remark.arguments
    texts = read_tables("agents").items()
    remarks = {locale: f"{known['remarks'][key].format(**facts)} {known['check_number']}" for locale, known in texts}
    return Number(clean.number, remarks)


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

"""Argument types of the tools: described in the schema, parsed exactly, with errors that say what to send.

Numbers are JSON numbers or digits in a string. `"50.000"` is rejected, because it can mean 50 or 50,000. A recipient's
number must be a string: a JSON number would lose its leading zeros.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationError

from bot.core.money import MAX_RUPIAH, MAX_SATS
from bot.mcp_server.formats import join_words
from bot.mcp_server.tools.failures import no_effect_text
from bot.payments.tokens import CODES, LIGHTNING, TOKENS

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

"""Answers of tools: typed content for programs, a short text, pictures, and errors that say what to do.

    ToolError (the SDK's)
    └── Refusal     a rejected call; its text is for the agent and can repeat the service's words, so it is never logged

A failure of the service (`SettlementFailure`) needs no translation in a tool: the server answers it as a failed read.

Answers are always in English. Agents read them and tell users in the users' language. Text from outside can hold
characters that JSON can spell and UTF-8 can't. They are replaced here.
"""

import base64
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, ImageContent, TextContent
from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from bot.mcp_server.unresolved_orders import APPEARS_WITHIN, Request
from bot.payments.erc681 import format_token_amount
from bot.payments.qr import render_png_off_loop
from bot.payments.tokens import LIGHTNING, TOKENS
from bot.settlement.errors import (
    KeyRefused,
    NeverReached,
    NoAnswer,
    NotUnderstood,
    OrderNotFound,
    OutcomeUnknown,
    Refused,
    SettlementFailure,
    SlowDown,
)

LONGEST_QUOTED = 500
SHORT_PAUSE = 5

NO_ORDER_MADE = "No order was created."
KEY_NEEDED = "The operator of this server must set a valid SERVICE_API_KEY. Calling again won't help."


class Refusal(ToolError):
    """A rejected call, and what to send or do instead."""


class Output(BaseModel):
    """The base of all results: the API's names, and error texts without values."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True, hide_input_in_errors=True)


def answer(result: Output, text: str, *pictures: ImageContent) -> CallToolResult:
    """Return `result` as typed content and as text, for clients that read only text."""
    return CallToolResult(
        content=[TextContent(type="text", text=replace_surrogates(text)), *pictures],
        structured_content=to_content(result),
    )


def to_content(result: Output) -> dict[str, Any]:
    """Return `result` as a JSON object."""
    content: dict[str, Any] = replace_surrogates(result.model_dump(mode="json", by_alias=True))
    return content


def error_result(text: str) -> CallToolResult:
    """Return an error. `text` says what is wrong and what to do."""
    return CallToolResult(content=[TextContent(type="text", text=replace_surrogates(text))], is_error=True)


def replace_surrogates(value: Any) -> Any:  # noqa: ANN401  JSON is anything
    """Return a JSON value without halves of surrogate pairs, which UTF-8 can't encode."""
    if isinstance(value, str):
        return value.encode(errors="replace").decode()
    if isinstance(value, Mapping):
        return {replace_surrogates(key): replace_surrogates(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [replace_surrogates(item) for item in value]
    return value


def join_words(items: Iterable[str], last: str = "and") -> str:
    """Return the items as a sentence lists them: "a", "a and b", "a, b and c". `last` is the word before the last."""
    *others, end = items
    return f"{', '.join(others)} {last} {end}" if others else end


def format_rupiah(amount: int) -> str:
    """Format whole rupiah."""
    return f"Rp{amount:,}"


def format_sats(amount: int) -> str:
    """Format whole sats."""
    return f"{amount:,} sats"


def format_price(sats: int, channel: str | None) -> str:
    """Format what a payer pays, in what they pay with."""
    token = TOKENS.get(channel or LIGHTNING)
    return format_sats(sats) if token is None else f"{format_token_amount(sats)} {token.symbol}"


def format_time(when: datetime) -> str:
    """Format a time in UTC."""
    return f"{when.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


async def qr_code(payload: str) -> ImageContent:
    """Return a PNG for a wallet to scan, drawn in another thread."""
    png = await render_png_off_loop(payload)
    return ImageContent(type="image", data=base64.b64encode(png).decode(), mime_type="image/png")


def describe_order(request: Request) -> str:
    """Return an order's amount and destination, without the recipient."""
    amount = (
        format_rupiah(request.amount.value) if request.amount.currency == "IDR" else format_sats(request.amount.value)
    )
    return f"{amount} to {request.name}"


def no_effect_text(tool: str) -> str:
    """Return the text that a call of `tool` was rejected before it had any effect."""
    return NO_ORDER_MADE if tool == "create_offramp_order" else "Nothing was done."


def read_failure(error: SettlementFailure) -> str:
    """Return the error for a failed read. Nothing was changed."""
    return f"{_what_happened(error)} {_after_reading(error)}"


def creation_failure(error: SettlementFailure, wanted: str) -> str:
    """Return the error for an order that wasn't created, or may not have been."""
    if isinstance(error, OutcomeUnknown):
        return f"{_what_happened(error)} {unknown_outcome(wanted)}"
    return f"{_what_happened(error)} {NO_ORDER_MADE} {_after_refusal(error)}"


def unknown_outcome(wanted: str) -> str:
    """Return the text for an unknown outcome. It must never sound like "try again"."""
    return (
        f"THE OUTCOME IS UNKNOWN: the order ({wanted}) may exist. Do not call create_offramp_order for it again now. "
        f"Wait {APPEARS_WITHIN:.0f} seconds, call list_offramp_orders with limit 100, and look for an order of the "
        "last minutes with this amount and destination. If it is there, continue with its id. If it isn't, that proves "
        "nothing: a missing order may still exist. Tell your user, and let them decide."
    )


def _what_happened(error: SettlementFailure) -> str:
    match error:
        case NeverReached():
            return "The settlement service can't be reached."
        case NotUnderstood():
            return f"The settlement service answered with status {error.status}, in a form that this server can't read."
        case NoAnswer():
            return "The settlement service gave no answer in time."
        case _:
            quoted = f": {_quoted(error.reason)}" if error.reason else "."
            return f"The settlement service answered with status {error.status}{quoted}"


def _quoted(text: str) -> str:
    line = " ".join(text.split())
    return f"“{line[:LONGEST_QUOTED]}”."


def _after_reading(error: SettlementFailure) -> str:
    match error:
        case KeyRefused():
            return KEY_NEEDED
        case OrderNotFound():
            return "This server has no order with this id. Ids come from create_offramp_order and list_offramp_orders."
        case SlowDown():
            return f"Nothing was changed. Wait {_pause(error)} seconds, then call again."
        case _:
            return f"Nothing was changed. Call again in {SHORT_PAUSE} seconds or later."


def _after_refusal(error: SettlementFailure) -> str:
    match error:
        case Refused():
            return "Correct this, then call create_offramp_order again."
        case KeyRefused():
            return KEY_NEEDED
        case SlowDown():
            return f"Wait {_pause(error)} seconds, then call again."
        case _:
            return "Tell your user, and try again later."


def _pause(error: SettlementFailure) -> int:
    return max(SHORT_PAUSE, round(error.retry_after or 0))

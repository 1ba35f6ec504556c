"""Errors of the service, for agents: the status, the service's text, and what to do next."""

from bot.mcp_server.tools.answers import Refusal
from bot.mcp_server.unresolved_orders import APPEARS_WITHIN
from bot.settlement.client import (
    Answered,
    KeyRefused,
    NeverReached,
    NotFound,
    NotUnderstood,
    RateLimited,
    SettlementError,
    ValidationRejected,
)
from bot.settlement.client.retry import retry_after_of

LONGEST_QUOTED = 500
SHORT_PAUSE = 5

NO_ORDER_MADE = "No order was created."
KEY_NEEDED = "The operator of this server must set a valid SERVICE_API_KEY. Calling again won't help."


def no_effect_text(tool: str) -> str:
    """Return the text that a call of `tool` was rejected before it had any effect."""
    return NO_ORDER_MADE if tool == "create_offramp_order" else "Nothing was done."


def read_failure(error: SettlementError) -> Refusal:
    """Return the error for a failed read. Nothing was changed."""
    return Refusal(f"{_what_happened(error)} {_after_reading(error)}")


def creation_failure(error: SettlementError, wanted: str) -> Refusal:
    """Return the error for an order that wasn't created, or may not have been."""
    if error.outcome_unknown:
        return Refusal(f"{_what_happened(error)} {unknown_outcome(wanted)}")
    return Refusal(f"{_what_happened(error)} {NO_ORDER_MADE} {_after_refusal(error)}")


def unknown_outcome(wanted: str) -> str:
    """Return the text for an unknown outcome. It must never sound like "try again"."""
    return (
        f"THE OUTCOME IS UNKNOWN: the order ({wanted}) may exist. Do not call create_offramp_order for it again now. "
        f"Wait {APPEARS_WITHIN:.0f} seconds, call list_offramp_orders with limit 100, and look for an order of the "
        "last minutes with this amount and destination. If it is there, continue with its id. If it isn't, that proves "
        "nothing: a missing order may still exist. Tell your user, and let them decide."
    )


def _what_happened(error: SettlementError) -> str:
    match error:
        case Answered():
            quoted = f": {_quoted(error.error)}" if error.error else "."
            return f"The settlement service answered with status {error.status}{quoted}"
        case NeverReached():
            return "The settlement service can't be reached."
        case NotUnderstood():
            return f"The settlement service answered with status {error.status}, in a form that this server can't read."
        case _:
            return "The settlement service gave no answer in time."


def _quoted(text: str) -> str:
    line = " ".join(text.split())
    return f"“{line[:LONGEST_QUOTED]}”."


def _after_reading(error: SettlementError) -> str:
    match error:
        case KeyRefused():
            return KEY_NEEDED
        case NotFound():
            return "This server has no order with this id. Ids come from create_offramp_order and list_offramp_orders."
        case RateLimited():
            return f"Nothing was changed. Wait {_pause(error)} seconds, then call again."
        case _:
            return f"Nothing was changed. Call again in {SHORT_PAUSE} seconds or later."


def _after_refusal(error: SettlementError) -> str:
    match error:
        case ValidationRejected():
            return "Correct this, then call create_offramp_order again."
        case KeyRefused():
            return KEY_NEEDED
        case RateLimited():
            return f"Wait {_pause(error)} seconds, then call again."
        case _:
            return "Tell your user, and try again later."


def _pause(error: SettlementError) -> int:
    return max(SHORT_PAUSE, round(retry_after_of(error)))

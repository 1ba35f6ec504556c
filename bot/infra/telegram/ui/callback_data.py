"""What stands in a button's callback data: short, opaque, and never trusted.

`d:<draft>:<revision>:<action>[:<argument>]` drives a draft, and only the revision it was shown for;
`o:<reference>:<action>` acts on an order; `h:[<reference>]` is the page of orders that begins there; anything
else is a word of its own (`new`, `over`).
"""

import re
from dataclasses import dataclass

from bot.checkout.draft import OrderDraft

DRAFT_PATTERN = re.compile(r"^d:([0-9a-f]{4,20}):(\d{1,9}):([a-z]{1,12})(?::(.{0,40}))?$")
ORDER_PATTERN = re.compile(r"^o:([0-9A-Z]{4,16}):([a-z]{1,12})$")
NEW = "new"
OVER = "over"
HISTORY_PATTERN = re.compile(r"^h:([0-9A-Z]{0,16})$")


@dataclass(frozen=True, slots=True)
class DraftPress:
    """A button of a draft's screen."""

    draft_id: str
    revision: int
    action: str
    argument: str


@dataclass(frozen=True, slots=True)
class OrderPress:
    """A button under an order's message."""

    reference: str
    action: str


def for_draft(draft: OrderDraft, action: str, argument: str = "") -> str:
    """The data of a button that belongs to this revision of `draft` alone."""
    return f"d:{draft.id}:{draft.revision}:{action}" + (f":{argument}" if argument else "")


def for_history(first: str) -> str:
    """The data of a button to the page of orders that begins at this reference; "" is the newest page."""
    return f"h:{first}"


def for_order(reference: str, action: str) -> str:
    """The data of a button under an order's message."""
    return f"o:{reference}:{action}"


def read_draft_press(data: str) -> DraftPress | None:
    """What `for_draft` wrote, or None."""
    match = DRAFT_PATTERN.match(data)
    return DraftPress(match[1], int(match[2]), match[3], match[4] or "") if match else None


def read_history_press(data: str) -> str:
    """The reference that `for_history` wrote."""
    match = HISTORY_PATTERN.match(data)
    return match[1] if match else ""


def read_order_press(data: str) -> OrderPress | None:
    """What `for_order` wrote, or None."""
    match = ORDER_PATTERN.match(data)
    return OrderPress(match[1], match[2]) if match else None

"""What stands in a button's callback data: short, opaque, and never trusted.

`d:<draft>:<revision>:<action>[:<argument>]` drives a draft, and only the revision it was shown for;
`o:<reference>:<action>` acts on an order; `h:[<reference>]` is the page of orders that begins there; `r:list[:<page>]`
and `r:<recipient>:<action>` act on saved recipients; anything else is a word of its own (`new`, `over`).
"""

import re
from dataclasses import dataclass

from bot.checkout.draft import OrderDraft

DRAFT_PATTERN = re.compile(r"^d:([0-9a-f]{4,20}):(\d{1,9}):([a-z]{1,12})(?::(.{0,40}))?$")
ORDER_PATTERN = re.compile(r"^o:([0-9A-Z]{4,16}):([a-z]{1,12})$")
NEW = "new"
OVER = "over"
RECIPIENT_PATTERN = re.compile(r"^r:([0-9a-f]{4,32}):([a-z]{1,12})$")
RECIPIENTS_PATTERN = re.compile(r"^r:list(?::(\d{1,4}))?$")
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


def for_recipient(recipient_id: str, action: str) -> str:
    """The data of a button that acts on a saved recipient."""
    return f"r:{recipient_id}:{action}"


def for_recipients(page: int = 0) -> str:
    """The data of a button to a page of the saved recipients."""
    return f"r:list:{page}" if page else "r:list"


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


def read_recipient_press(data: str) -> tuple[str, str] | None:
    """The recipient's id and the action that `for_recipient` wrote, or None."""
    match = RECIPIENT_PATTERN.match(data)
    return (match[1], match[2]) if match else None


def read_page_of_recipients(data: str) -> int:
    """The page that `for_recipients` wrote."""
    match = RECIPIENTS_PATTERN.match(data)
    return int(match[1] or 0) if match else 0


def read_history_press(data: str) -> str:
    """The reference that `for_history` wrote."""
    match = HISTORY_PATTERN.match(data)
    return match[1] if match else ""


def read_order_press(data: str) -> OrderPress | None:
    """What `for_order` wrote, or None."""
    match = ORDER_PATTERN.match(data)
    return OrderPress(match[1], match[2]) if match else None

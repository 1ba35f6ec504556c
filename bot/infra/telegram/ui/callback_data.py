"""What stands in a button's callback data: short, opaque, and never trusted.

`d:<draft>:<revision>:<action>[:<argument>]` drives a draft, and only the revision it was shown for;
anything else is a word of its own (`new`, `over`).
"""

import re
from dataclasses import dataclass

from bot.checkout.draft import OrderDraft

DRAFT_PATTERN = re.compile(r"^d:([0-9a-f]{4,20}):(\d{1,9}):([a-z]{1,12})(?::(.{0,40}))?$")
NEW = "new"
OVER = "over"


@dataclass(frozen=True, slots=True)
class DraftPress:
    """A button of a draft's screen."""

    draft_id: str
    revision: int
    action: str
    argument: str


def for_draft(draft: OrderDraft, action: str, argument: str = "") -> str:
    """The data of a button that belongs to this revision of `draft` alone."""
    return f"d:{draft.id}:{draft.revision}:{action}" + (f":{argument}" if argument else "")


def read_draft_press(data: str) -> DraftPress | None:
    """What `for_draft` wrote, or None."""
    match = DRAFT_PATTERN.match(data)
    return DraftPress(match[1], int(match[2]), match[3], match[4] or "") if match else None

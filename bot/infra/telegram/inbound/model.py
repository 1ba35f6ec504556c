"""Updates as the inbox keeps them."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

TAKEN_BY_DRAFT: Final = "draft"
TAKEN_BY_QUESTION: Final = "question"


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxItem:
    """An update that Telegram has given us, kept until it is dealt with. `body` is its JSON.

    `taken_by` is set in the transaction in which a draft or an answer to a question took it in (`TAKEN_BY_…`).
    """

    update_id: int
    chat_id: int
    body: str = field(repr=False)
    received_at: datetime
    attempts: int = 0
    taken_by: str | None = None

"""What people do, as events that support may see: a word of ours each, never what they wrote."""

from datetime import datetime
from enum import StrEnum
from typing import Final

from bot.infra.db.transaction import Transaction
from bot.users.event_repository import UserEventRepository
from bot.users.model import PersonAct

PRESSED: Final = "pressed."
"""Before the name of a button under an order's message."""


class UserEvent(StrEnum):
    """Everything but presses."""

    ASKED = "asked"  # wrote to support, and a ticket was opened by it
    SAID = "said"  # wrote more
    REOPENED = "reopened"
    RATED_GOOD = "rated.good"
    RATED_BAD = "rated.bad"
    BLOCKED = "blocked"  # the bot
    CAME_BACK = "came_back"


async def record_user_event(
    tx: Transaction, person_id: int, what: str, now: datetime, order_reference: str = ""
) -> None:
    """Write down that somebody did something, perhaps about an order."""
    await UserEventRepository(tx).add(PersonAct(person_id=person_id, reference=order_reference, at=now, what=str(what)))


def pressed(action: str) -> str:
    """The event of a button under an order's message: its name is what its data says."""
    return PRESSED + action

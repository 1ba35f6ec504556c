"""The buttons of payment reminders."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Final

from bot.infra.telegram.ui.callbacks import Callback, Pattern
from bot.payment_reminders.model import MONTH_DAYS, WEEKDAYS

WEEK: Final = "week"
MONTH: Final = "month"
"""In place of a day: show the days of the week, or those of the month."""


class ReminderAction(StrEnum):
    """What a button of a reminder does."""

    PREPARE = "prepare"
    SKIP = "skip"
    STOP = "stop"


@dataclass(frozen=True)
class ReminderButton(Callback, prefix="rem"):
    """A button of a reminder, which may have been set again since with another amount than the message says (`idr`)."""

    reminder_id: Annotated[str, Pattern("[0-9a-f]{16}")]
    action: ReminderAction
    idr: int


@dataclass(frozen=True)
class NewReminderButton(Callback, prefix="rem:new"):
    """A button that makes a reminder of `idr` rupiah on a day, or shows the days to choose from."""

    recipient_id: Annotated[str, Pattern("[0-9a-f]{4,32}")]
    idr: int
    day: Annotated[str, Pattern("|".join((WEEK, MONTH, *WEEKDAYS, *MONTH_DAYS)))]

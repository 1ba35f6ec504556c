"""Why support can see a full recipient, for how long, and what a reason has to be like."""

import re
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from bot.core.errors import Rejection
from bot.core.text import plain
from bot.recipients.matching import mask

SHOWN_FOR: Final = timedelta(minutes=1)
SHORTEST, LONGEST = 3, 200
_NUMBER: Final = re.compile(r"\d(?:[ .-]?\d){5,}")
"""What can be an account number. Others read the reason later, and need only the last digits."""


class Reason(StrEnum):
    """The usual reasons; any other is typed."""

    COMPARE = "compare"  # the user says or shows where the payout should have gone
    WRONG = "wrong"  # the user says that the number was wrong
    TRACE = "trace"  # the bank or the service asks for it


def read_reason(typed: str) -> str:
    """Return a reason as the audit log keeps it: one line, with account numbers masked.

    Raises:
        Rejection: it says too little, or too much.
    """
    said = _NUMBER.sub(lambda found: mask(re.sub(r"\D", "", found[0])), plain(typed))
    if len(said) < SHORTEST or not any(map(str.isalpha, said)):
        raise Rejection("reveal.reason_too_short")
    if len(said) > LONGEST:
        raise Rejection("reveal.reason_too_long", longest=LONGEST)
    return said


def is_over(at: datetime, until: datetime, now: datetime) -> bool:
    """Return whether a reveal has to be masked now, which it has also where the clock was set back since."""
    return not at <= now < until

"""Why support may see a full recipient, for how long, and what a reason must be like."""

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
"""What may be somebody's number. A reason is read later on, by others, and needs no more than its end."""


class Reason(StrEnum):
    """The usual reasons; any other is typed."""

    COMPARE = "compare"  # the person says or shows where it should have gone
    WRONG = "wrong"  # the person says that the number was wrong
    TRACE = "trace"  # the bank or the service asks for it


def read_reason(typed: str) -> str:
    """A reason as it is written down: one line, with whatever may be a number masked.

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
    """Whether what was revealed then is to be masked; so it is where the clock has been set back since."""
    return not at <= now < until

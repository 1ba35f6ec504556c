"""Whether a plain message is meant as an order; where that isn't plain, it is no order."""

import re
from collections.abc import Sequence
from typing import Final

from bot.checkout.parser.reading import read_line
from bot.settlement.model import PayoutMethod

LONGEST_ORDER: Final = 160
"""Characters; what somebody writes by hand for one order is shorter, forwarded messages seldom are."""

_LEAST_DIGITS: Final = 8
_TALKS = re.compile(r"[?\uff1f]|https?:|www\.|@|^\s*/|t\.me", re.IGNORECASE)


def looks_like_order(text: str, methods: Sequence[PayoutMethod]) -> bool:
    """Whether a message without a command, while no draft is open, begins an order.

    It must hold an account or mobile number, with a destination or a sum, and not a word that isn't understood: a draft
    that nobody asked for is worse than a question too many.
    """
    if len(text) > LONGEST_ORDER or _TALKS.search(text) or sum(map(str.isdecimal, text)) < _LEAST_DIGITS:
        return False
    line = read_line(text, methods)
    if line.leftover:
        return False
    if line.number is not None:
        return line.method is not None or line.amount is not None
    is_number_asked = line.number_doubt is not None or any(each.key.startswith("number.") for each in line.rejections)
    return is_number_asked and line.method is not None and line.amount is not None

"""Name the topic of a message that answers no question, by a short table of each language's words.

People mix languages, so one list is made of all. A message that names no topic is about the newest order.
"""

import re
from enum import StrEnum
from functools import cache
from typing import Final

from bot.checkout.parser import read_line
from bot.core.locales import any_of, read_tables
from bot.core.money import Amount
from bot.core.text import plain


class Topic(StrEnum):
    """What a message is about, in the order in which the words are looked for."""

    REFUND = "refund"
    CANCEL = "cancel"
    THANKS = "thanks"
    SEND = "send"
    GREETING = "greeting"
    OK = "ok"
    HELP = "help"
    PRICE = "price"
    MONEY = "money"
    """Whether money was paid or has arrived."""
    QUESTION = "question"
    """Anything that `/help` answers."""


ALONE: Final = {
    Topic.THANKS: "beside_thanks",
    **dict.fromkeys((Topic.SEND, Topic.GREETING, Topic.OK, Topic.HELP), "beside"),
}
"""The topics of messages that say nothing else, each with the list of small words that say nothing."""

MOST_WORDS: Final = 12
"""A longer message tells a story, which a word doesn't name."""

_WORD: Final = re.compile(r"\w+|[👋👌👍]")
_APOSTROPHES: Final = str.maketrans(dict.fromkeys("'`\u2018\u2019\u00b4"))


def find_topic(text: str) -> Topic | None:
    """Return the topic of a message, or None. Thanks are alone: "thanks, but nothing arrived" is about an order."""
    words = _WORD.findall(plain(text).casefold().translate(_APOSTROPHES))
    if len(words) > MOST_WORDS:
        return None
    said = " ".join(words)
    return next((topic for topic in Topic if _names(topic, said)), None)


def read_amounts(text: str) -> tuple[Amount, ...]:
    """Return the amounts that a question about a price may mean."""
    line = read_line(_entries(Topic.PRICE, Topic.QUESTION).sub(";", text), ())
    return (line.amount,) if line.amount is not None else line.amount_readings


def _names(topic: Topic, said: str) -> bool:
    if topic not in ALONE:
        return _entries(topic).search(said) is not None
    rest, count = _entries(topic).subn("", said)
    return count > 0 and not _entries(ALONE[topic], Topic.GREETING).sub("", rest).strip()


@cache
def _entries(*names: str) -> re.Pattern[str]:
    """Return what finds the entries of these lists in all languages, the longest first."""
    entries = {entry for known in read_tables("topics").values() for name in names for entry in known[name]}
    return re.compile(rf"(?<!\w)(?:{any_of(sorted(entries, key=len, reverse=True))})(?!\w)", re.IGNORECASE)

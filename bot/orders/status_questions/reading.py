"""Read whether a message asks about an order that exists.

1. The message is cut into sentences, and each into words (`vocabulary.py`).
2. Each word or group of words has senses, such as "thing" or "not yet".
3. A sentence asks about an order if its senses include one of `QUESTIONS`, and nothing speaks against it.

So "uang ku blm masukk" is read by its words, not as a phrase that somebody wrote down.
"""

import re
from collections.abc import Sequence
from typing import Final

from bot.orders.order import REFERENCE_ALPHABET, REFERENCE_LENGTH
from bot.orders.status_questions.vocabulary import Sense, Senses, read_words, split_into_entries

LONGEST: Final = 600
"""Characters. A longer message is a story for a person."""

MOST_WORDS: Final = 40
"""In one sentence."""

KNOWN_FOR_UNKNOWN: Final = 2
"""So many words must be known for each word that isn't."""

_SENTENCES: Final = re.compile(r"[^.!?\n;]+[.!?;]*")
_REFERENCE: Final = re.compile(rf"\b[{REFERENCE_ALPHABET}]{{{REFERENCE_LENGTH}}}\b", re.IGNORECASE)
_LINK: Final = re.compile(r"https?:|www\.|@\w", re.IGNORECASE)

QUESTIONS: Final = (
    {Sense.STATUS},
    {Sense.WAITS},
    {Sense.CLAIMS_PAID},
    {Sense.WHERE, Sense.THING},
    {Sense.WHERE, Sense.IT},
    {Sense.ASKS, Sense.THING},
    {Sense.CHECK, Sense.THING},
    {Sense.NOT_YET, Sense.THING},
    *(
        {Sense.HAPPENED, other}
        for other in (Sense.THING, Sense.ASKS, Sense.WHETHER, Sense.NOT_YET, Sense.WHERE, Sense.CHECK)
    ),
    *(
        {Sense.LATE, other}
        for other in (Sense.THING, Sense.ASKS, Sense.WHETHER, Sense.NOT_YET, Sense.VERY, Sense.CHECK, Sense.IT)
    ),
    {Sense.MINE, Sense.THING, Sense.WHETHER},
)
"""Each is a set of senses that together ask about an order."""

DOUBTS: Final = frozenset(
    {Sense.WHERE, Sense.ASKS, Sense.NOT_YET, Sense.LATE, Sense.STATUS, Sense.WAITS, Sense.CHECK, Sense.CLAIMS_PAID}
)
"""Without one of these, a message that says thanks asks for nothing: "sudah masuk, makasih"."""


def asks_about_order(text: str) -> bool:
    """Return whether a plain message asks where the money is, or what has become of an order."""
    if len(text) > LONGEST or text.startswith("/") or _LINK.search(text):
        return False
    sentences = _SENTENCES.findall(text)
    senses = [_read_senses(sentence) for sentence in sentences]
    said = frozenset[Sense]().union(*(word for each in senses for word in each))
    if Sense.THANKS in said and not said & DOUBTS and "?" not in text:
        return False
    return any(_says(each, question) for each in senses for question in QUESTIONS)


def _says(words: Sequence[Senses], question: set[Sense]) -> bool:
    """Return whether words of a sentence together have the senses of a question. One word alone isn't two of them."""
    taking_part = [word for word in words if word & question]
    return len(taking_part) >= len(question) and question <= frozenset[Sense]().union(*taking_part)


def _read_senses(sentence: str) -> Sequence[Senses]:
    """Return what each word of a sentence says, or nothing if it is about something else or mostly unknown."""
    words = read_words(sentence)
    if not words or len(words) > MOST_WORDS:
        return ()
    said, unknown = list[Senses](), 0
    for entry, senses in split_into_entries(words):
        if senses is not None:
            said.append(senses)
        elif not any(map(str.isdecimal, entry[0])):
            unknown += 1
    if any(Sense.ELSE in each for each in said) or unknown * (KNOWN_FOR_UNKNOWN + 1) > len(words) + 1:
        return ()
    return (*said, frozenset({Sense.WHETHER})) if "?" in sentence else said


def list_mentions(text: str) -> frozenset[str]:
    """Return the words of a message that may be references of orders, in capitals."""
    return frozenset(word.upper() for word in _REFERENCE.findall(text))

"""Check what askers write. Payers read it as plain text in the asker's own words, so it can't be a link or a lie.

A name isn't that of Kirim, of the operator, or of a whole bank. A note has no links, addresses or commands.
"""

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from bot.core.errors import Rejection
from bot.core.text import plain
from bot.payment_requests.model import MAX_NOTE_LENGTH
from bot.recipients.banks import display_name, name_forms, split_words
from bot.recipients.holders import piles_marks
from bot.settlement.model import PayoutMethod

BRAND: Final = "kirim"

ALSO_PEOPLE: Final = frozenset({"mega", "permata"})
"""Display names of banks that are people's names, too."""

_LINK: Final = re.compile(
    r"://|\bwww\.|@\w|(?:^|\s)/[a-z]"
    r"|\w\.(?:com|net|org|info|biz|id|io|co|me|ly|gg|app|dev|link|page|site|shop|store|online|xyz|top|club|live|bit|to|cc)\b",
    re.IGNORECASE,
)
"""What apps would show as a link, a mention or a command."""

_DOT_BEFORE_LETTER: Final = re.compile(r"(?<=\w)\.(?=[^\W\d_])")
"""A dot without a space after it, in which an app can see an address of an ending that we don't know."""


def check_name(name: str, methods: Iterable[PayoutMethod], operator_name: str = "") -> None:
    """Check the name that payers see. `methods` is the live list of banks and e-wallets.

    Raises:
        Rejection: `payment_requests.name.ours`, `payment_requests.name.bank` or `payment_requests.name.scripts`.
    """
    words = split_words(name)
    if any(_mixes_scripts(word) for word in words):
        raise Rejection("payment_requests.name.scripts")
    if BRAND in {_fold(word) for word in words} or (name_forms(operator_name) & name_forms(name)):
        raise Rejection("payment_requests.name.ours")
    if words in {split_words(each) for each in _names_of(methods)} and not ALSO_PEOPLE.issuperset(words):
        raise Rejection("payment_requests.name.bank")


def read_note(text: str) -> str:
    """Return the note in `text` as one line of plain text.

    Raises:
        Rejection: `payment_requests.note.empty`, `payment_requests.note.too_long` (`longest`, `actual`),
            `payment_requests.note.link` or `payment_requests.note.symbols` (piled marks).
    """
    note = plain(text)
    if not note:
        raise Rejection("payment_requests.note.empty")
    if _LINK.search(note):
        raise Rejection("payment_requests.note.link")
    note = _DOT_BEFORE_LETTER.sub(". ", note)
    if len(note) > MAX_NOTE_LENGTH:
        raise Rejection("payment_requests.note.too_long", longest=MAX_NOTE_LENGTH, actual=len(note))
    if piles_marks(note):
        raise Rejection("payment_requests.note.symbols")
    return note


def _names_of(methods: Iterable[PayoutMethod]) -> set[str]:
    return {name for method in methods for name in (display_name(method), method.name)}


def _fold(word: str) -> str:
    """Return a word without accents, as a reader sees it at a glance."""
    return "".join(each for each in unicodedata.normalize("NFKD", word) if not unicodedata.combining(each))


def _mixes_scripts(word: str) -> bool:
    """Return whether a word has letters of several scripts, such as a Cyrillic letter that looks Latin."""
    return len({unicodedata.name(each, "?").split()[0] for each in word if each.isalpha()}) > 1

"""Check what askers write. Payers read it as plain text in the asker's own words, so it can't be a link or a lie.

A name isn't that of Kirim, of the operator, or of a bank. A note has no links, addresses or commands, and doesn't speak
for us. Names are compared as a reader sees them at a glance.
"""

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from phonenumbers import PhoneNumberMatcher

from bot.core.errors import Rejection
from bot.core.text import plain
from bot.payment_requests.model import MAX_NOTE_LENGTH
from bot.recipients.banks import display_name, find_known, name_forms, split_words
from bot.recipients.holders import piles_marks
from bot.settlement.model import PayoutMethod

_I: Final = r"[i1l|!\u0438\u0456\u03b9\u026a\u0131]"
_LETTERS: Final = (r"[k\u043a\u03ba\u1d0b]", _I, r"[r\u0433\u0440\u03c1\u0280]", _I, r"(?:[m\u043c\u03bc\u1d0d]|rn)")
_BRAND: Final = r"(?<![^\W\d_])" + r"[\W_]*".join(_LETTERS) + r"(?![^\W\d_])"
"""Our name as a word, with signs or spaces between its letters, and with letters that look or sound like them."""

ALSO_PEOPLE: Final = frozenset({"mega", "permata"})
"""Display names of banks that are people's names, too."""

_LINK: Final = re.compile(
    r"://|\bwww\.|@\w|(?:^|\s)/[a-z]"
    r"|\w\.(?:com|net|org|info|biz|id|io|co|me|ly|gg|app|dev|link|page|site|shop|store|online|xyz|top|club|live|bit|to|cc)\b",
    re.IGNORECASE,
)
"""What apps would show as a link, a mention or a command."""

_ADDRESS: Final = re.compile(
    r"\b(?:ln(?:bc|tb|sb|url)|bc1|tb1|0x)\w{6}|\b(?=\w*\d)(?=\w*[^\W\d_])\w{25}", re.IGNORECASE
)
"""A wallet's address or an invoice: how one begins, or letters and digits without a space for too long."""

_SPEAKERS: Final = (
    "dari|dr|from|the|by|oleh|tim|team|admin|cs|support|sistem|system|layanan|resmi|official|info|notifikasi|pengumuman"
)
_OURS: Final = re.compile(rf"[\W_]*(?:(?:[^\W_]+[\W_]+){{0,3}}?(?:{_SPEAKERS})[\W_]+)?{_BRAND}")
"""How a note begins that we could have written: "Kirim: …", "Pesan dari Kirim …"."""

_TWINS: Final = str.maketrans("0134578l", "oieastbi")
"""Digits, and a letter, that look like other letters."""

_DOT_BEFORE_LETTER: Final = re.compile(r"(?<=\w)\.(?=[^\W\d_])")
"""A dot without a space after it, in which an app can see an address: "evil.com", "PT.Maju"."""


def check_name(name: str, methods: Iterable[PayoutMethod], operator_name: str = "") -> None:
    """Check the name that payers see. `methods` is the live list of banks and e-wallets.

    Raises:
        Rejection: `payment_requests.name.ours`, `payment_requests.name.bank` or `payment_requests.name.scripts`.
    """
    folded = _fold(name)
    if any(each.isalpha() and not each.isascii() for each in folded):
        raise Rejection("payment_requests.name.scripts")
    if re.search(_BRAND, folded) or (name_forms(_fold(operator_name)) & name_forms(folded)):
        raise Rejection("payment_requests.name.ours")
    banks, words = {"".join(_split(each)) for each in _names_of(methods)}, _split(name)
    begins = {"".join(words[:stop]).removeprefix("pt") for stop in range(len(words) + 1)}
    if name_forms(" ".join(words)) & (banks - ALSO_PEOPLE) or any("bank" in each for each in begins & banks):
        raise Rejection("payment_requests.name.bank")


def read_note(text: str) -> str:
    """Return the note in `text` as one line of plain text.

    Raises:
        Rejection: `payment_requests.note.empty`, `payment_requests.note.too_long` (`longest`, `actual`),
            `payment_requests.note.link` (also an address or a phone number), `payment_requests.note.ours` (it begins as
            if we spoke) or `payment_requests.note.symbols` (piled marks).
    """
    note = plain(text)
    if not note:
        raise Rejection("payment_requests.note.empty")
    if _OURS.match(_fold(note)):
        raise Rejection("payment_requests.note.ours")
    if _LINK.search(note) or _ADDRESS.search(note) or any(PhoneNumberMatcher(note, "ID")):
        raise Rejection("payment_requests.note.link")
    note = space_dots(note)
    if len(note) > MAX_NOTE_LENGTH:
        raise Rejection("payment_requests.note.too_long", longest=MAX_NOTE_LENGTH, actual=len(note))
    if piles_marks(note):
        raise Rejection("payment_requests.note.symbols")
    return note


def space_dots(text: str) -> str:
    """Return the text with a space after each dot that a letter follows, so that no app makes a link of it."""
    return _DOT_BEFORE_LETTER.sub(". ", text)


def _names_of(methods: Iterable[PayoutMethod]) -> set[str]:
    """Return all names of the live list, also without what is in brackets: "BANK JABAR BANTEN (BJB)"."""
    known = [(display_name(each), each.name, find_known(each.code, each.name) or each) for each in methods]
    names = {name for label, live, bank in known for name in (label, live, bank.name)}
    return names | {name.partition("(")[0] for name in names}


def _fold(text: str) -> str:
    """Return the text in small letters without accents. Words that only a capital separates become two."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text)
    return "".join(each for each in unicodedata.normalize("NFKD", apart).casefold() if not unicodedata.combining(each))


def _split(name: str) -> tuple[str, ...]:
    """Return the words of a name with one form for letters and digits that look alike."""
    return split_words(_fold(name).translate(_TWINS).replace("rn", "m"))

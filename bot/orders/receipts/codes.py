"""Verification codes of receipts. They are short enough to type, and too many to guess."""

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from bot.core.text import plain
from bot.orders.order import Order
from bot.orders.page_url import receipt_url

LENGTH = 12
"""Characters of 5 bits each, so 2^60 codes. A thousand guesses a second find one of a million receipts in 36 years."""

GROUP = 4
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Crockford's base32: without I, L and O, which look like digits, and without U."""

_LOOKALIKES = str.maketrans("OIL", "011")
_BETWEEN = str.maketrans("", "", " -_.")
_WITH_DASHES = re.compile(rf"\w{{{GROUP}}}(?:-\w{{{GROUP}}}){{{LENGTH // GROUP - 1}}}")
_PURPOSE = b"kirim receipt code\0"
"""Makes these hashes different from other hashes with the same key."""


def new_code() -> str:
    """Return a code of 60 random bits, as receipts show it: `K7QM-2XPA-9RTW`."""
    return _with_dashes("".join(secrets.choice(ALPHABET) for _ in range(LENGTH)))


def read_code(text: str) -> str | None:
    """Return the typed code as `new_code` writes it, or None if it can't be one.

    Case, spaces, dashes, full-width characters and the lookalikes O, I and L don't matter.
    """
    # Checked before the conversion to capitals, which turns some letters of other scripts into Latin ones, or into two.
    folded = plain(text).translate(_BETWEEN)
    if len(folded) != LENGTH or not folded.isascii():
        return None
    compact = folded.upper().translate(_LOOKALIKES)
    return _with_dashes(compact) if set(compact) <= set(ALPHABET) else None


def is_written_code(text: str) -> bool:
    """Return whether `text` is a code with dashes, as receipts show it, and can't mean anything else.

    Without dashes, a telephone number or "500rb bca 1234" could be a code. One code in a million has no letter. When
    sent alone it isn't recognised, but `/verify` accepts it.
    """
    return (
        _WITH_DASHES.fullmatch(plain(text)) is not None
        and (code := read_code(text)) is not None
        and not compact_code(code).isdecimal()
    )


def compact_code(code: str) -> str:
    """Return a code without its dashes, as links contain it: `K7QM2XPA9RTW`."""
    return code.replace("-", "")


def code_hash(code: str, pepper: bytes) -> str:
    """Return the hash by which the database finds a code: 64 hexadecimal digits.

    Args:
        code: as `new_code` or `read_code` returns it, or compact.
        pepper: a key that isn't in the database.

    Raises:
        ValueError: there is no pepper, or `code` isn't a code.
    """
    if not pepper:
        raise ValueError("a verification code is hashed with a pepper")
    normalised = read_code(code)
    if normalised is None:
        raise ValueError("this is no verification code")
    return hmac.new(pepper, _PURPOSE + compact_code(normalised).encode(), hashlib.sha256).hexdigest()


def _with_dashes(compact: str) -> str:
    return "-".join(compact[start : start + GROUP] for start in range(0, LENGTH, GROUP))


PREFIX: Final = "v_"
"""The prefix of the argument of `/start` in the link to the chat."""


@dataclass(frozen=True, slots=True)
class ReceiptLinks:
    """Where a receipt is checked: in the chat with the bot, and in any browser if there are web pages.

    Attributes:
        bot: the bot's name without its @, or "" if it isn't known.
        public_url: the address of the web pages, or "" if there are none.
    """

    bot: str
    public_url: str = ""

    def to_chat(self, code: str) -> str | None:
        """Return the address that checks the code in the chat, or None if the bot's name isn't known."""
        return f"https://t.me/{self.bot}?start={PREFIX}{compact_code(code)}" if self.bot else None

    def to_page(self, code: str) -> str | None:
        """Return the address of the web page that checks the code, or None if there are no pages."""
        return receipt_url(self.public_url, compact_code(code)) if self.public_url else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The verification code of a completed order, and its hash. Receipts of deleted users have no code."""

    reference: str
    code: str = field(repr=False)
    code_hash: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class SentOrder:
    """A completed order, and the code of its receipt."""

    order: Order
    code: str = field(repr=False)

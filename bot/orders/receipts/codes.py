"""Verification codes of receipts, which are short enough to type and too many to guess, and the limit for wrong ones.

Only wrong codes count. Each user has an allowance of wrong codes, which refills one by one. All users together have an
allowance, too. Nobody is rejected for what others do. But while the common allowance is used up, a user who types a
wrong code must wait for a whole window. So an attacker with many accounts has one guess for each account and window,
and a user can still verify one receipt.

The allowances are rows (`repository.py`), so all processes count together.
"""

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from bot.core.text import plain
from bot.orders.order import Order

VERIFY_PATH: Final = "/verify/"

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


@dataclass(frozen=True, slots=True)
class Allowance:
    """A number of wrong codes at once. They refill one by one, all of them within the `window`."""

    wrong_codes: int
    window: timedelta

    @property
    def gap(self) -> timedelta:
        """How long one wrong code takes to refill."""
        return self.window / self.wrong_codes


FOR_A_USER: Final = Allowance(10, timedelta(minutes=10))
FOR_ALL_USERS: Final = Allowance(300, timedelta(minutes=10))


class TooManyWrongCodes(Exception):
    """The user has typed too many wrong codes. They may try again at `again`, an aware time. Nothing was looked up."""

    def __init__(self, again: datetime) -> None:
        super().__init__("too many wrong codes")
        self.again = again


@dataclass(frozen=True, slots=True)
class Refills:
    """When the allowance of a user and that of all users are full again. That says how much of each is left."""

    user_full_at: datetime
    all_full_at: datetime


@dataclass(frozen=True, slots=True)
class WrongCodeLimits:
    """The two allowances."""

    for_a_user: Allowance = FOR_A_USER
    for_all_users: Allowance = FOR_ALL_USERS

    def charge(self, before: Refills, now: datetime) -> Refills:
        """Return what is left after one more wrong code.

        Raises:
            TooManyWrongCodes: the user's allowance is used up.
        """
        user_full_at, all_full_at = max(before.user_full_at, now), max(before.all_full_at, now)
        again = user_full_at + self.for_a_user.gap - self.for_a_user.window
        if again > now:
            raise TooManyWrongCodes(again)
        has_common_allowance = all_full_at + self.for_all_users.gap - self.for_all_users.window <= now
        return Refills(
            user_full_at + self.for_a_user.gap if has_common_allowance else now + self._time_to_refill_slowly(),
            all_full_at + self.for_all_users.gap,
        )

    def _time_to_refill_slowly(self) -> timedelta:
        """Return the time to refill if the first code takes a whole window and the others follow as usual."""
        return 2 * self.for_a_user.window - self.for_a_user.gap


USUAL_LIMITS: Final = WrongCodeLimits()


def receipt_url(public_url: str, compact_code: str) -> str:
    """Return the address where anyone can check the receipt with this code, which has no dashes.

    It names no language, because its reader isn't the sender. The page is in the language of the reader's browser.
    """
    return f"{public_url}{VERIFY_PATH}{compact_code}"


def form_address(public_url: str) -> str:
    """Return the address where a code can be entered, as people type it: `pay.example.com/verify`."""
    return f"{public_url}{VERIFY_PATH}".partition("://")[2].rstrip("/")

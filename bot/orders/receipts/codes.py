"""Verification codes of receipts: short enough to be typed, too many to be guessed, kept as a keyed hash."""

import hashlib
import hmac
import re
import secrets

from bot.core.text import plain

LENGTH = 12
"""Characters of 5 bits: 2^60 codes. Who tried a thousand a second would find one of a million receipts in 36 years."""

GROUP = 4
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Crockford's base32: without I, L and O, which look like digits, and without U."""

_LOOKALIKES = str.maketrans("OIL", "011")
_BETWEEN = str.maketrans("", "", " -_.")
_AS_WRITTEN = re.compile(rf"\w{{{GROUP}}}(?:-\w{{{GROUP}}}){{{LENGTH // GROUP - 1}}}")
_PURPOSE = b"kirim receipt code\0"
"""Keeps these hashes apart from whatever else is made with the same key."""


def new_code() -> str:
    """A code of 60 random bits, as it is written: `K7QM-2XPA-9RTW`."""
    return _written("".join(secrets.choice(ALPHABET) for _ in range(LENGTH)))


def read_code(text: str) -> str | None:
    """The code somebody typed, as `new_code` writes it, or None where it can't be one.

    Case, spaces, dashes, full-width characters and the lookalikes O, I and L don't matter.
    """
    # Folded before it is put in capitals: some letters of other scripts would become Latin ones, or two.
    folded = plain(text).translate(_BETWEEN)
    if len(folded) != LENGTH or not folded.isascii():
        return None
    compact = folded.upper().translate(_LOOKALIKES)
    return _written(compact) if set(compact) <= set(ALPHABET) else None


def looks_written(text: str) -> bool:
    """Whether `text` is a code as receipts write it, dashes and all, and nothing that somebody else may have meant.

    Without the dashes a telephone number reads as a code, and so does "500rb bca 1234". One code in a million has
    no letter; it isn't known by itself, but `/verify` takes it.
    """
    return (
        _AS_WRITTEN.fullmatch(plain(text)) is not None
        and (code := read_code(text)) is not None
        and not compact_code(code).isdecimal()
    )


def compact_code(code: str) -> str:
    """A written code without its dashes, as links carry it: `K7QM2XPA9RTW`."""
    return code.replace("-", "")


def code_hash(code: str, pepper: bytes) -> str:
    """What the database looks a code up by: 64 hexadecimal digits that say nothing without the pepper.

    Args:
        code: As `new_code` or `read_code` gives it, or compact.
        pepper: A secret key, kept out of the database; 32 random bytes are right.

    Raises:
        ValueError: no pepper, or text that is no code: a mistake of the caller's.
    """
    if not pepper:
        raise ValueError("a verification code is hashed with a pepper")
    written = read_code(code)
    if written is None:
        raise ValueError("this is no verification code")
    return hmac.new(pepper, _PURPOSE + compact_code(written).encode(), hashlib.sha256).hexdigest()


def _written(compact: str) -> str:
    return "-".join(compact[start : start + GROUP] for start in range(0, LENGTH, GROUP))

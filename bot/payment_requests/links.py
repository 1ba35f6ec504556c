"""The links of payment requests: `https://t.me/<bot>?start=r_<token>`, with a token of 96 random bits."""

import hashlib
import re
import secrets
from typing import Final

LINK: Final = "r_"
"""The beginning of the word after `?start=`. The token follows."""

_TOKEN_BYTES: Final = 12
_FORM: Final = "[A-Za-z0-9_-]{16}"
START_PATTERN: Final = re.compile(rf"/start(?:@\w+)?\s+{LINK}")
"""Matches the message that Telegram sends when a user opens a link, also one with a wrong token."""

_WORD: Final = re.compile(rf"{LINK}({_FORM})")


def new_token() -> str:
    """Return a new token: 16 characters that Telegram accepts in links."""
    return secrets.token_urlsafe(_TOKEN_BYTES)


def hash_token(token: str) -> str:
    """Return the hash by which a token is found. Nobody can guess a token from it."""
    return hashlib.sha256(token.encode()).hexdigest()


def read_token(word: str) -> str | None:
    """Return the token in the word after `/start`, or None if it can't be one."""
    found = _WORD.fullmatch(word)
    return None if found is None else found[1]


def make_link(bot: str, token: str) -> str:
    """Return the link. `bot` is the bot's username without the @."""
    return f"https://t.me/{bot}?start={LINK}{token}"

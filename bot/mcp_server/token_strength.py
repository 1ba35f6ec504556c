"""How hard the bearer token is to guess. Anyone who guesses it can create orders with the operator's key.

A good token is 32 random bytes, as `secrets.token_urlsafe(32)` draws them. Wrong tokens aren't counted, so the token
alone must withstand guesses.
"""

from itertools import pairwise
from typing import Final

MIN_LENGTH: Final = 32
MIN_DIFFERENT: Final = 10
"""How many different characters a token needs. A random one of 32 hexadecimal digits has about 14."""

MAKE_ONE: Final = 'python -c "import secrets; print(secrets.token_urlsafe(32))"'
"""The command that prints a good token."""

COMMON_WORDS: Final = (
    "password",
    "passwort",
    "passw0rd",
    "changeme",
    "change-me",
    "change_me",
    "placeholder",
    "authorization",
    "example",
    "service",
    "default",
    "sandbox",
    "letmein",
    "qwerty",
    "asdfgh",
    "zxcvbn",
    "secret",
    "bearer",
    "kirim",
    "token",
    "admin",
    "agent",
    "server",
)
"""Words that are guessed first. What is left of a token without them must be strong."""


def is_weak(token: str) -> bool:
    """Return whether a bearer token can be guessed.

    Without the common words, a strong token has 32 characters or more, 10 of them different. It doesn't repeat a
    shorter text, and is no run such as `abcdef` or `987654`.
    """
    rest = token.lower()
    for word in COMMON_WORDS:
        rest = rest.replace(word, "")
    return len(rest) < MIN_LENGTH or len(set(rest)) < MIN_DIFFERENT or _is_repetition(rest) or _is_run(rest)


def _is_repetition(text: str) -> bool:
    """Return whether `text` is a shorter text twice or more, the last time perhaps cut off."""
    return any(text[length:] == text[:-length] for length in range(1, len(text) // 2 + 1))


def _is_run(text: str) -> bool:
    """Return whether most characters are beside their predecessor in the alphabet, or equal to it."""
    steps = [abs(ord(one) - ord(next_one)) <= 1 for one, next_one in pairwise(text)]
    return 2 * sum(steps) > len(steps)

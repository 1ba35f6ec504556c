"""What a broadcast may say, and when an operator has to look twice before it is sent.

A template is Telegram's HTML with variables in braces, as `{rate}`. It is read once, when an operator gives it, and
kept in a form that can be filled without looking at it again: known tags alone, and no brace but a variable's.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from html import escape
from html.parser import HTMLParser
from typing import Final

from bot.domain.errors import Rejection
from bot.domain.quote import Quote
from bot.domain.text import plain

VARIABLES: Final = ("rate", "usdc", "sats_100k", "sats_1m", "fee", "time", "source")
"""Rupiah for a bitcoin and for a USDC, the sats for 100,000 and for 1,000,000 rupiah, the fee, and the quote's time and
source."""

SUMS: Final = {"sats_100k": 100_000, "sats_1m": 1_000_000}
"""Variables that are sats, and for how many rupiah."""

WIDEST: Final = Quote(
    Decimal("88888888888.88"), datetime(2028, 12, 28, 22, 58, tzinfo=UTC), Decimal("888888.88"), "W" * 24
)
"""A quote that takes more room than any to be expected: what fits with it fits when it is sent."""

MOST_LATE: Final = timedelta(hours=2)
"""A broadcast that couldn't begin for so long (the bot was away) waits for an operator's word."""

PATIENCE: Final = timedelta(minutes=5)
"""So long a broadcast waits by itself for a fresh quote before it asks an operator."""

_TAGS: Final[Mapping[str, frozenset[str]]] = {
    **dict.fromkeys(("b", "strong", "i", "em", "u", "ins", "s", "strike", "del", "tg-spoiler", "pre"), frozenset()),
    "a": frozenset({"href"}),
    "blockquote": frozenset({"expandable"}),
    "code": frozenset({"class"}),
    "span": frozenset({"class"}),
    "tg-emoji": frozenset({"emoji-id"}),
    "tg-time": frozenset({"unix", "format"}),
}
_VARIABLE: Final = re.compile(r"\{([a-z0-9_]+)\}")
_BRACED: Final = re.compile(r"\{([^{}]*)\}")
_PERCENT_ENCODED: Final = str.maketrans({"{": "%7B", "}": "%7D"})


class Doubt(StrEnum):
    """Why a broadcast isn't sent without a second word. The values stand in buttons."""

    STALE = "s"
    JUMPED = "j"
    LATE = "l"
    NO_QUOTE = "n"


def read_template(html: str) -> str:
    """`html` (Telegram's, made of a message's entities) as a template.

    Raises:
        Rejection: it says nothing, has a variable that isn't known, a brace on its own, or markup Telegram has not.
    """
    markup = _Markup()
    markup.feed(html)
    markup.close()
    markup.end()
    if not plain(markup.words):
        raise Rejection("broadcast.empty")
    return "".join(markup.out).strip()


def known_variables() -> str:
    """All of them as they are written: `{rate}, {usdc}, …`."""
    return ", ".join(f"{{{name}}}" for name in VARIABLES)


def has_variables(template: str) -> bool:
    """Whether the template tells anything of a quote."""
    return _VARIABLE.search(template) is not None


def fill(template: str, values: Mapping[str, str]) -> str:
    """The template with its variables replaced; `values` are markup, and have every variable."""
    return _VARIABLE.sub(lambda match: values[match[1]], template)


def moved_percent(before: Quote, after: Quote) -> Decimal:
    """How far BTC/IDR has moved from one quote to another, in percent; negative is down."""
    return (after.btc_idr / before.btc_idr - 1) * 100 if before.btc_idr else Decimal("Infinity")


def doubts_about(quote: Quote, last: Quote | None, now: datetime, jump_percent: Decimal) -> tuple[Doubt, ...]:
    """Why this quote shouldn't be told without a second word; `last` is that of the last broadcast."""
    found = [Doubt.STALE] if quote.is_stale(now) else []
    if last is not None and abs(moved_percent(last, quote)) > jump_percent:
        found.append(Doubt.JUMPED)
    return tuple(found)


def time_to_send(count: int, per_second: float) -> timedelta:
    """How long so many messages take at this rate."""
    return timedelta(seconds=count / per_second)


class _Markup(HTMLParser):
    """Writes a template down anew: what Telegram knows, with every attribute quoted and nothing else."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.out: list[str] = []
        self.words = ""
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _TAGS:
            raise Rejection("broadcast.markup")
        self._open.append(tag)
        self.out.append(f"<{tag}{''.join(_attribute(*each) for each in attrs if each[0] in _TAGS[tag])}>")

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open.pop() != tag:
            raise Rejection("broadcast.markup")
        self.out.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        self.words += data
        named = _BRACED.sub(_named, data)
        if re.search(r"[{}]", _VARIABLE.sub("", named)):
            raise Rejection("broadcast.lone_brace", known=known_variables())
        self.out.append(escape(named, quote=False))

    def handle_comment(self, data: str) -> None:
        del data
        raise Rejection("broadcast.markup")

    def end(self) -> None:
        """All has been read."""
        if self._open:
            raise Rejection("broadcast.markup")


def _attribute(name: str, value: str | None) -> str:
    return f" {name}" if value is None else f' {name}="{escape(value.translate(_PERCENT_ENCODED))}"'


def _named(match: re.Match[str]) -> str:
    name = match[1].strip().lower()
    if name not in VARIABLES:
        raise Rejection("broadcast.unknown_variable", name=f"{{{plain(match[1])[:40]}}}", known=known_variables())
    return f"{{{name}}}"

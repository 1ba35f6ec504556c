"""Screens: the text, buttons and picture of a message, and the answers to inline queries, independent of Telegram.

Screens are pure values, so tests can compare them. `outbound/sender.py` converts the buttons and sends the message.
`Button` checks the Bot API's limits, because Telegram would reject the whole message.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import structlog

log = structlog.get_logger(__name__)

DATA_BYTES = 64
COPY_CHARACTERS = 256
URL_SCHEMES = ("http://", "https://", "tg://")

Style = Literal["primary", "success", "danger"]


@dataclass(frozen=True, slots=True)
class Button:
    """An inline button. Exactly one of `data`, `url`, `copy` and `inline` is set and decides what a press does.

    Args:
        label: the text on the button.
        data: sent back to the bot in a callback query. Up to 64 bytes in UTF-8.
        url: opened by the user's app. Only http, https or tg.
        copy: copied to the user's clipboard. Up to 256 characters.
        inline: the inline query that begins in a chat of the user's choice. Only for a bot with inline mode.
        style: one of Telegram's colours. Older apps ignore it.

    Raises:
        ValueError: Telegram would reject the button and the message.
    """

    label: str
    data: str | None = None
    url: str | None = None
    copy: str | None = None
    style: Style | None = None
    inline: str | None = None

    def __post_init__(self) -> None:
        if not self.label:
            raise ValueError("a button needs a label")
        if sum(action is not None for action in (self.data, self.url, self.copy, self.inline)) != 1:
            raise ValueError("a button does exactly one of data, url, copy and inline")
        _check_data(self.data)
        _check_url(self.url)
        _check_copy(self.copy)


def _check_data(data: str | None) -> None:
    if data is not None and not 1 <= len(data.encode()) <= DATA_BYTES:
        raise ValueError(f"callback data must have 1 to {DATA_BYTES} bytes")


def _check_url(url: str | None) -> None:
    if url is not None and not url.startswith(URL_SCHEMES):
        raise ValueError("a button's url must be http, https or tg")


def _check_copy(copy: str | None) -> None:
    if copy is not None and not 1 <= len(copy) <= COPY_CHARACTERS:
        raise ValueError(f"text to copy must have 1 to {COPY_CHARACTERS} characters")


Keyboard = tuple[tuple[Button, ...], ...]
"""Rows of buttons, from top to bottom."""


def in_rows(buttons: Iterable[Button], columns: int = 2) -> Keyboard:
    """Return the buttons in rows of so many."""
    every = tuple(buttons)
    return tuple(every[first : first + columns] for first in range(0, len(every), columns))


@dataclass(frozen=True, slots=True)
class Screen:
    """One message. `text` is Telegram's HTML, or the caption of `photo` (a PNG, or a photo's id)."""

    text: str
    keyboard: Keyboard = ()
    photo: bytes | str | None = None
    silent: bool = False


MAX_RESULTS = 50
ID_BYTES = 64


@dataclass(frozen=True, slots=True)
class InlineQuery:
    """What a user has typed after the bot's name, in a chat that the bot doesn't know."""

    id: str
    user_id: int
    language_code: str | None
    text: str


@dataclass(frozen=True, slots=True)
class InlineResult:
    """One result: a title and a description to choose it by, and the message that it sends (Telegram's HTML).

    The message is in a chat that the bot can't see. A button with data would belong to nobody there, so its buttons are
    links.

    Raises:
        ValueError: Telegram would reject the result, or a button isn't a link.
    """

    id: str
    title: str
    description: str
    text: str
    keyboard: Keyboard = ()

    def __post_init__(self) -> None:
        if not 1 <= len(self.id.encode()) <= ID_BYTES or not self.title or not self.text:
            raise ValueError("a result needs an id of 1 to 64 bytes, a title and a text")
        if any(button.url is None for row in self.keyboard for button in row):
            raise ValueError("the buttons of an inline message must be links")


@dataclass(frozen=True, slots=True)
class InlineAnswer:
    """The answer to an inline query: what a user sees after typing `@bot …` in any chat.

    `start_label` is the button above the results that opens the private chat, with `start_word` after `/start`.
    """

    results: tuple[InlineResult, ...] = ()
    start_label: str = ""
    start_word: str = ""


TEXT_UNITS = 4096
CAPTION_UNITS = 1024
ELLIPSIS = "…"

_TAG_OR_ENTITY = r"<(?P<close>/?)(?P<name>[a-zA-Z-]+)[^>]*>|&(?:#\d+|#x[0-9a-fA-F]+|[a-z]+);"
_MARKUP = re.compile(_TAG_OR_ENTITY)
_PIECE = re.compile(f"{_TAG_OR_ENTITY}|.", re.DOTALL)
_OF_ONE_UNIT = "."
"""Stands for an entity, which is one unit in the message."""


def truncate_html(html: str, limit: int = TEXT_UNITS) -> str:
    """Return `html`, cut to `limit` visible UTF-16 units, as Telegram counts. Tags that are open there are closed.

    Screens fit. Only text from outside, such as a bank's long name or an error, could make one too long. A truncated
    message about money is better than a rejected one.
    """
    if _count_units(html) <= limit or count_visible_units(html) <= limit:
        return html
    kept: list[str] = []
    open_tags: list[str] = []
    remaining = limit - _count_units(ELLIPSIS)
    for piece in _PIECE.finditer(html):
        remaining -= count_visible_units(piece[0])
        if remaining < 0:
            break
        if piece["name"]:
            _update_open_tags(open_tags, piece["name"], closing=bool(piece["close"]))
        kept.append(piece[0])
    log.error("message_truncated", limit=limit)
    return "".join([*kept, ELLIPSIS, *(f"</{name}>" for name in reversed(open_tags))])


def _update_open_tags(open_tags: list[str], name: str, *, closing: bool) -> None:
    if not closing:
        open_tags.append(name)
    elif open_tags:
        open_tags.pop()


def count_visible_units(html: str) -> int:
    """Return the length of a text in HTML as Telegram counts it: UTF-16 units, without the tags."""
    return _count_units(_MARKUP.sub(lambda found: "" if found["name"] else _OF_ONE_UNIT, html))


def _count_units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2

"""Screens: the text, buttons and picture of a message, independent of Telegram.

Screens are pure values, so tests can compare them. `keyboards.py` converts the buttons, and `Messenger` sends the
message. `Button` checks the Bot API's limits, because Telegram would reject the whole message.
"""

from dataclasses import dataclass
from typing import Literal

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


@dataclass(frozen=True, slots=True)
class Screen:
    """One message. `text` is Telegram's HTML, or the caption of `photo` (a PNG, or a photo's id)."""

    text: str
    keyboard: Keyboard = ()
    photo: bytes | str | None = None
    silent: bool = False

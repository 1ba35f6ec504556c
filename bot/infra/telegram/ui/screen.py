"""What a screen shows, said without Telegram: text, buttons, perhaps a picture.

Screens are pure values, so that they can be tested by comparing them; `render` turns the buttons into
Telegram's and `messenger` sends the whole. The limits of the Bot API which the API itself answers with a
refusal of the whole message are checked here, where the mistake is made.
"""

from dataclasses import dataclass
from typing import Literal

DATA_BYTES = 64
COPY_CHARACTERS = 256
URL_SCHEMES = ("http://", "https://", "tg://")

Style = Literal["primary", "success", "danger"]


@dataclass(frozen=True, slots=True)
class Button:
    """One inline button: exactly one of `data`, `url` and `copy` says what a press does.

    Args:
        label: what stands on it.
        data: comes back to the bot in a callback query; at most 64 bytes in UTF-8.
        url: opened by the user's app; http, https or tg only.
        copy: put on the user's clipboard; at most 256 characters.
        style: a colour of Telegram's, where the app knows it.

    Raises:
        ValueError: Telegram would refuse the button, and the message with it.
    """

    label: str
    data: str | None = None
    url: str | None = None
    copy: str | None = None
    style: Style | None = None

    def __post_init__(self) -> None:
        if not self.label:
            raise ValueError("a button needs a label")
        if sum(action is not None for action in (self.data, self.url, self.copy)) != 1:
            raise ValueError("a button does exactly one of data, url and copy")
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
"""Rows of buttons, from the top."""


@dataclass(frozen=True, slots=True)
class Screen:
    """One message: `text` is Telegram's HTML (the caption, where there is a `photo`: a PNG, or a photo's id there)."""

    text: str
    keyboard: Keyboard = ()
    photo: bytes | str | None = None
    silent: bool = False

"""Answers to inline queries: what a user sees after typing `@bot …` in any chat, and the message that a result sends.

The message is in a chat that the bot can't see. A button with data would belong to nobody there, so its buttons are
links.
"""

from dataclasses import dataclass

from bot.infra.telegram.ui.screen import Keyboard

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
    """The answer to an inline query.

    `start_label` is the button above the results that opens the private chat, with `start_word` after `/start`.
    """

    results: tuple[InlineResult, ...] = ()
    start_label: str = ""
    start_word: str = ""

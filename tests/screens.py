"""What the tests of screens share: one moment and time zone, hostile names, and a screen as Telegram reads it."""

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from html import escape
from typing import Final

from bot.core.text import plain
from bot.core.zones import PRESUMED
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Button, Screen
from bot.sandbox.bot_api import html
from bot.settlement.model import PayoutMethod

NOW: Final = datetime(2026, 8, 17, 3, 5, tzinfo=UTC)
"""When the screens are shown. It is a full minute, since screens round times up to minutes."""

JAKARTA: Final = PRESUMED
HOSTILE_NAMES: Final = (
    "<b>BANK</b> & Co",
    "&lt;script&gt;",
    "B" * 200,
    "🏦" * 200,
    "{amount} {0}",
    "بنك\u202eمصر\u200b",
    "A\nB\tC",
    "\u200b",
    "'\"><a href='https://evil.example'>x</a>",
)
"""Names that a service could send or a user could type."""

MAX_TEXT, MAX_CAPTION, MAX_LABEL = 4096, 1024, 64
"""UTF-16 units that Telegram accepts of a text and a caption, and characters of a button's label."""


@dataclass(frozen=True)
class Outside:
    """What comes from outside: the reader's language, a payout method of the service's list, and what users type."""

    t: Translator
    method: PayoutMethod
    typed: str = "1.500"

    @property
    def reader(self) -> Reader:
        """The reader of the screens."""
        return Reader(self.t, JAKARTA, NOW, dict.fromkeys((1001, 3001), plain(self.typed)))

    @property
    def html(self) -> Html:
        """What was typed, as it is saved: escaped, and never empty."""
        return Html(escape(self.typed[:300]) or "-")


@lru_cache(maxsize=4096)
def _read(markup: str) -> str:
    return html.parse(markup, lambda _: None)[0]


@dataclass(frozen=True)
class ScreenCase:
    """One screen, and what its text must contain: for a screen of an order, which order it is.

    `given` is what it was built from, if that is known.
    """

    name: str
    screen: Screen
    must_say: tuple[str, ...] = ()
    is_caption: bool = False
    given: tuple[object, ...] = ()

    @cached_property
    def text(self) -> str:
        """The text that a user reads. Markup that Telegram would reject raises an exception."""
        return _read(self.screen.text)

    @property
    def units(self) -> int:
        """The text's length in UTF-16 units, as Telegram counts it."""
        return html.utf16_length(self.text)

    @property
    def buttons(self) -> list[Button]:
        """All buttons in order."""
        return [button for row in self.screen.keyboard for button in row]


def check_screen(case: ScreenCase) -> None:
    """Assert that Telegram accepts a screen, and that it says what it must say."""
    assert 0 < case.units <= (MAX_CAPTION if case.is_caption else MAX_TEXT), f"{case.name}: {case.units} units"
    assert all(said in case.text for said in case.must_say), f"{case.name}: {case.text}"
    for button in case.buttons:
        assert 0 < len(button.label) <= MAX_LABEL, f"{case.name}: {button.label}"
        assert button.label.strip(), f"{case.name}: a label of spaces"
        assert button.data is None or len(button.data.encode()) <= 64
    assert len(case.buttons) <= 100
    assert all(len(row) <= 8 for row in case.screen.keyboard)

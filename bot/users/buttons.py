"""The buttons of settings, phrases, personal data and languages, and the button for a new order."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from bot.core.locales import LOCALES
from bot.infra.i18n import Translator
from bot.infra.telegram.ui.callbacks import Callback, Pattern
from bot.infra.telegram.ui.screen import Button, Style


class SettingsAction(StrEnum):
    """What a button of the settings does."""

    SHOW = "show"
    LANG = "lang"
    ZONES = "zones"
    ZONE = "zone"
    PLACE = "place"


class PhraseAction(StrEnum):
    """What a button of the phrase does."""

    SHOW = "show"
    NEW = "new"
    OWN = "own"
    USE = "use"


class PrivacyAction(StrEnum):
    """What a button of `/privacy` does."""

    SHOW = "show"
    SEE = "see"
    FILE = "file"
    DELETE = "delete"
    CANCEL_DELETION = "keep"


@dataclass(frozen=True)
class NewOrderButton(Callback, prefix="new"):
    """The button that starts a new order. Many screens have it, and checkout handles it."""


@dataclass(frozen=True)
class LanguageButton(Callback, prefix="lang"):
    """A button that changes the language. The settings have their own."""

    locale: Annotated[str, Pattern("|".join(LOCALES))]


@dataclass(frozen=True)
class SettingsButton(Callback, prefix="s"):
    """A button of the settings. What `argument` means depends on the action."""

    action: SettingsAction
    argument: Annotated[str, Pattern("[A-Za-z0-9_+/-]{1,48}")] = ""


@dataclass(frozen=True)
class PhraseButton(Callback, prefix="ph"):
    """A button of the phrase. `code` names the suggestion to use."""

    action: PhraseAction
    code: Annotated[str, Pattern("[a-z0-9-]{1,20}")] = ""


@dataclass(frozen=True)
class PrivacyButton(Callback, prefix="pv"):
    """A button of `/privacy`."""

    action: PrivacyAction


@dataclass(frozen=True)
class DeletionButton(Callback, prefix="pv:yes"):
    """The button that confirms the deletion of a user's data. `asked_at` is the question's time (`format_asked_at`)."""

    user_id: int
    asked_at: Annotated[str, Pattern("[0-9]{1,17}")]


def send_row(t: Translator, label: str = "users.button.send", *, style: Style | None = "primary") -> tuple[Button, ...]:
    """Return the row with the button that starts a new order. On a screen about trouble it has no `style`."""
    return (Button(t.plain(label), data=NewOrderButton().pack(), style=style),)

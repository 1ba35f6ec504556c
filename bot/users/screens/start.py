"""The start: what Kirim is, what newcomers ask before their first question, and what members of staff see first."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bot.infra.i18n import LOCALES, Html, Translator, other_locales
from bot.infra.telegram.ui.screen import Button, Screen
from bot.payments.tokens import LIGHTNING_WALLETS
from bot.users.buttons import LanguageButton, SettingsAction, SettingsButton, send_row


@dataclass(frozen=True, slots=True)
class WelcomeFacts:
    """The lines that answer a newcomer's questions, and the button that leads to more."""

    lines: tuple[Html, ...] = ()
    more: Button | None = None


NO_FACTS: Final = WelcomeFacts()
"""The facts of a bot without orders."""


def show_welcome(t: Translator, facts: WelcomeFacts = NO_FACTS, buttons: Sequence[Button] = ()) -> Screen:
    """Return the welcome, with the buttons of features above."""
    parts = (t("users.start.text", wallets=", ".join(LIGHTNING_WALLETS)), "\n".join(facts.lines))
    more = ((facts.more,),) if facts.more is not None else ()
    return Screen(
        "\n\n".join(filter(None, parts)), (send_row(t), *((button,) for button in buttons), *more, _settings_row(t))
    )


def show_staff_start(t: Translator, parts: Sequence[Screen]) -> Screen:
    """Return the start of members of staff: what each of their roles shows. They can send rupiah, too."""
    rows = [row for part in parts for row in part.keyboard]
    text = "\n\n".join([*(part.text for part in parts), t("users.start.staff")])
    return Screen(text, (*rows, send_row(t, style=None), _settings_row(t)))


def _settings_row(t: Translator) -> tuple[Button, ...]:
    """Return the buttons to the other languages and to the settings."""
    others = [
        Button(t.plain("users.language.other", name=LOCALES[code].name), data=LanguageButton(code).pack())
        for code in other_locales(t.locale)
    ]
    return (*others, Button(t.plain("users.button.settings"), data=SettingsButton(SettingsAction.SHOW).pack()))

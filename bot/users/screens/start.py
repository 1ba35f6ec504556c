"""The welcome: what Kirim is, what newcomers ask before their first question, and the button for a new order."""

from dataclasses import dataclass
from typing import Final

from bot.infra.i18n import LOCALES, Html, Translator, other_locales
from bot.infra.telegram.ui.screen import Button, Screen
from bot.payments.tokens import LIGHTNING_WALLETS
from bot.users.buttons import LanguageButton, SettingsAction, SettingsButton
from bot.users.screens.buttons import send_row


@dataclass(frozen=True, slots=True)
class WelcomeFacts:
    """The lines that answer a newcomer's questions, and the button that leads to more."""

    lines: tuple[Html, ...] = ()
    more: Button | None = None


NO_FACTS: Final = WelcomeFacts()
"""The facts of a bot without orders."""


def show_welcome(t: Translator, facts: WelcomeFacts = NO_FACTS) -> Screen:
    """Return the welcome."""
    others = tuple(
        Button(t.plain("users.language.other", name=LOCALES[code].name), data=LanguageButton(code).pack())
        for code in other_locales(t.locale)
    )
    settings = Button(t.plain("users.button.settings"), data=SettingsButton(SettingsAction.SHOW).pack())
    parts = (t("users.start.text", wallets=", ".join(LIGHTNING_WALLETS)), "\n".join(facts.lines))
    more = ((facts.more,),) if facts.more is not None else ()
    return Screen("\n\n".join(filter(None, parts)), (send_row(t), *more, (*others, settings)))

"""The welcome: what Kirim is, and the button for a new order. Users without a phrase also see a suggestion."""

from bot.infra.i18n import LOCALES, Html, Translator, other_locales
from bot.infra.telegram.ui.screen import Button, Screen
from bot.users.buttons import LanguageButton, SettingsAction, SettingsButton
from bot.users.phrase import Suggestion
from bot.users.screens import phrase
from bot.users.screens.buttons import send_row


def show_welcome(t: Translator, suggestion: Suggestion | None = None) -> Screen:
    """Return the welcome, with a `suggestion` for a user who has no phrase yet."""
    others = tuple(
        Button(t.plain("users.language.other", name=LOCALES[code].name), data=LanguageButton(code).pack())
        for code in other_locales(t.locale)
    )
    settings = Button(t.plain("users.button.settings"), data=SettingsButton(SettingsAction.SHOW).pack())
    if suggestion is None:
        return Screen(t("users.start.text"), (send_row(t), (*others, settings)))
    text = Html(f"{t('users.start.text')}\n\n{t('users.start.phrase', phrase=suggestion.text)}")
    return Screen(text, (send_row(t), *phrase.choice_rows(t, suggestion), (*others, settings)))

"""What Kirim is, in three lines and one big button; newcomers find a phrase of their own suggested beside it."""

from bot.checkout.screens.parts import new_row
from bot.infra.i18n import LOCALES, Html, Translator, other_locales
from bot.infra.telegram.ui.screen import Button, Screen
from bot.infra.telegram.ui.session import Session
from bot.users.phrase import Suggestion
from bot.users.screens import phrase


def screen(t: Translator, suggestion: Suggestion | None = None) -> Screen:
    """The welcome; with a `suggestion` for who has no phrase yet."""
    others = tuple(
        Button(t.plain("language.other", name=LOCALES[code].name), data=f"lang:{code}")
        for code in other_locales(t.locale)
    )
    settings = Button(t.plain("button.settings"), data="s:show")
    if suggestion is None:
        return Screen(t("start.text"), (new_row(t), (*others, settings)))
    text = Html(f"{t('start.text')}\n\n{t('start.phrase', phrase=suggestion.text)}")
    return Screen(text, (new_row(t), *phrase.choices(t, suggestion), (*others, settings)))


async def show(visit: Session) -> Screen:
    """The welcome, in the person's language."""
    return screen(visit.t, await visit.suggestion() if visit.person.phrase is None else None)

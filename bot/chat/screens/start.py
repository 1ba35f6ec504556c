"""What Kirim is, in three lines and one big button; and the small screens around it."""

from bot.chat.desk import Visit
from bot.chat.screen import Button, Screen
from bot.chat.screens.parts import new_row
from bot.i18n import Translator


def screen(t: Translator) -> Screen:
    """The welcome."""
    other = Button(t.plain("language.other"), data=f"lang:{t.plain('language.other_code')}")
    return Screen(t("start.text"), (new_row(t), (other,)))


async def show(visit: Visit) -> Screen:
    """The welcome, in the person's language."""
    return screen(visit.t)


def help_screen(t: Translator) -> Screen:
    """How it works, and what to beware of."""
    return Screen(t("help.text"), (new_row(t),))


def language_screen(t: Translator) -> Screen:
    """Both languages, each in its own words."""
    return Screen(
        t("language.ask"),
        ((Button("English", data="lang:en"), Button("Bahasa Indonesia", data="lang:id")),),
    )

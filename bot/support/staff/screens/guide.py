"""What support agents see first, what they can do, and the language of their group."""

from collections.abc import Mapping

from bot.infra.i18n import LOCALES, Translator
from bot.infra.telegram.ui.screen import Button, Screen
from bot.support.buttons import GroupLanguageButton, LookupButton, LookupPage
from bot.support.model import TicketFilter


def show_start(t: Translator, counts: Mapping[TicketFilter, int], *, has_group: bool) -> Screen:
    """Return an agent's start: how many tickets are open, and where they arrive."""
    text = t(
        "support.agent.start",
        open=counts[TicketFilter.OPEN],
        unclaimed=counts[TicketFilter.UNCLAIMED],
        mine=counts[TicketFilter.MINE],
        where=t("support.agent.in_group" if has_group else "support.agent.in_private"),
    )
    tickets = LookupButton(LookupPage.TICKETS, TicketFilter.OPEN).pack()
    return Screen(text, ((Button(t.plain("support.agent.tickets"), data=tickets),),))


def show_help(t: Translator) -> Screen:
    """Return what an agent can do, with the commands."""
    return Screen(t("support.agent.help"))


def ask_language(t: Translator) -> Screen:
    """Ask for the language of the group. Each language has its own name."""
    buttons = tuple(Button(locale.name, data=GroupLanguageButton(code).pack()) for code, locale in LOCALES.items())
    return Screen(t("support.agent.ask_language"), (buttons,))


def confirm_language(t: Translator) -> Screen:
    """Confirm the language of the group, in that language."""
    return Screen(t("support.agent.language_changed"))

"""A person has asked for a person: who knows of it, and whom they can write to themselves."""

from html import escape

from bot.actions.help import Help
from bot.chat import words
from bot.chat.screen import Screen
from bot.domain.order import Order
from bot.i18n import Html, Translator

PROFILE = "https://t.me/"


def screen(t: Translator, order: Order, help_desk: Help, *, is_first: bool) -> Screen:
    """That the staff know, where there are any, and the contact from the settings, with what to quote to it."""
    said = []
    if help_desk.has_staff:
        said.append(t("help.asked" if is_first else "help.asked_before"))
    if help_desk.contact:
        key = "help.contact_too" if help_desk.has_staff else "help.contact"
        said.append(t(key, contact=contact(help_desk.contact), reference=order.reference))
    return Screen("\n\n".join((t("help.about", line=words.order_line(t, order)), *said)))


def contact(whom: str) -> Html:
    """A contact that can be tapped. Telegram makes a link of a mail address by itself, and takes none made for it."""
    if whom.startswith("@"):
        return Html(f'<a href="{escape(PROFILE + whom[1:])}">{escape(whom)}</a>')
    if whom.startswith("https://"):
        return Html(f'<a href="{escape(whom)}">{escape(whom)}</a>')
    return Html(escape(whom))

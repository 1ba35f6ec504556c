"""A ticket that nobody has answered for too long: what support hears of it, and what the operators do."""

from datetime import datetime

from bot.chat.screen import Button, Keyboard, Screen
from bot.chat.screens.staff_talk import mention
from bot.chat.staff import data
from bot.domain.tickets import Ticket
from bot.i18n import Html, Translator


def to_room(t: Translator, ticket: Ticket, now: datetime) -> Screen:
    """Who holds it is named, so that their phone tells them."""
    keyboard: Keyboard = ()
    if ticket.claimed_by is None:
        keyboard = ((Button(t.plain("waits.claim"), data=data.for_staff(ticket.reference, data.CLAIM)),),)
    return Screen(_text(t, "waits.head", ticket, now), keyboard)


def to_operator(t: Translator, ticket: Ticket, now: datetime, link: str | None) -> Screen:
    """Operators may be no supporters: they get the way to the ticket, and none into it."""
    keyboard = ((Button(t.plain("waits.open"), url=link),),) if link else ()
    return Screen(_text(t, "waits.long", ticket, now), keyboard)


def _text(t: Translator, key: str, ticket: Ticket, now: datetime) -> Html:
    waited = t.duration(now - (ticket.waits_since or now))
    held = t("waits.unclaimed") if ticket.claimed_by is None else t("waits.held", by=mention(ticket.claimed_by))
    return Html(f"{t(key, ticket=ticket.reference, waited=waited)}\n{held}")

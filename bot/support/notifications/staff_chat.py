"""Render messages to support: the ticket's card, the user's messages and edits, and changes of the ticket."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from bot.infra.db.transaction import Transaction
from bot.infra.i18n import Html
from bot.infra.outbox.model import (
    DeliveryOutcome,
    Notification,
    NotificationKind,
    NotificationStatus,
    Sent,
    StoredNotification,
)
from bot.infra.outbox.rendering import RenderWithFacts, with_repeat_note
from bot.infra.outbox.repository import OutboxRepository
from bot.infra.telegram.outbound.sender import Delivered, Outcome
from bot.infra.telegram.outbound.truncate import CAPTION_UNITS, TEXT_UNITS, count_visible_units
from bot.infra.telegram.ui.screen import Screen
from bot.support.entries import OWN_UNITS, Place, send_entry, with_quote
from bot.support.model import BotMessage, BotMessageRole, TicketEntry
from bot.support.notification_kinds import AboutTicket, StaffNotification, TicketStep, UserEntry
from bot.support.notifications.bot_messages import find_entry
from bot.support.notifications.screens import card as card_screens
from bot.support.notifications.topics import TicketTopics
from bot.support.ticket import Ticket
from bot.support.tickets.bot_message_repository import BotMessageRepository
from bot.support.tickets.entry_repository import TicketEntryRepository
from bot.support.tickets.repository import TicketRepository
from bot.users.readers import RenderContext, Renderer

Following = tuple[StoredNotification, TicketEntry]
"""A notification that waits behind another one, and the entry that both can show in one message."""

MAX_FOLLOWING: Final = 49
"""How many further texts one message shows. Telegram formats up to 100 parts of a message."""

TIME_UNITS: Final = 20
"""The units of the time above each further text of a message."""


class StaffChatMessages:
    """Render messages to support about users and their orders."""

    def __init__(self, topics: TicketTopics) -> None:
        self._topics = topics

    def renderers(self) -> Mapping[NotificationKind, Renderer]:
        """Return the renderer of each kind of notification."""
        return {
            StaffNotification.NEW_CARD: RenderWithFacts(_read_ticket, self.render_new_card),
            StaffNotification.CARD: RenderWithFacts(_read_card, self.render_card),
            StaffNotification.ENTRY: RenderWithFacts(_read_entry, self.render_entry),
            StaffNotification.EDITED: RenderWithFacts(_read_entry, self.render_entry),
            StaffNotification.STEP: RenderWithFacts(_read_ticket, self.render_step),
        }

    async def render_new_card(
        self, notification: Notification[AboutTicket], ticket: Ticket | None, context: RenderContext
    ) -> DeliveryOutcome:
        """Send the card of a new ticket, in a new topic if the chat has topics."""
        if ticket is None:
            return Sent()
        again = context.t("infra.outbox.again") if notification.maybe_sent else ""
        card = await self._topics.find_or_send_card(notification.chat_id, context.reader, ticket, again)
        return Sent(card.message_id, card.topic_id) if isinstance(card, BotMessage) else card

    async def render_card(
        self,
        notification: Notification[AboutTicket],
        facts: tuple[Ticket | None, Sequence[StoredNotification]],
        context: RenderContext,
    ) -> DeliveryOutcome:
        """Update the card of a ticket. None means that there is nothing to update."""
        ticket, others = facts
        if ticket is None:
            return Sent()
        return _stand_for(others, await self._topics.update(notification.chat_id, context.reader, ticket))

    async def render_entry(
        self,
        notification: Notification[UserEntry],
        facts: tuple[Ticket | None, TicketEntry | None, Sequence[Following]],
        context: RenderContext,
    ) -> DeliveryOutcome:
        """Send a copy of the user's message with those that wait behind it, or of their edit."""
        ticket, entry, following = facts
        if ticket is None or entry is None:
            return Sent()
        card = await self._topics.find_or_send_card(notification.chat_id, context.reader, ticket)
        if not isinstance(card, BotMessage):
            return card
        heading = await _heading(notification, context, ticket, entry)
        place = await self._place(notification, context, card, entry)
        sent = await _send_entry(context, place, entry, heading, [each for _, each in following])
        outcome = await self._topics.handle_outcome(notification.chat_id, card.topic_id, sent)
        return _stand_for([each for each, _ in following], outcome)

    async def render_step(
        self, notification: Notification[TicketStep], ticket: Ticket | None, context: RenderContext
    ) -> DeliveryOutcome:
        """Report a change of the ticket in one line. The card shows it too, but an edit notifies no agent."""
        if ticket is None:
            return Sent()
        card = await self._topics.find_or_send_card(notification.chat_id, context.reader, ticket)
        if not isinstance(card, BotMessage):
            return card
        step = notification.payload
        reader = await context.reader_who_knows(ticket.user_id, step.ping)
        heading = card_screens.format_step(reader, ticket, step.what, ping=step.ping)
        place = self._topics.place_for(card)
        sent = await context.messenger.send_text(
            place.chat_id,
            with_repeat_note(notification, context.t, heading),
            (),
            priority="talk",
            topic_id=place.topic_id,
            reply_to=place.reply_to,
        )
        return await self._topics.handle_outcome(notification.chat_id, place.topic_id, sent)

    async def _place(
        self, notification: Notification[UserEntry], context: RenderContext, card: BotMessage, entry: TicketEntry
    ) -> Place:
        """Return where to send the entry. An edit replies to the message with the earlier text, which stays."""
        if notification.kind != StaffNotification.EDITED:
            return self._topics.place_for(card)
        async with context.database.reading() as tx:
            before = await BotMessageRepository(tx).of_entry(entry.ticket, entry.number, notification.chat_id)
        return self._topics.place_for(card, before.message_id if before else None)


async def _heading(
    notification: Notification[UserEntry], context: RenderContext, ticket: Ticket, entry: TicketEntry
) -> Html:
    is_changed = notification.kind == StaffNotification.EDITED
    at = entry.edited_at if is_changed and entry.edited_at else entry.at
    heading = card_screens.format_entry_heading(
        await context.reader_who_knows(ticket.user_id, notification.payload.ping),
        ticket,
        entry,
        context.t.clock(at, context.zone),
        ping=notification.payload.ping,
        is_changed=is_changed,
    )
    return Html(with_repeat_note(notification, context.t, heading))


async def _send_entry(
    context: RenderContext, place: Place, entry: TicketEntry, heading: Html, following: Sequence[TicketEntry]
) -> Outcome:
    """Send the entries in one message. If they are too long for that, send their texts in a second message."""
    messenger = context.messenger
    clocks = pairwise(context.t.clock(each.at, context.zone) for each in (entry, *following))
    pairs = zip(clocks, following, strict=True)
    parts = (with_quote(clock if clock != before else "", each.text) for (before, clock), each in pairs)
    body = Html("\n".join(part for part in (with_quote("", entry.text), *parts) if part))
    whole = Html(f"{heading}\n{body}".strip())
    if count_visible_units(whole) <= (CAPTION_UNITS if entry.media else TEXT_UNITS):
        return await send_entry(messenger, place, entry, Screen(whole))
    first = await send_entry(messenger, place, entry, Screen(heading))
    if not isinstance(first, Delivered):
        return first
    rest = await messenger.send_text(
        place.chat_id, body, (), priority="talk", topic_id=place.topic_id, reply_to=first.message_id
    )
    if not isinstance(rest, Delivered) or rest.message_id is None:
        return rest
    await _save_bot_message(context, place, entry, rest.message_id)
    return first


async def _save_bot_message(context: RenderContext, place: Place, entry: TicketEntry, message_id: int) -> None:
    """Save the second message of a long entry, so that agents can reply to it, too."""
    bot_message = BotMessage(
        chat_id=place.chat_id,
        message_id=message_id,
        ticket=entry.ticket,
        role=BotMessageRole.ENTRY,
        topic_id=place.topic_id,
        entry=entry.number,
        at=context.now,
    )
    async with context.database.transaction() as tx:
        await BotMessageRepository(tx).add(bot_message)


async def _read_ticket(notification: Notification[AboutTicket], tx: Transaction) -> Ticket | None:
    return await TicketRepository(tx).get(notification.payload.ticket)


async def _read_card(
    notification: Notification[AboutTicket], tx: Transaction
) -> tuple[Ticket | None, Sequence[StoredNotification]]:
    return await _read_ticket(notification, tx), await _find_alike(notification, tx)


async def _find_alike(notification: Notification[AboutTicket], tx: Transaction) -> Sequence[StoredNotification]:
    """Return the later ones of its kind about the ticket that wait for the chat, oldest first.

    A group allows only 20 messages and edits a minute, so one stands for several.
    """
    alike = (notification.chat_id, notification.kind, NotificationStatus.WAITING)
    queued = await OutboxRepository(tx).find_by_subject(notification.subject)
    return [each for each in queued if each.id > notification.id and (each.chat_id, each.kind, each.status) == alike]


def _stand_for(others: Sequence[StoredNotification], outcome: DeliveryOutcome) -> DeliveryOutcome:
    return replace(outcome, others=tuple(others)) if isinstance(outcome, Sent) else outcome


async def _read_entry(
    notification: Notification[UserEntry], tx: Transaction
) -> tuple[Ticket | None, TicketEntry | None, Sequence[Following]]:
    ticket, entry = await _read_ticket(notification, tx), await find_entry(tx, notification)
    is_text = entry is not None and not entry.media and notification.kind == StaffNotification.ENTRY
    return ticket, entry, await _find_following(notification, entry, tx) if entry is not None and is_text else ()


async def _find_following(
    notification: Notification[UserEntry], entry: TicketEntry, tx: Transaction
) -> Sequence[Following]:
    """Return the texts that wait behind an entry of the ticket, up to a picture or a file, if one message holds all."""
    found, units = list[Following](), OWN_UNITS + count_visible_units(entry.text or "")
    for later in await _find_alike(notification, tx):
        each = await TicketEntryRepository(tx).get(entry.ticket, int(str(later.payload["entry"])))
        units += TIME_UNITS + count_visible_units(each.text or "") if each is not None else 0
        if each is None or each.media or units > TEXT_UNITS or len(found) == MAX_FOLLOWING:
            break
        found.append((later, each))
    return found

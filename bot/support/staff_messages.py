"""Render messages to support: users' messages, what happened in a ticket, questions and reminders.

The message of each is saved as one of its ticket, so that replies to it belong to the ticket. If the bot can't write to
the group, its notifications go to each agent's private chat, and operators get an alarm. One question is about all that
an agent has written and not decided about. It replaces the one before, so that a conversation isn't full of questions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from typing import Final

from bot.core.errors import Rejection
from bot.infra.db.transaction import Transaction
from bot.infra.i18n import Html
from bot.infra.outbox.model import (
    DeliveryOutcome,
    Notification,
    NotificationKind,
    NotificationStatus,
    Sent,
    StoredNotification,
    Undeliverable,
)
from bot.infra.outbox.rendering import (
    FinalResult,
    FollowUp,
    RenderWithFacts,
    delivery_outcome,
    stand_for,
    with_repeat_note,
)
from bot.infra.outbox.repository import OutboxRepository
from bot.infra.telegram.outbound.sender import Delivered, Gone, Invalid, Outcome, TryLater
from bot.infra.telegram.ui.screen import CAPTION_UNITS, TEXT_UNITS, Screen, count_visible_units
from bot.staff.alarms import clear_alarm, raise_alarm
from bot.staff.model import Alarm, AlarmKind
from bot.staff.staff_chat import StaffChat
from bot.support.entries import OWN_UNITS, Place, send_entry, with_quote
from bot.support.model import NOTE, SEND, BotMessage, BotMessageRole, Ticket, TicketEntry
from bot.support.notifications import (
    EDITED,
    AboutTicket,
    DeletedTicket,
    Remark,
    StaffNotification,
    find_entry,
    save_bot_message,
    source_chat,
)
from bot.support.repository import BotMessageRepository, TicketEntryRepository, TicketRepository
from bot.support.screens import staff as staff_screens
from bot.support.topics import TicketTopics
from bot.users.questions import OpenQuestion
from bot.users.readers import RenderContext, Renderer

About = Notification[AboutTicket]
Following = tuple[StoredNotification, TicketEntry]
"""A notification that waits behind another one, and the entry that both can show in one message."""

MAX_FOLLOWING: Final = 49
"""How many further texts one message shows. Telegram formats up to 100 parts of a message."""

TIME_UNITS: Final = 20
"""The units of the time above each further text of a message."""

INTERNAL: Final = frozenset({Remark.NOTED, Remark.TAKEN_OVER})
"""Remarks that only agents may see. A reply to one is a note."""

REACTIONS: Final[Mapping[str, str]] = {Remark.DELIVERED: "👌", Remark.CORRECTED: "✍"}
"""The reactions that report success. Where reactions aren't allowed, a line does."""


class StaffMessages:
    """Render messages to support, save them, and redirect what the staff's group didn't get."""

    def __init__(self, topics: TicketTopics, staff_chat: StaffChat, operator_ids: frozenset[int]) -> None:
        self._topics = topics
        self._staff_chat = staff_chat
        self._operators = operator_ids

    def renderers(self) -> Mapping[NotificationKind, Renderer]:
        """Return the renderer of each kind of notification."""
        return {
            StaffNotification.NEW_CARD: RenderWithFacts(_read_ticket, self._render_new_card),
            StaffNotification.CARD: RenderWithFacts(_read_ticket, self._render_card, shows_state=True),
            StaffNotification.ENTRY: RenderWithFacts(_read_entry, self._render_entry),
            StaffNotification.LINE: RenderWithFacts(_read_line, self._render_line),
            StaffNotification.ASK_TO_SEND: RenderWithFacts(_read_question, self._render_question),
            StaffNotification.WAITS: _remind_staff,
            StaffNotification.WAITS_LONG: self._remind_operator,
            StaffNotification.DELETED: _remove_deleted,
        }

    def follow_ups(self) -> Mapping[NotificationKind, FollowUp]:
        """Return what follows for each kind of notification."""
        return {kind: self._finish for kind in StaffNotification if kind is not StaffNotification.DELETED}

    async def _render_new_card(
        self, notification: About, ticket: Ticket | None, context: RenderContext
    ) -> DeliveryOutcome:
        """Send the card of a new ticket, in a new topic if the chat has topics."""
        if ticket is None:
            return Sent()
        again = context.t("infra.outbox.again") if notification.maybe_sent else ""
        card = await self._topics.find_or_send_card(notification.chat_id, context.reader, ticket, again)
        return Sent(card.message_id, card.topic_id) if isinstance(card, BotMessage) else card

    async def _render_card(self, notification: About, ticket: Ticket | None, context: RenderContext) -> DeliveryOutcome:
        return Sent() if ticket is None else await self._topics.update(notification.chat_id, context.reader, ticket)

    async def _render_entry(
        self,
        notification: About,
        facts: tuple[Ticket | None, TicketEntry | None, Sequence[Following]],
        context: RenderContext,
    ) -> DeliveryOutcome:
        """Send a copy of the user's message with those that wait behind it, or of their edit.

        An edit replies to the message with the earlier text, which stays.
        """
        ticket, entry, following = facts
        if ticket is None or entry is None:
            return Sent()
        chat_id, about = notification.chat_id, notification.payload
        card = await self._topics.find_or_send_card(chat_id, context.reader, ticket)
        if not isinstance(card, BotMessage):
            return card
        is_edit, before = about.what == EDITED, None
        if is_edit:
            async with context.database.reading() as tx:
                before = await BotMessageRepository(tx).of_entry(entry.ticket, entry.number, chat_id)
        at = context.t.clock(entry.edited_at if is_edit and entry.edited_at else entry.at, context.zone)
        reader = await context.reader_who_knows(ticket.user_id, about.who)
        heading = staff_screens.format_entry_heading(reader, ticket, entry, at, ping=about.who, is_changed=is_edit)
        heading = Html(with_repeat_note(notification, context.t, heading))
        place = self._topics.place_for(card, before.message_id if before else None)
        masked = [replace(each, text=each.masked_text) for each in (entry, *(each for _, each in following))]
        sent = await _send_entries(context, place, masked[0], heading, masked[1:])
        outcome = await self._topics.handle_outcome(chat_id, card.topic_id, sent)
        return stand_for([each for each, _ in following], outcome)

    async def _render_line(
        self,
        notification: About,
        facts: tuple[Ticket | None, TicketEntry | None, BotMessage | None],
        context: RenderContext,
    ) -> DeliveryOutcome:
        """React to the agent's message, or report in one line what happened. An edit of the card notifies no agent."""
        about, chat_id, (ticket, entry, known) = notification.payload, notification.chat_id, facts
        if ticket is None or (about.entry and entry is None):
            return Undeliverable("the entry is gone") if about.entry else Sent()
        here = entry.source_message_id if entry is not None and entry.source_chat_id == chat_id else None
        if here is not None and about.what in REACTIONS:
            reacted = await context.messenger.topics.react(chat_id, here, REACTIONS[about.what])
            if not isinstance(reacted, Gone | Invalid):
                return await self._topics.handle_outcome(chat_id, None, reacted)
        card = known or await self._topics.find_or_send_card(chat_id, context.reader, ticket)
        if not isinstance(card, BotMessage):
            return card
        reader = await context.reader_who_knows(about.who, about.before if about.entry else ticket.user_id)
        screen = staff_screens.show_line(reader, ticket, about, entry)
        screen = Screen(with_repeat_note(notification, context.t, screen.text), screen.keyboard)
        place = self._topics.place_for(card, here or card.message_id if about.entry else None)
        # A quoted entry of another chat comes with its picture or file.
        quoted = entry if here is None and about.what in staff_screens.QUOTED else None
        sent = await send_entry(context.messenger, place, quoted, screen)
        return await self._topics.handle_outcome(chat_id, place.topic_id, sent)

    async def _render_question(
        self, notification: About, facts: "_Facts | None", context: RenderContext
    ) -> DeliveryOutcome:
        """Ask under the agent's newest message. None means that this isn't the newest, or is decided."""
        if facts is None:
            return Sent()
        ticket, newest, chat_id = facts.ticket, facts.undecided[-1], notification.chat_id
        reader = await context.reader_who_knows(ticket.user_id, ticket.claimed_by)
        obstacle = _find_obstacle(ticket, newest, context)
        screen = staff_screens.ask_to_send(reader, ticket, newest, len(facts.undecided), obstacle)
        text = with_repeat_note(notification, context.t, screen.text)
        place = Place(chat_id, facts.topic_id, newest.source_message_id)
        sent = await send_entry(context.messenger, place, None, Screen(text, screen.keyboard, silent=True))
        if isinstance(sent, Delivered):
            await _remove(context, facts.before)
        return await self._topics.handle_outcome(chat_id, facts.topic_id, sent)

    async def _remind_operator(self, notification: About, context: RenderContext) -> DeliveryOutcome:
        """Remind an operator, with a link to the ticket."""
        async with context.database.reading() as tx:
            group = await self._staff_chat.group(tx)
        ticket, card = await _read_waiting(notification.payload, context, group)
        if ticket is None:
            return Sent()
        reader = await context.reader_who_knows(ticket.claimed_by)
        screen = staff_screens.remind_operator(reader, ticket, card.link if card else None)
        return await context.send_text(notification, screen, priority="talk")

    async def _finish(self, tx: Transaction, notification: About, result: FinalResult, now: datetime) -> None:
        """Save the message. Send each agent what the group didn't get.

        Raise the alarm if the group is lost, and clear it afterwards.
        """
        await _save_message(tx, notification, result, now)
        if notification.chat_id != await self._staff_chat.group(tx):
            return
        if isinstance(result, Sent):
            if result.message_id is not None:
                await clear_alarm(tx, AlarmKind.STAFF_CHAT_LOST, "", now, self._operators)
            return
        agents = sorted(self._staff_chat.agent_ids)
        await OutboxRepository(tx).add([_copy_for(agent, notification, now) for agent in agents])
        if result.whole_chat:
            await raise_alarm(tx, Alarm(kind=AlarmKind.STAFF_CHAT_LOST, raised_at=now), self._operators)


async def _save_message(tx: Transaction, notification: About, result: FinalResult, now: datetime) -> None:
    """Save the message as one of the ticket. What a reply to it means follows from its role and its question.

    If the message shows several entries, the row has the last, and the first as its argument.
    """
    kind, about, messages = notification.kind, notification.payload, BotMessageRepository(tx)
    role, argument, topic_id = BotMessageRole.REMARK, "", None
    if kind == StaffNotification.ENTRY:
        message_id = (result.message_id or 0) if isinstance(result, Sent) else 0
        before = await messages.get(notification.chat_id, message_id)
        role, argument = BotMessageRole.ENTRY, (before.argument or str(before.entry)) if before is not None else ""
    elif kind == StaffNotification.LINE and about.entry and about.what in INTERNAL:
        role, argument = BotMessageRole.QUESTION, str(OpenQuestion(NOTE))
    elif kind == StaffNotification.ASK_TO_SEND:
        role, argument = BotMessageRole.QUESTION, str(OpenQuestion(SEND, str(about.entry)))
    elif kind == StaffNotification.WAITS:
        card = await messages.card(about.ticket, notification.chat_id)
        topic_id = card.topic_id if card else None
    elif kind != StaffNotification.LINE:
        return
    await save_bot_message(tx, notification, result, now, role, topic_id=topic_id, argument=argument)


def _copy_for(agent: int, notification: Notification[AboutTicket], now: datetime) -> Notification[AboutTicket]:
    new = replace(notification, status=NotificationStatus.WAITING, attempts=0, maybe_sent=False)
    return replace(new, chat_id=agent, due_at=now, created_at=now)


async def _send_entries(
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


async def _read_ticket(notification: About, tx: Transaction) -> Ticket | None:
    return await TicketRepository(tx).get(notification.payload.ticket)


async def _read_ticket_and_entry(notification: About, tx: Transaction) -> tuple[Ticket | None, TicketEntry | None]:
    return await _read_ticket(notification, tx), await find_entry(tx, notification)


async def _read_line(
    notification: About, tx: Transaction
) -> tuple[Ticket | None, TicketEntry | None, BotMessage | None]:
    """Return the ticket, the entry, and the ticket's card in the chat."""
    card = await BotMessageRepository(tx).card(notification.payload.ticket, notification.chat_id)
    return *await _read_ticket_and_entry(notification, tx), card


async def _read_entry(
    notification: Notification[AboutTicket], tx: Transaction
) -> tuple[Ticket | None, TicketEntry | None, Sequence[Following]]:
    ticket, entry = await _read_ticket_and_entry(notification, tx)
    is_text = entry is not None and not entry.media and notification.payload.what != EDITED
    return ticket, entry, await _find_following(notification, entry, tx) if entry is not None and is_text else ()


async def _find_following(
    notification: Notification[AboutTicket], entry: TicketEntry, tx: Transaction
) -> Sequence[Following]:
    """Return the texts that wait behind an entry of the ticket, up to a picture or a file, if one message holds all.

    A group allows only 20 messages and edits a minute, so one stands for several.
    """
    found, units = list[Following](), OWN_UNITS + count_visible_units(entry.text or "")
    for later in await OutboxRepository(tx).find_alike(notification):
        each = await TicketEntryRepository(tx).get(entry.ticket, int(str(later.payload["entry"])))
        units += TIME_UNITS + count_visible_units(each.text or "") if each is not None else 0
        is_edit = later.payload["what"] == EDITED
        if each is None or is_edit or each.media or units > TEXT_UNITS or len(found) == MAX_FOLLOWING:
            break
        found.append((later, each))
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Facts:
    """What a question needs.

    Attributes:
        undecided: what the agent has written and not decided about, up to the newest.
        before: the questions to the same agent that this one replaces.
        topic_id: the topic of the conversation, or None in a chat without topics.
    """

    ticket: Ticket
    undecided: tuple[TicketEntry, ...]
    before: tuple[BotMessage, ...]
    topic_id: int | None


def _find_obstacle(ticket: Ticket, entry: TicketEntry, context: RenderContext) -> Rejection | None:
    """Return why the agent can't reply in this ticket now, or None."""
    try:
        ticket.record_reply(entry.author_id, context.now)
    except Rejection as why:
        return why
    return None


async def _remove(context: RenderContext, questions: tuple[BotMessage, ...]) -> None:
    for question in questions:
        await context.messenger.delete(question.chat_id, question.message_id, priority="talk")
        async with context.database.transaction() as tx:
            await BotMessageRepository(tx).delete(question.chat_id, question.message_id)


async def _read_question(notification: Notification[AboutTicket], tx: Transaction) -> _Facts | None:
    reference, chat_id = notification.payload.ticket, notification.chat_id
    ticket, entry = await TicketRepository(tx).get(reference), await find_entry(tx, notification)
    if ticket is None or entry is None or chat_id not in {await source_chat(tx, entry), entry.author_id}:
        return None
    undecided = await TicketEntryRepository(tx).undecided_of(reference, entry.author_id)
    if not undecided or undecided[-1].number != entry.number:
        return None
    authors = {each.number: each.author_id for each in await TicketEntryRepository(tx).of_ticket(reference)}
    asked = [each for each in await BotMessageRepository(tx).questions(reference, chat_id) if _is_to_send(each)]
    card = await BotMessageRepository(tx).card(reference, chat_id)
    return _Facts(
        ticket=ticket,
        undecided=undecided,
        before=tuple(each for each in asked if authors.get(each.entry) == entry.author_id),
        topic_id=card.topic_id if card else None,
    )


def _is_to_send(question: BotMessage) -> bool:
    return OpenQuestion.read(question.argument).name == SEND


async def _remind_staff(notification: About, context: RenderContext) -> DeliveryOutcome:
    """Remind support, under the ticket's card."""
    ticket, card = await _read_waiting(notification.payload, context, notification.chat_id)
    if ticket is None:
        return Sent()
    screen = staff_screens.remind_staff(await context.reader_who_knows(ticket.claimed_by), ticket)
    reply_to, topic_id = (card.message_id, card.topic_id) if card else (None, None)
    return await context.send_text(notification, screen, priority="talk", reply_to=reply_to, topic_id=topic_id)


async def _read_waiting(
    wait: AboutTicket, context: RenderContext, chat_id: int | None
) -> tuple[Ticket | None, BotMessage | None]:
    """Return the ticket, if it is still the same wait, and its card in a chat."""
    async with context.database.reading() as tx:
        ticket = await TicketRepository(tx).get(wait.ticket)
        card = await BotMessageRepository(tx).card(wait.ticket, chat_id) if chat_id else None
    still_waits = ticket is not None and ticket.is_open and ticket.waiting_since == wait.since
    return (ticket if still_waits else None), card


async def _remove_deleted(notification: Notification[DeletedTicket], context: RenderContext) -> DeliveryOutcome:
    """Delete a deleted user's ticket in a chat of staff: its topics, or if we may not, each of our messages.

    It can be repeated.
    """
    deleted, messenger = notification.payload, context.messenger
    if deleted.chat != notification.chat_id:
        return Sent()
    outcomes = [await messenger.topics.delete_topic(deleted.chat, topic) for topic in deleted.topics]
    is_removed = bool(outcomes) and not any(isinstance(each, Invalid) for each in outcomes)
    rest = deleted.outside if is_removed else deleted.messages
    outcomes += [await messenger.delete(deleted.chat, message, priority="talk") for message in rest]
    return next((delivery_outcome(each) for each in outcomes if isinstance(each, TryLater)), Sent())

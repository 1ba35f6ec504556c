"""Report to support what happened to an entry: by a reaction to its message, or by a line in the ticket."""

from collections.abc import Mapping
from typing import Final

from bot.infra.db.transaction import Transaction
from bot.infra.outbox.model import DeliveryOutcome, Notification, NotificationKind, Undeliverable
from bot.infra.outbox.rendering import RenderWithFacts, with_repeat_note
from bot.infra.telegram.outbound.sender import Gone, Invalid, Messenger, Outcome
from bot.infra.telegram.ui.screen import Screen
from bot.support.entries import Place, send_entry
from bot.support.model import BotMessage, TicketEntry
from bot.support.notification_kinds import EntryRemark, Remark, StaffNotification
from bot.support.notifications.bot_messages import find_entry
from bot.support.notifications.screens import staff_lines as screens
from bot.support.notifications.topics import TicketTopics
from bot.support.tickets.bot_message_repository import BotMessageRepository
from bot.users.readers import RenderContext, Renderer

REACTIONS: Final[Mapping[Remark, str]] = {Remark.DELIVERED: "👌", Remark.CORRECTED: "✍"}
"""The reactions that report success. Where reactions aren't allowed, a line does."""

WITH_MEDIA: Final = frozenset({Remark.REPLIED, Remark.NOTED, Remark.TAKEN_OVER})
"""Remarks in other chats than the entry's. They include its picture or file."""


class RemarkMessages:
    """Render the remarks to support."""

    def __init__(self, topics: TicketTopics) -> None:
        self._topics = topics

    def renderers(self) -> Mapping[NotificationKind, Renderer]:
        """Return the renderer of each kind of notification."""
        return {StaffNotification.REMARK: RenderWithFacts(_read, self.render)}

    async def render(
        self,
        notification: Notification[EntryRemark],
        facts: tuple[TicketEntry | None, BotMessage | None],
        context: RenderContext,
    ) -> DeliveryOutcome:
        """React to the entry's original message, or send a line."""
        remark, chat_id = notification.payload, notification.chat_id
        entry, card = facts
        if entry is None:
            return Undeliverable("the entry is gone")
        is_here = entry.source_chat_id == chat_id
        if remark.what in REACTIONS and is_here:
            reaction = REACTIONS[remark.what]
            reacted = await context.messenger.topics.react(chat_id, entry.source_message_id, reaction)
            if not isinstance(reacted, Gone | Invalid):
                return await self._topics.handle_outcome(chat_id, None, reacted)
        screen = screens.show_remark(await context.reader_who_knows(remark.by, remark.before), remark, entry)
        shown = Screen(with_repeat_note(notification, context.t, screen.text), screen.keyboard)
        place = _place(chat_id, entry, card, is_here=is_here)
        if remark.what in WITH_MEDIA and not is_here:
            sent = await send_entry(context.messenger, place, entry, shown)
        else:
            sent = await _send_line(context.messenger, place, shown)
        return await self._topics.handle_outcome(chat_id, place.topic_id, sent)


async def _read(
    notification: Notification[EntryRemark], tx: Transaction
) -> tuple[TicketEntry | None, BotMessage | None]:
    """Return the entry, and the card of its ticket in the chat."""
    card = await BotMessageRepository(tx).card(notification.payload.ticket, notification.chat_id)
    return await find_entry(tx, notification), card


async def _send_line(messenger: Messenger, place: Place, shown: Screen) -> Outcome:
    return await messenger.send_text(
        place.chat_id, shown.text, shown.keyboard, priority="talk", topic_id=place.topic_id, reply_to=place.reply_to
    )


def _place(chat_id: int, entry: TicketEntry, card: BotMessage | None, *, is_here: bool) -> Place:
    """Return the ticket's topic, and the message to reply to: the original one if it is here, else the card."""
    topic_id, card_id = (card.topic_id, card.message_id) if card else (None, None)
    return Place(chat_id, topic_id, entry.source_message_id if is_here else card_id)

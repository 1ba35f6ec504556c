"""Support's part of the house: tickets and the room they stand in, looking up, seeing more, and who tells of it all."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from bot.config import Settings
from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.infra.i18n import Translations
from bot.infra.outbox.delivery import After
from bot.infra.telegram.outbound.sender import Messenger
from bot.infra.workers.loop import Wakeup
from bot.orders import refused_messages
from bot.settlement.catalogue import Market
from bot.staff.audit import AuditLog
from bot.staff.roles import StaffChat
from bot.support.lookup.service import LookupService
from bot.support.measured_reply_time import ReplyTime
from bot.support.reveal.masking import Masking
from bot.support.reveal.messages import RevealMessages
from bot.support.reveal.service import RevealService
from bot.support.saved_replies.service import SavedReplies
from bot.support.staff.remark_rendering import RemarkRenderer
from bot.support.staff.rendering import StaffChatRenderer
from bot.support.staff.step_rendering import StepRenderer
from bot.support.staff.topics import TicketRoom
from bot.support.staff.wait_rendering import WaitRenderer
from bot.support.staff_chat_hooks import RoomHooks
from bot.support.tickets.closing import TicketEnding
from bot.support.tickets.corrections import TicketCorrections
from bot.support.tickets.opening import TicketOpening
from bot.support.tickets.relay import TicketRelay
from bot.support.tickets.replies import TicketReplies
from bot.support.tickets.waiting import TicketWaiting
from bot.support.user_chat import rendering as ticket_news
from bot.support.user_chat.rendering import TicketRenderer
from bot.support.user_chat.reply_rendering import ReplyRenderer
from bot.users.readers import Renderer


@dataclass(frozen=True, slots=True, kw_only=True)
class SupportParts:
    """Every part that support needs, and what is told by them."""

    ticket_room: TicketRoom
    ticket_opening: TicketOpening
    ticket_ending: TicketEnding
    ticket_answers: TicketReplies
    ticket_corrections: TicketCorrections
    ticket_waiting: TicketWaiting
    reply_time: ReplyTime
    lookups: LookupService
    revealing: RevealService
    masking: Masking
    nudge_masking: Wakeup
    saved_answers: SavedReplies
    trail: AuditLog
    renderers: Sequence[Mapping[str, Renderer]]
    after: Mapping[str, After]


def support_of(
    settings: Settings,
    *,
    store: Database,
    messenger: Messenger,
    translations: Translations,
    market: Market,
    clock: Clock,
    room: StaffChat,
    on_news: Wakeup,
) -> SupportParts:
    """Build them and introduce them to one another."""
    reopen_within = timedelta(seconds=settings.ticket_reopen_seconds)
    patience = timedelta(seconds=settings.ticket_reminder_seconds)
    ticket_room = TicketRoom(store, messenger, clock, settings.default_locale)
    reveal_screen, nudge_masking = RevealMessages(store, messenger, translations, settings.default_locale), Wakeup()
    masking = Masking(store=store, clock=clock, room=room, screen=reveal_screen, on_change=nudge_masking)
    wait_news = WaitRenderer(store, messenger, clock, room)
    reply_time = ReplyTime(store, clock)
    hooks = RoomHooks(room, settings.operator_ids)
    return SupportParts(
        ticket_room=ticket_room,
        ticket_opening=TicketOpening(store, clock, room, reopen_within=reopen_within, on_news=on_news),
        ticket_ending=TicketEnding(store, clock, room, reopen_within=reopen_within, on_news=on_news),
        ticket_answers=TicketReplies(store, clock, room, on_news),
        ticket_corrections=TicketCorrections(store, clock, room, on_news),
        ticket_waiting=TicketWaiting(
            store, clock, room, operator_ids=settings.operator_ids, patience=patience, on_news=on_news
        ),
        reply_time=reply_time,
        lookups=LookupService(store, market, clock),
        revealing=RevealService(store=store, clock=clock, room=room, screen=reveal_screen, masking=masking),
        masking=masking,
        nudge_masking=nudge_masking,
        saved_answers=SavedReplies(store, clock),
        trail=AuditLog(store, clock),
        renderers=(
            ReplyRenderer(store, messenger).renderers(),
            RemarkRenderer(store, messenger, ticket_room).renderers(),
            wait_news.renderers(),
            StaffChatRenderer(store, messenger, clock, ticket_room).renderers(),
            StepRenderer(store, messenger, ticket_room).renderers(),
            TicketRenderer(store, messenger, clock, reopen_within=reopen_within, reply_time=reply_time).renderers(),
        ),
        after={
            **refused_messages.hooks(settings.operator_ids),
            **hooks.around({**TicketRelay(room).after(), **wait_news.after(), **ticket_news.AFTER}),
        },
    )

"""Support's part of the house: tickets and the room they stand in, looking up, seeing more, and who tells of it all."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from bot.config import Settings
from bot.core.clock import Clock
from bot.infra.db.database import SqlStore
from bot.infra.i18n import Translations
from bot.infra.outbox import refused_messages
from bot.infra.outbox.delivery import After
from bot.infra.outbox.rendering import Tell
from bot.infra.telegram.outbound.sender import Messenger
from bot.infra.workers.loop import Nudge
from bot.settlement.catalogue import Market
from bot.staff.audit import Trail
from bot.staff.roles import SupportRoom
from bot.support.lookup.service import LookingUp
from bot.support.measured_reply_time import ReplyTime
from bot.support.reveal.masking import Masking
from bot.support.reveal.messages import RevealMessages
from bot.support.reveal.service import Revealing
from bot.support.saved_replies.service import SavedAnswers
from bot.support.staff.remark_rendering import RemarkNews
from bot.support.staff.rendering import RoomNews
from bot.support.staff.step_rendering import StepNews
from bot.support.staff.topics import TicketRoom
from bot.support.staff.wait_rendering import WaitNews
from bot.support.staff_chat_hooks import RoomHooks
from bot.support.tickets.closing import TicketEnding
from bot.support.tickets.corrections import TicketCorrections
from bot.support.tickets.opening import TicketOpening
from bot.support.tickets.relay import TicketRelay
from bot.support.tickets.replies import TicketAnswers
from bot.support.tickets.waiting import TicketWaiting
from bot.support.user_chat import rendering as ticket_news
from bot.support.user_chat.rendering import TicketNews
from bot.support.user_chat.reply_rendering import AnswerNews


@dataclass(frozen=True, slots=True, kw_only=True)
class SupportParts:
    """Every part that support needs, and what is told by them."""

    ticket_room: TicketRoom
    ticket_opening: TicketOpening
    ticket_ending: TicketEnding
    ticket_answers: TicketAnswers
    ticket_corrections: TicketCorrections
    ticket_waiting: TicketWaiting
    reply_time: ReplyTime
    lookups: LookingUp
    revealing: Revealing
    masking: Masking
    nudge_masking: Nudge
    saved_answers: SavedAnswers
    trail: Trail
    tellers: Mapping[str, Tell]
    after: Mapping[str, After]


def support_of(
    settings: Settings,
    *,
    store: SqlStore,
    messenger: Messenger,
    translations: Translations,
    market: Market,
    clock: Clock,
    room: SupportRoom,
    on_news: Nudge,
) -> SupportParts:
    """Build them and introduce them to one another."""
    reopen_within = timedelta(seconds=settings.ticket_reopen_seconds)
    patience = timedelta(seconds=settings.ticket_reminder_seconds)
    ticket_room = TicketRoom(store, messenger, clock, settings.default_locale)
    reveal_screen, nudge_masking = RevealMessages(store, messenger, translations, settings.default_locale), Nudge()
    masking = Masking(store=store, clock=clock, room=room, screen=reveal_screen, on_change=nudge_masking)
    wait_news = WaitNews(store, messenger, clock, room)
    reply_time = ReplyTime(store, clock)
    hooks = RoomHooks(room, settings.operator_ids)
    return SupportParts(
        ticket_room=ticket_room,
        ticket_opening=TicketOpening(store, clock, room, reopen_within=reopen_within, on_news=on_news),
        ticket_ending=TicketEnding(store, clock, room, reopen_within=reopen_within, on_news=on_news),
        ticket_answers=TicketAnswers(store, clock, room, on_news),
        ticket_corrections=TicketCorrections(store, clock, room, on_news),
        ticket_waiting=TicketWaiting(
            store, clock, room, operator_ids=settings.operator_ids, patience=patience, on_news=on_news
        ),
        reply_time=reply_time,
        lookups=LookingUp(store, market, clock),
        revealing=Revealing(store=store, clock=clock, room=room, screen=reveal_screen, masking=masking),
        masking=masking,
        nudge_masking=nudge_masking,
        saved_answers=SavedAnswers(store, clock),
        trail=Trail(store, clock),
        tellers={
            **AnswerNews(store, messenger).tellers(),
            **RemarkNews(store, messenger, ticket_room).tellers(),
            **wait_news.tellers(),
            **RoomNews(store, messenger, clock, ticket_room).tellers(),
            **StepNews(store, messenger, ticket_room).tellers(),
            **TicketNews(store, messenger, clock, reopen_within=reopen_within, reply_time=reply_time).tellers(),
        },
        after={
            **refused_messages.hooks(settings.operator_ids),
            **hooks.around({**TicketRelay(room).after(), **wait_news.after(), **ticket_news.AFTER}),
        },
    )

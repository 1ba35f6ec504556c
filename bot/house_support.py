"""Support's part of the house: tickets and the room they stand in, looking up, seeing more, and who tells of it all."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from bot.actions import refused_messages
from bot.actions.lookups import LookingUp
from bot.actions.market import Market
from bot.actions.masking import Masking
from bot.actions.outbox import After
from bot.actions.ports import Clock
from bot.actions.reply_time import ReplyTime
from bot.actions.revealing import Revealing
from bot.actions.room_hooks import RoomHooks
from bot.actions.saved_answers import SavedAnswers
from bot.actions.support_room import SupportRoom
from bot.actions.ticket_answers import TicketAnswers
from bot.actions.ticket_corrections import TicketCorrections
from bot.actions.ticket_ending import TicketEnding
from bot.actions.ticket_opening import TicketOpening
from bot.actions.ticket_relay import TicketRelay
from bot.actions.ticket_waiting import TicketWaiting
from bot.actions.trail import Trail
from bot.chat import ticket_news
from bot.chat.messenger import Messenger
from bot.chat.room_news import RoomNews
from bot.chat.staff.remark_news import RemarkNews
from bot.chat.staff.reveal_messages import RevealMessages
from bot.chat.staff.room import TicketRoom
from bot.chat.staff.step_news import StepNews
from bot.chat.telling import Tell
from bot.chat.ticket_answer_news import AnswerNews
from bot.chat.ticket_news import TicketNews
from bot.chat.ticket_waits import WaitNews
from bot.config import Settings
from bot.i18n import Translations
from bot.store.store import SqlStore
from bot.workers.loop import Nudge


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

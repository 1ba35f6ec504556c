"""Who has come, with which draft open, and what they missed while they were away."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from telegram import Chat, Message, Update, User

from bot.checkout.draft import OrderDraft
from bot.checkout.repository import DraftRepository
from bot.infra.db.errors import RowUnreadable
from bot.infra.db.transaction import Transaction
from bot.infra.i18n import translator_for
from bot.infra.telegram.inbound.attempts import TAKEN_BY
from bot.infra.telegram.outbound.sender import Delivered, Invalid
from bot.infra.telegram.ui.screen import Screen
from bot.infra.telegram.ui.session import Desk, Session
from bot.orders.missed_orders import MissedOrder
from bot.orders.missed_repository import MissedOrderRepository
from bot.orders.repository import OrderRepository
from bot.orders.status_messages import show_at_the_end
from bot.users.activity import UserEvent, record_user_event
from bot.users.model import Person
from bot.users.repository import UserRepository

ORDERS_CAUGHT_UP = 5
MISSED_SHOWN = 5
"""More orders than this are not shown one by one: a message points to /orders for the older ones."""
SEEN_FOR = timedelta(days=1)


async def load_session(desk: Desk, update: Update) -> Session | None:
    """Return the session of an update, or None where no user caused it."""
    user, chat = update.effective_user, update.effective_chat
    if user is None or chat is None or user.is_bot:
        return None
    async with desk.store.reading() as tx:
        known = await UserRepository(tx).get(user.id)
        draft, damage = await _open_draft(tx, chat.id)
        has_missed = chat.type == Chat.PRIVATE and bool(await MissedOrderRepository(tx).of_person(user.id))
    person, away_since = await _person(desk, known, user, chat)
    query = update.callback_query
    message = query.message if query else None
    return Session(
        desk=desk,
        person=person,
        t=translator_for(desk.translations, person, desk.default_locale),
        update_id=update.update_id,
        draft=draft,
        damage=damage,
        message_id=message.message_id if message else None,
        has_text=bool(getattr(message, "text", None)),
        pressed=message if isinstance(message, Message) else None,
        query_id=query.id if query else None,
        has_missed=has_missed,
        away_since=away_since if chat.type == Chat.PRIVATE else None,
        taken_by=TAKEN_BY.get(),
    )


async def _open_draft(tx: Transaction, chat_id: int) -> tuple[OrderDraft | None, RowUnreadable | None]:
    """Return the chat's open draft, or why it can't be read."""
    try:
        return await DraftRepository(tx).open_of(chat_id), None
    except RowUnreadable as damage:
        return None, damage


async def _person(desk: Desk, known: Person | None, user: User, chat: Chat) -> tuple[Person, datetime | None]:
    """Who it is, with the language and the public name of now; and since when they had blocked the bot, if so."""
    now = desk.clock.now()
    met = known or Person(id=user.id, created_at=now)
    username = user.username.lower() if user.username else None
    person = replace(met, language_code=user.language_code, username=username)
    if person == known and not _is_long_ago(known.seen_at, now):
        return known, known.blocked_at
    person = replace(person, seen_at=now)
    if chat.type == Chat.PRIVATE:
        async with desk.store.transaction() as tx:
            await UserRepository(tx).save(person)
    return person, person.blocked_at


def _is_long_ago(seen_at: datetime | None, now: datetime) -> bool:
    """Whether it is worth a write that they are here: once a day is enough to tell who is active."""
    return seen_at is None or now - seen_at > SEEN_FOR


async def catch_up(session: Session) -> None:
    """Show what the user missed: messages that Telegram refused, and what happened while they had blocked the bot."""
    shown = await _show_missed(session) if session.has_missed else frozenset()
    since, now = session.away_since, session.desk.clock.now()
    if since is None:
        return
    async with session.desk.store.reading() as tx:
        orders = await OrderRepository(tx).of_person(session.person.id, limit=ORDERS_CAUGHT_UP)
    for order in reversed(orders):
        if order.reference in shown:
            continue
        if any(at is not None and since < at <= now for at in (order.paid_at, order.ended_at, order.expires_at)):
            session.notice = session.t("talk.meanwhile")
            await show_at_the_end(session, order)
    session.person = replace(session.person, blocked_at=None)
    async with session.desk.store.transaction() as tx:
        await UserRepository(tx).save(session.person)
        await record_user_event(tx, session.person.id, UserEvent.CAME_BACK, now)


async def _show_missed(session: Session) -> frozenset[str]:
    """Show the orders about which Telegram refused a message, oldest first, and return those that were shown.

    Each is deleted once Telegram has accepted its message: after a crash between the two it is shown again. What
    Telegram doesn't accept now waits for the next visit.
    """
    async with session.desk.store.reading() as tx:
        # Read again: the user may just have deleted their data.
        missed_orders = await MissedOrderRepository(tx).of_person(session.person.id)
    older, newest = missed_orders[:-MISSED_SHOWN], missed_orders[-MISSED_SHOWN:]
    if older:
        if not isinstance(await session.send(Screen(session.t.n("talk.missed_older", len(older)))), Delivered):
            return frozenset()
        await _delete(session, older)
    shown: list[str] = []
    for missed in newest:
        if not await _is_shown(session, missed):
            break
        shown.append(missed.reference)
        await _delete(session, (missed,))
    return frozenset(shown)


async def _is_shown(session: Session, missed: MissedOrder) -> bool:
    """Show one order, and return whether that is settled: Telegram accepted it, or nothing of it can be shown."""
    async with session.desk.store.reading() as tx:
        order = await OrderRepository(tx).get_if_readable(missed.reference)
    if order is None or order.person_id != session.person.id:
        return True
    session.notice = session.t("talk.missed")
    sent = await show_at_the_end(session, order)
    if isinstance(sent, Invalid):
        # Telegram refuses this status for good, too. It must not keep the user from the orders behind it.
        sent = await session.send(Screen(session.t("talk.missed_elsewhere", reference=order.reference)))
    return isinstance(sent, Delivered)


async def _delete(session: Session, seen: Sequence[MissedOrder]) -> None:
    async with session.desk.store.transaction() as tx:
        await MissedOrderRepository(tx).delete(seen)

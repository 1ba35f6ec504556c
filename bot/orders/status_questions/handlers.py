"""Answer users who ask about an order in their own words, paste an invoice, or send a picture.

Only a message that answers no open question comes here. A user with an open ticket is offered to add it to the ticket:
below the order if the message asks about one, and in place of any other answer.
"""

import asyncio
import re
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from telegram import Message

from bot.infra.db.database import Database
from bot.infra.i18n import Html
from bot.orders.order import Order, OrderStatus
from bot.orders.repository import OrderRepository
from bot.orders.status_messages import StatusMessages
from bot.orders.status_questions import screens
from bot.orders.status_questions.reading import asks_about_order, list_mentions
from bot.payments import bolt11
from bot.staff.staff_chat import SupportContacts
from bot.users.session import Session

_INVOICE: Final = re.compile(r"(?<![a-z0-9])ln(?:bc|tb|sb)[a-z0-9]{40,}", re.IGNORECASE)
"""All networks, also "lnbcrt" and "lntbs". The first part of an invoice is enough to know that it is one."""

_PAYEE: Final = re.compile(
    r"(?:lightning:|₿)?(?:lnurl1[a-z0-9]{20,}|lno1[a-z0-9]{20,}|[a-z0-9._+-]{1,64}@(?:[a-z0-9-]{1,63}\.){1,4}[a-z]{2,24})",
    re.IGNORECASE | re.ASCII,
)
"""LNURL, a BOLT12 offer, or a Lightning Address."""


def find_invoice(text: str) -> str | None:
    """Return the first invoice in `text` in lower case, perhaps cut off or damaged, or None."""
    found = _INVOICE.search(text)
    return found[0].lower() if found else None


def is_payee(text: str) -> bool:
    """Return whether `text` is an LNURL, a Lightning Address or an offer, and nothing else."""
    return _PAYEE.fullmatch(text.strip()) is not None


UNREAD: Final = "unread"
"""Under this name the chat records that a picture was answered, like the press of a button."""

SEARCHED: Final = 10
"""The newest orders, among which the one that is meant is searched."""

IN_PROGRESS: Final = frozenset(
    {
        OrderStatus.PLACING,
        OrderStatus.CHECKING,
        OrderStatus.UNRESOLVED,
        OrderStatus.NEEDS_CONFIRMATION,
        OrderStatus.WAITING,
        OrderStatus.PAID,
        OrderStatus.CONVERTING,
        OrderStatus.SENDING,
    }
)


class StatusQuestionHandlers:
    """Show the order that is meant, and what its user can safely do now."""

    def __init__(self, *, database: Database, status_messages: StatusMessages, contacts: SupportContacts) -> None:
        self._database = database
        self._status_messages = status_messages
        self._contacts = contacts

    async def answer_question(self, session: Session, message: Message) -> bool:
        """Show the order that a message asks about. Return False if it asks about none, or its user has none."""
        text = message.text or ""
        is_question = find_invoice(text) is None and await self._asks(session, message)
        return is_question and await self._show_meant(session, text)

    async def answer(self, session: Session, message: Message) -> bool:
        """Answer any other message that may be about an order. Return False if it isn't."""
        text = message.text or message.caption or ""
        invoice = find_invoice(text)
        if invoice is not None:
            await self._answer_invoice(session, invoice)
        elif is_payee(text):
            await session.show(session.with_resume(screens.show_payee(session.t)))
        elif _is_picture_or_file(message):
            unread = screens.explain_unread(session.t, help_offered=self._contacts.is_offered)
            if not _is_repeated(session) and not await self._show_meant(session, text, unread):
                session.notice = unread
                await session.show(session.with_resume(screens.show_no_order(session.t)))
        elif await self._asks(session, message):
            await session.show(session.with_resume(screens.show_no_order(session.t)))
        else:
            return False
        return True

    async def _asks(self, session: Session, message: Message) -> bool:
        """Return whether a text of the user's own asks about an order. What is forwarded are the words of others."""
        if message.text is None or message.forward_origin is not None:
            return False
        return asks_about_order(message.text) or await self._names_order(session, message.text)

    async def answer_cancel(self, session: Session) -> bool:
        """Answer `/cancel` outside a draft. Return False if there is no order that could be cancelled."""
        order = pick_order(await self._list_orders(session), session.now)
        if order is None or order.status(session.now) not in screens.CANCEL_SHOWN:
            return False
        await self._show(session, order, screens.explain_cancel(session.reader, order))
        return True

    async def _show_meant(self, session: Session, text: str, unread: Html | None = None) -> bool:
        """Show the order that is meant. Return False if there is none.

        `unread` says that what was sent with the text can't be read.
        """
        async with self._database.reading() as tx:
            unsettled = await OrderRepository(tx).unsettled_of_user(session.user.id)
        order = pick_order(await self._list_orders(session), session.now, text, unsettled)
        if order is None:
            return False
        refreshed = await self._status_messages.refresh_order(session, order)
        if unread is not None or refreshed.awaits_payment(session.now) or not order.awaits_payment(session.now):
            await self._show(session, refreshed, unread, screens.explain_next_step(session.reader, refreshed))
        # Otherwise, the outbox says in the same moment what has become of it.
        return True

    async def _answer_invoice(self, session: Session, invoice: str) -> None:
        order = await self._find_order_of(session, invoice)
        if order is None:
            await session.show(session.with_resume(screens.show_other_invoice(session.t)))
            return
        await self._show(session, order, screens.explain_own_invoice(session.reader, order))

    async def _show(self, session: Session, order: Order, *answers: Html | None) -> None:
        session.notice = Html("\n\n".join(each for each in (*answers, session.notice) if each)) or None
        shown = screens.show_status(session.reader, order, help_offered=self._contacts.is_offered)
        await self._status_messages.send_status_message(session, order, shown)

    async def _find_order_of(self, session: Session, invoice: str) -> Order | None:
        """Return the user's order with this invoice. Its first part is enough if it is a new order's."""
        newest = await self._list_orders(session)
        own = next((each for each in newest if each.bolt11 and each.bolt11.lower().startswith(invoice)), None)
        if own is not None:
            return own
        try:
            decoded = await asyncio.to_thread(bolt11.decode, invoice)
        except bolt11.InvoiceError:
            return None
        async with self._database.reading() as tx:
            order = await OrderRepository(tx).with_payment_hash(decoded.payment_hash)
        return order if order is not None and order.payer.chat_id == session.chat_id else None

    async def _names_order(self, session: Session, text: str) -> bool:
        """Return whether the text is nothing but the reference of one of the user's newest orders."""
        named = list_mentions(text)
        if len(named) != 1 or len(text.split()) != 1:
            return False
        return any(order.reference in named for order in await self._list_orders(session))

    async def _list_orders(self, session: Session) -> Sequence[Order]:
        async with self._database.reading() as tx:
            return await OrderRepository(tx).of_user(session.user.id, limit=SEARCHED)


def pick_order(orders: Sequence[Order], now: datetime, text: str = "", unsettled: Sequence[Order] = ()) -> Order | None:
    """Return the order that is meant: the one that `text` names, or else the newest.

    If nothing is left to do for the newest order, an older one in progress is meant, or one that failed and isn't
    settled. Both begin with the newest.
    """
    named = list_mentions(text)
    mentioned = next((order for order in orders if order.reference in named), None)
    if mentioned is not None or not orders:
        return mentioned
    if orders[0].status(now) in IN_PROGRESS or orders[0].is_in_trouble:
        return orders[0]
    in_progress = [order for order in orders if order.status(now) in IN_PROGRESS]
    return next(iter((*in_progress, *unsettled)), orders[0])


def _is_picture_or_file(message: Message) -> bool:
    """Return whether a message has what may show a payment, or says something. Animations and stickers don't."""
    sent = (message.photo, message.document, message.video, message.voice, message.video_note, message.audio)
    return any(sent) and message.animation is None


def _is_repeated(session: Session) -> bool:
    """Return whether a picture was answered a moment ago. Each picture of an album is a message of its own."""
    if session.is_double_tap(UNREAD):
        return True
    session.record_tap(UNREAD)
    return False

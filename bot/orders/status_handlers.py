"""Show users the status of an order when they ask for it: with a button, a command, or in any words.

A message that answers no open question is answered with the order that is meant and what is safe to do now. A pasted
invoice and a picture are answered, too.
"""

import asyncio
import re
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Final

from telegram import Message

from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.infra.feature import Infra
from bot.infra.i18n import Html
from bot.infra.outbox.model import NotificationStatus, StoredNotification, format_mark
from bot.infra.outbox.repository import OutboxRepository
from bot.infra.telegram.outbound.sender import Delivered, Outcome
from bot.infra.telegram.ui.screen import Screen
from bot.orders.buttons import OrderAction, OrderButton
from bot.orders.messages import order_notifications, order_subject
from bot.orders.notifications import OUTCOMES, STATUS_MESSAGES, OrderNotification
from bot.orders.order import (
    IN_PROGRESS,
    REFERENCE_ALPHABET,
    REFERENCE_LENGTH,
    SHOWN_BELOW,
    UNCERTAIN_PHASES,
    Failure,
    Order,
    Phase,
)
from bot.orders.placement.invoice_check import payment_notifications
from bot.orders.repository import OrderRepository
from bot.orders.screens import order_messages
from bot.orders.tracking.tracker import OrderTracker
from bot.payments import bolt11
from bot.settlement.client import SettlementClient
from bot.settlement.errors import SettlementFailure
from bot.staff.staff_chat import SupportContacts
from bot.users.session import Session

MIN_INTERVAL: Final = timedelta(seconds=1)
"""An order is polled at most once a second (settlement API, 6.3)."""


class StatusMessages:
    """Show users the status of their orders."""

    def __init__(
        self, infra: Infra, settlement: SettlementClient, tracker: OrderTracker, contacts: SupportContacts
    ) -> None:
        self._database = infra.database
        self._messenger = infra.messenger
        self._settlement = settlement
        self._tracker = tracker
        self._contacts = contacts

    def build_screen(self, session: Session, order: Order) -> Screen:
        """Return the status message of an order, or the question or result that takes its place."""
        return order_messages.show_status_or_question(session.reader, order, help_offered=self._contacts.is_offered)

    async def show_outcome(self, session: Session, order: Order) -> None:
        """Show in the confirmed review what has become of the order meanwhile.

        The outbox does the same. But if it was faster, the review was written over it.
        """
        shown: Phase | None = None
        while True:
            async with self._database.reading() as tx:
                current = await OrderRepository(tx).get(order.reference)
                outcome = await _find_last(tx, session, order, OUTCOMES)
            if current is None or current.phase is shown:
                return
            # Read again after the edit: the outbox may have made its own before.
            shown, screen = current.phase, order_messages.show_confirmed(session.t, current)
            if outcome is not None and shown not in SHOWN_BELOW | {Phase.INTENDED}:
                kind, offered = OrderNotification(outcome.kind), self._contacts.is_offered
                screen = order_messages.show_notification(kind, session.reader, current, help_offered=offered)
            await session.edit_message(screen)

    async def refresh_order(self, session: Session, order: Order) -> Order:
        """Poll the order, unless that just happened, and return it. If polling fails, tell the user."""
        now = session.now
        was_just_polled = order.last_polled_at is not None and now - order.last_polled_at < MIN_INTERVAL
        is_over = order.phase is not Phase.OPEN and not order.is_closed_unpaid
        if is_over or order.service_id is None or was_just_polled:
            return order
        try:
            report = await self._settlement.look_up(order.service_id)
        except SettlementFailure:
            session.notice = session.t("orders.status_message.cannot_look")
            return order
        return await self._tracker.apply_report(order.reference, report, asked_at=now) or order

    async def update_pressed(self, session: Session, order: Order) -> None:
        """Show the status in the pressed message. If another one is edited at each step, that one takes its place.

        Otherwise the pressed message would show a step that is soon over.
        """
        async with self._database.reading() as tx:
            shown = await _find_last(tx, session, order, STATUS_MESSAGES)
        follows = shown is not None and shown.status in {NotificationStatus.WAITING, NotificationStatus.SENDING}
        is_other = shown is not None and shown.message_id not in {None, session.message_id}
        if order.is_ended or session.message_id is None or not (follows or is_other):
            await session.edit_message(self.build_screen(session, order))
            return
        await self._messenger.delete(session.chat_id, session.message_id, priority="talk")
        if is_other:
            await self.send_status_message(session, order)

    async def resend_status_message(self, session: Session, order: Order) -> None:
        """Show the status at the end of the chat: the QR code if the order can be paid, or else the status message."""
        await session.acknowledge()
        if order.may_be_shown(session.now):
            await self.resend_payment(session, order)
        else:
            await self.send_status_message(session, order)

    async def resend_payment(self, session: Session, order: Order) -> None:
        """Queue the message to pay with again, and the removal of those before it."""
        button = OrderButton(order.reference, OrderAction.RESEND_STATUS).pack()
        if session.is_double_tap(button):
            return
        mark = format_mark("again", session.update_id)
        kinds = (*payment_notifications(order), OrderNotification.REMOVE_INVOICE)
        async with self._database.transaction() as tx:
            await OutboxRepository(tx).add(order_notifications(order, kinds, session.now, mark))
        session.record_tap(button)

    async def send_status_message(self, session: Session, order: Order, screen: Screen | None = None) -> Outcome:
        """Send the status as a new message, and delete the previous status message. Return the outcome.

        From now on, the new message is the one that is edited, also if the user never got the previous one. Before the
        order can be paid, that is the review. `screen` is the message if it shows more than the status.
        """
        sent = await session.send_message(screen or self.build_screen(session, order))
        message_id = sent.message_id if isinstance(sent, Delivered) else None
        kinds = (OrderNotification.REVIEW,) if order.phase in UNCERTAIN_PHASES else STATUS_MESSAGES
        if message_id is None or order.phase is Phase.NEEDS_CONFIRMATION:
            return sent
        async with self._database.transaction() as tx:
            shown = await _find_last(tx, session, order, kinds)
            if shown is not None:
                await OutboxRepository(tx).replace_message_id(shown.id, message_id)
        if shown is not None and shown.message_id not in {None, message_id}:
            await self._messenger.delete(session.chat_id, shown.message_id, priority="talk")
        return sent

    async def reject_outdated_button(self, session: Session, order: Order) -> None:
        """Tell the user that the button no longer applies, and send the status message."""
        await session.acknowledge(session.t.plain("orders.stale.order"))
        await self.resend_status_message(session, order)


async def _find_last(
    tx: Transaction, session: Session, order: Order, kinds: Collection[OrderNotification]
) -> StoredNotification | None:
    """Return the last notification of these kinds about the order in this chat."""
    rows = await OutboxRepository(tx).find_by_subject(order_subject(order))
    return next((row for row in reversed(rows) if row.kind in kinds and row.chat_id == session.chat_id), None)


_INVOICE: Final = re.compile(r"(?<![a-z0-9])ln(?:bc|tb|sb)[a-z0-9]{40,}", re.IGNORECASE)
"""All networks, also "lnbcrt" and "lntbs". The first part of an invoice is enough to know that it is one."""

_PAYEE: Final = re.compile(
    r"(?:lightning:|₿)?(?:lnurl1[a-z0-9]{20,}|lno1[a-z0-9]{20,}|[a-z0-9._+-]{1,64}@(?:[a-z0-9-]{1,63}\.){1,4}[a-z]{2,24})",
    re.IGNORECASE | re.ASCII,
)
"""LNURL, a BOLT12 offer, or a Lightning Address."""

_REFERENCE: Final = re.compile(rf"\b[{REFERENCE_ALPHABET}]{{{REFERENCE_LENGTH}}}\b", re.IGNORECASE)


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

RECENT: Final = timedelta(days=7)
"""How long an order for which nothing is left to do is still shown to whoever writes something."""


class StatusAnswers:
    """Show the order that is meant, and what its user can safely do now."""

    def __init__(self, *, database: Database, status_messages: StatusMessages, contacts: SupportContacts) -> None:
        self._database = database
        self._status_messages = status_messages
        self._contacts = contacts

    async def answer(self, session: Session, message: Message, invoice: str | None) -> bool:
        """Answer an invoice, where else money can be sent, a picture or a file. Return False if it is none of them.

        `invoice` is what `find_invoice` has found in the message.
        """
        text = message.text or message.caption or ""
        if invoice is not None:
            await self._answer_invoice(session, invoice)
        elif is_payee(text):
            await session.show(session.with_resume(order_messages.show_payee(session.t)))
        elif _is_picture_or_file(message):
            unread = order_messages.explain_unread(session.t, help_offered=self._contacts.is_offered)
            if not _is_repeated(session) and not await self.show_meant(session, text, unread=unread):
                session.notice = unread
                await self.show_none(session)
        else:
            return False
        return True

    async def show_none(self, session: Session) -> None:
        """Show that the user has no order, and what to do after paying somebody who pretends to be Kirim."""
        await session.show(session.with_resume(order_messages.show_no_order(session.t)))

    async def answer_cancel(self, session: Session) -> bool:
        """Answer `/cancel` outside a draft. Return False if there is no order that could be cancelled."""
        order = pick_order(await self._list_orders(session), session.now)
        if order is None or order.status(session.now) not in IN_PROGRESS:
            return False
        await self._show(session, order, order_messages.explain_cancel(session.reader, order))
        return True

    async def show_meant(
        self,
        session: Session,
        text: str,
        *,
        unread: Html | None = None,
        asks_to_cancel: bool = False,
        recent: timedelta = RECENT,
    ) -> bool:
        """Show the order that is meant. Return False if there is none.

        `unread` says that what was sent with the text can't be read. For `recent`, an order for which nothing is left
        to do may be meant.
        """
        order = await self._find_meant(session, text, recent)
        if order is None:
            return False
        refreshed = await self._status_messages.refresh_order(session, order)
        if unread is not None or refreshed.awaits_payment(session.now) or not order.awaits_payment(session.now):
            cancelling = order_messages.explain_cancel(session.reader, refreshed) if asks_to_cancel else None
            reached_by = self._contacts.reached_by
            next_step = cancelling or order_messages.explain_next_step(session.reader, refreshed, reached_by)
            is_explained = refreshed.failure in {Failure.PAID, Failure.UNKNOWN} and refreshed.outcome is None
            await self._show(session, refreshed, unread, next_step, is_explained=is_explained)
        # Otherwise, the outbox says in the same moment what has become of it.
        return True

    async def find_open(self, session: Session) -> Order | None:
        """Return the order in progress, or one that failed and isn't settled."""
        return await self._find_meant(session, "", timedelta(0))

    async def _find_meant(self, session: Session, text: str, recent: timedelta) -> Order | None:
        async with self._database.reading() as tx:
            newest = await OrderRepository(tx).of_user(session.user.id, limit=SEARCHED)
            unsettled = await OrderRepository(tx).unsettled_of_user(session.user.id)
        return pick_order(newest, session.now, text, unsettled, recent)

    async def _answer_invoice(self, session: Session, invoice: str) -> None:
        order = await self._find_order_of(session, invoice)
        if order is None:
            await session.show(session.with_resume(order_messages.show_other_invoice(session.t)))
            return
        await self._show(session, order, order_messages.explain_own_invoice(session.reader, order))

    async def _show(self, session: Session, order: Order, *answers: Html | None, is_explained: bool = False) -> None:
        session.notice = Html("\n\n".join(each for each in (*answers, session.notice) if each)) or None
        offered = self._contacts.is_offered
        shown = order_messages.show_answer(session.reader, order, help_offered=offered, is_explained=is_explained)
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

    async def _list_orders(self, session: Session) -> Sequence[Order]:
        async with self._database.reading() as tx:
            return await OrderRepository(tx).of_user(session.user.id, limit=SEARCHED)


def pick_order(
    orders: Sequence[Order],
    now: datetime,
    text: str = "",
    unsettled: Sequence[Order] = (),
    recent: timedelta = RECENT,
) -> Order | None:
    """Return the order that is meant: the one that `text` names, or else the newest, if it is recent.

    If nothing is left to do for the newest order, an older one in progress is meant, or one that failed and isn't
    settled. Both begin with the newest.
    """
    named = list_mentions(text)
    mentioned = next((order for order in orders if order.reference in named), None)
    if mentioned is not None or not orders:
        return mentioned
    if orders[0].is_in_trouble:
        return orders[0]
    in_progress = [order for order in orders if order.status(now) in IN_PROGRESS]
    newest = [order for order in orders[:1] if now - order.created_at < recent]
    return next(iter((*in_progress, *unsettled, *newest)), None)


def list_mentions(text: str) -> frozenset[str]:
    """Return the words of a message that may be references of orders, in capitals."""
    return frozenset(word.upper() for word in _REFERENCE.findall(text))


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

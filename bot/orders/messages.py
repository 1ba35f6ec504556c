"""The messages to users about their orders: how they are queued, sent, edited and deleted.

They are queued in the transaction that changes the order. A message shows the order as it is when the message is sent,
so that it isn't outdated when it arrives.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from bot.infra.db.transaction import Transaction
from bot.infra.i18n import Html, Translator
from bot.infra.outbox.model import (
    DeliveryOutcome,
    Notification,
    NotificationKind,
    NotificationStatus,
    RetryLater,
    Sent,
    SentMessage,
    Undeliverable,
    format_mark,
)
from bot.infra.outbox.rendering import RenderWithFacts, delivery_outcome, with_repeat_note
from bot.infra.outbox.repository import OutboxRepository
from bot.infra.telegram.outbound.sender import Delivered, Gone, Invalid, NotModified, Outcome, TryLater
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
from bot.orders.notifications import (
    ORDER_SUBJECT,
    OUTCOMES,
    PAYMENT_MESSAGES,
    STATUS_MESSAGES,
    AboutOrder,
    OrderNotification,
)
from bot.orders.order import Order, still_applies
from bot.orders.preferences import DeliveryMode, delivery_mode
from bot.orders.receipts import screens
from bot.orders.receipts.codes import Receipt, ReceiptLinks
from bot.orders.receipts.service import ReceiptService, find_receipt, render_receipt_off_loop
from bot.orders.repository import OrderRepository
from bot.orders.screens import order_messages
from bot.orders.screens import payment as pay
from bot.orders.screens.formatting import format_order_line, format_sent
from bot.payments import qr
from bot.recipients import screens as recipients
from bot.recipients.model import SavedRecipient, find_saved
from bot.recipients.repository import RecipientRepository
from bot.settlement.model import COMPLETED
from bot.staff.staff_chat import SupportContacts
from bot.users.readers import RenderContext, Renderer

PICTURE_TRIES = 2
MAX_UNSENT_TRIES: Final = 3
"""After so many attempts that sent nothing, the text is tried right after the picture: perhaps only pictures fail."""

SHORT_PAUSE_SECONDS: Final = 60.0
"""If Telegram asks for a longer pause, the attempt counts towards `PICTURE_TRIES`. Other messages wait for this one."""

MAX_UNSENT_COUNTED: Final = 1_000
"""For how many invoices failed attempts are counted. An invoice that is dropped is sent as text sooner."""

MESSAGES_OF_ORDER: Final = (OrderNotification.REVIEW, *STATUS_MESSAGES, *PAYMENT_MESSAGES)
"""The messages that later ones edit or remove."""

EDITED: Final = {
    OrderNotification.EDIT_REVIEW: (OrderNotification.REVIEW,),
    OrderNotification.EDIT_STATUS: STATUS_MESSAGES,
}
"""The messages that each edit is for."""

ORDER_GONE: Final = Undeliverable("the order is gone")
STILL_IN_SIGHT: Final = Undeliverable("Telegram neither deletes nor edits the message")

PAID_MARK: Final = "paid"
"""Marks the message that an order failed after its payment. The message that it failed unpaid can be an earlier one."""


def order_subject(order: Order) -> str:
    """Return the subject of all notifications about an order."""
    return ORDER_SUBJECT + order.reference


async def has_any_message(tx: Transaction, order: Order, kinds: Collection[OrderNotification]) -> bool:
    """Return whether the payer of `order` got a message of these kinds, or will get one."""
    chat_id = order.payer.chat_id
    return chat_id is not None and await OutboxRepository(tx).has_any(order_subject(order), kinds, chat_id)


async def queue_order_notifications(
    tx: Transaction, order: Order, kinds: Iterable[OrderNotification], now: datetime
) -> None:
    """Queue notifications for the payer of `order`. An edit is left out if there is no message to edit.

    There is no status message before the payment, or if the order was sent before we saw the payment.
    """
    queued = [
        kind
        for kind in kinds
        if kind not in EDITED or (still_applies(kind, order) and await has_any_message(tx, order, EDITED[kind]))
    ]
    await OutboxRepository(tx).add(order_notifications(order, queued, now))


def order_notifications(
    order: Order, kinds: Iterable[OrderNotification], now: datetime, mark: str = ""
) -> list[Notification[AboutOrder]]:
    """Return the notifications for the payer of `order`. Each version of the order edits its status message once.

    There are none for a payer without a chat. A `mark` distinguishes messages that the payer asked to see again. A
    payment can arrive after the message that the order failed unpaid. Then another one says so.
    """
    chat_id = order.payer.chat_id
    if chat_id is None:
        return []
    marks = {
        OrderNotification.EDIT_STATUS: format_mark(order.version),
        OrderNotification.FAILED: PAID_MARK if order.is_paid else mark,
    }
    return [
        kind.create(chat_id, order_subject(order), AboutOrder(order.reference), now, marks.get(kind, mark))
        for kind in kinds
    ]


def review_notifications(order: Order, message_id: int, now: datetime) -> list[Notification[AboutOrder]]:
    """Return the row that keeps which message is the review of `order`. It is never sent."""
    return [
        replace(review, status=NotificationStatus.SENT, message_id=message_id, sent_at=now)
        for review in order_notifications(order, (OrderNotification.REVIEW,), now)
    ]


OrderMessage = Notification[AboutOrder]


@dataclass(frozen=True, slots=True)
class OrderFacts:
    """What the messages about an order need, read at once.

    Attributes:
        order: the order as it is when the message is sent.
        messages: the messages about it in the chat, the oldest first.
        receipt: for a receipt, its row.
        recipient: for a receipt, the order's recipient, if the user has saved it.
    """

    order: Order
    messages: tuple[SentMessage, ...]
    receipt: Receipt | None = None
    recipient: SavedRecipient | None = None

    def find_messages(self, kinds: Collection[OrderNotification]) -> Sequence[SentMessage]:
        """Return the messages of these kinds, the oldest first."""
        return [message for message in self.messages if message.kind in kinds]


DescribeTicket = Callable[[RenderContext, Order], Awaitable[Screen | None]]
"""Returns what the message about an order's problem says about its open ticket, or None if it has none."""

RenderOrder = Callable[[OrderMessage, OrderFacts, RenderContext], Awaitable[DeliveryOutcome]]


class OrderMessages:
    """Send, edit and delete messages to users about their orders."""

    def __init__(
        self,
        *,
        describe_ticket: DescribeTicket,
        contacts: SupportContacts,
        receipts: ReceiptService,
        public_url: str = "",
    ) -> None:
        self._describe_ticket = describe_ticket
        self._contacts = contacts
        self._receipts = receipts
        self._public_url = public_url
        self._unsent = Counter[int]()

    def renderers(self) -> Mapping[NotificationKind, Renderer]:
        """Return the renderer of each kind of notification."""
        special: dict[OrderNotification, RenderOrder] = {
            OrderNotification.REVIEW: _send_nothing,
            **dict.fromkeys(OUTCOMES, self._show_outcome),
            OrderNotification.INVOICE: self._send_invoice,
            OrderNotification.INVOICE_TEXT: self._send_invoice_text,
            OrderNotification.EDIT_REVIEW: _shorten_review,
            OrderNotification.EDIT_STATUS: self._edit_status_message,
            OrderNotification.PAID: self._send_paid,
            OrderNotification.PAID_LATE: self._send_paid,
            OrderNotification.SENT: self._send_sent,
            OrderNotification.REMOVE_INVOICE: self._remove_invoice,
            OrderNotification.REPLACE_QR_CODE: self._replace_qr_code,
        }
        renderers = {kind: special.get(kind, self._send_message) for kind in OrderNotification}
        return {
            kind: RenderWithFacts(_read_facts, _if_readable(render), kind is OrderNotification.EDIT_STATUS)
            for kind, render in renderers.items()
        }

    async def _send_message(
        self, notification: OrderMessage, facts: OrderFacts, context: RenderContext
    ) -> DeliveryOutcome:
        order = facts.order
        kind = OrderNotification(notification.kind)
        mode = _mode(kind, context)
        if mode is DeliveryMode.STATUS_ONLY or not still_applies(kind, order):
            return Sent()
        offered, notified = self._contacts.is_offered, self._contacts.has_staff
        is_problem = order_messages.is_payment_problem(kind, order)
        ticket = await self._describe_ticket(context, order) if is_problem else None
        screen = order_messages.show_notification(
            kind,
            context.reader,
            order,
            help_offered=offered,
            staff_notified=notified,
            policy_url=self._contacts.failed_payout_policy_url,
            ticket=ticket,
        )
        return await _send(notification, context, screen, silent=mode is DeliveryMode.SILENT)

    async def _show_outcome(
        self, notification: OrderMessage, facts: OrderFacts, context: RenderContext
    ) -> DeliveryOutcome:
        """Show in the review what became of the confirmed order. If it can't be edited, send a message.

        Messages about payments come after this one. So they wait for one more attempt at most, and only if the edit may
        have arrived.
        """
        kind, order = OrderNotification(notification.kind), facts.order
        reviews = facts.find_messages((OrderNotification.REVIEW,))
        if not reviews:
            return await self._send_message(notification, facts, context)
        if not still_applies(kind, order):
            return Sent()
        screen = order_messages.show_notification(kind, context.reader, order, help_offered=self._contacts.is_offered)
        edited = await context.messenger.edit_text(
            notification.chat_id, reviews[-1].message_id, screen.text, screen.keyboard, priority="money"
        )
        may_have_arrived = isinstance(edited, TryLater) and edited.maybe_sent
        if isinstance(edited, Delivered | NotModified) or (may_have_arrived and not notification.attempts):
            return delivery_outcome(edited)
        return await self._send_message(notification, facts, context)

    async def _send_paid(
        self, notification: OrderMessage, facts: OrderFacts, context: RenderContext
    ) -> DeliveryOutcome:
        """Send that the payment arrived. The message is edited at each later step, for everyone."""
        mode = _mode(OrderNotification(notification.kind), context)
        screen = self._build_status_message(facts.order, context)
        return await _send(notification, context, screen, silent=mode is not DeliveryMode.SOUND)

    async def _send_invoice(
        self, notification: OrderMessage, facts: OrderFacts, context: RenderContext
    ) -> DeliveryOutcome:
        """Send the invoice with its QR code. If that fails twice or is rejected, send it as text.

        A row with a mark was queued because the user asked for the QR code again. With little time left to pay, the
        price of now is offered.
        """
        order = facts.order
        if not order.awaits_payment(context.now):
            return Sent()
        if order.is_ending(context.now):
            return await _send(notification, context, self._build_status_message(order, context), silent=False)
        payment, silent = _build_payment(order, context), bool(notification.mark)
        page = pay.page_row(context.t, order, self._public_url)
        text = with_repeat_note(notification, context.t, payment.caption)

        async def send_picture() -> Outcome:
            picture = await qr.render_png_off_loop(payment.payload)
            caption = text if pay.caption_length(text) <= pay.MAX_CAPTION else payment.caption
            return await _with_or_without_page(
                (*page, *payment.keyboard),
                payment.keyboard,
                lambda keyboard: context.messenger.send_photo(
                    notification.chat_id,
                    picture,
                    caption,
                    keyboard,
                    priority="money",
                    silent=silent,
                    caption_above=payment.caption_above,
                ),
            )

        async def send_text() -> DeliveryOutcome:
            sent = await _with_or_without_page(
                (*page, *payment.keyboard),
                payment.keyboard,
                lambda keyboard: context.messenger.send_text(
                    notification.chat_id, text, keyboard, priority="money", silent=silent
                ),
            )
            return delivery_outcome(sent)

        return await self._send_picture_or_text(notification, send_picture, send_text)

    async def _send_picture_or_text(
        self,
        notification: OrderMessage,
        send_picture: Callable[[], Awaitable[Outcome]],
        send_text: Callable[[], Awaitable[DeliveryOutcome]],
    ) -> DeliveryOutcome:
        """Send a message with its picture. If that fails twice or is rejected, send it as text."""
        sent: Outcome = Invalid("the picture failed twice")
        if notification.attempts - self._unsent[notification.id] < PICTURE_TRIES:
            sent = await send_picture()
            self._count_unsent(notification, sent)
        if not isinstance(sent, Invalid) and not self._may_only_pictures_fail(notification, sent):
            return delivery_outcome(sent)
        delivered = await send_text()
        if not isinstance(delivered, Sent):
            return delivered
        self._unsent.pop(notification.id, None)
        return replace(delivered, without_picture=True)

    def _may_only_pictures_fail(self, notification: OrderMessage, sent: Outcome) -> bool:
        """Return whether the text can be tried at once: the picture certainly wasn't sent, as several times before."""
        is_unsent = isinstance(sent, TryLater) and not sent.maybe_sent
        return is_unsent and self._unsent[notification.id] > MAX_UNSENT_TRIES

    def _count_unsent(self, notification: OrderMessage, sent: Outcome) -> None:
        """Count an attempt that certainly sent nothing, for example when Telegram slowed us down.

        Such attempts aren't the picture's fault, so they don't count towards `PICTURE_TRIES`.
        """
        if not isinstance(sent, TryLater):
            self._unsent.pop(notification.id, None)
        elif not sent.maybe_sent and sent.after <= SHORT_PAUSE_SECONDS:
            self._unsent[notification.id] += 1
            while len(self._unsent) > MAX_UNSENT_COUNTED:
                del self._unsent[next(iter(self._unsent))]

    async def _send_invoice_text(
        self, notification: OrderMessage, facts: OrderFacts, context: RenderContext
    ) -> DeliveryOutcome:
        if not facts.order.may_be_shown(context.now):
            return Sent()
        text = _build_payment(facts.order, context).follow_up
        return Sent() if text is None else await _send(notification, context, Screen(text), silent=True)

    async def _edit_status_message(
        self, notification: OrderMessage, facts: OrderFacts, context: RenderContext
    ) -> DeliveryOutcome:
        """Edit the status message. If it can't be edited, send a new one in place of it."""
        chat_id, order = notification.chat_id, facts.order
        shown = facts.find_messages(STATUS_MESSAGES)
        if not shown:
            return Sent()
        screen = self._build_status_message(order, context)
        edited = await context.messenger.edit_text(
            chat_id, shown[-1].message_id, screen.text, screen.keyboard, priority="money"
        )
        if not isinstance(edited, Gone | Invalid):
            return delivery_outcome(edited)
        text = with_repeat_note(notification, context.t, screen.text)
        sent = await context.messenger.send_text(chat_id, text, screen.keyboard, priority="money", silent=True)
        if isinstance(sent, Delivered):
            async with context.database.transaction() as tx:
                await OutboxRepository(tx).replace_message_id(shown[-1].notification_id, sent.message_id)
        return delivery_outcome(sent)

    async def _remove_invoice(
        self, notification: OrderMessage, facts: OrderFacts, context: RenderContext
    ) -> DeliveryOutcome:
        """Remove the messages to pay with, the first picture last. If it fails, a retry removes what is left.

        A row with a mark removes those in whose place the user got another QR code.
        """
        order, shown = facts.order, facts.find_messages(PAYMENT_MESSAGES)
        if notification.mark:
            # Otherwise the row without a mark removes all of them.
            awaits_payment = order.awaits_payment(context.now)
            return await _delete_earlier(notification, shown, context) if awaits_payment else Sent()
        outcomes = [await _remove(notification, message.message_id, order, context) for message in reversed(shown)]
        # What can be tried again comes first. It is given up in the end, too.
        failed = [outcome for outcome in outcomes if not isinstance(outcome, Sent)]
        return min(failed, key=lambda outcome: not isinstance(outcome, RetryLater), default=Sent())

    async def _replace_qr_code(
        self, notification: OrderMessage, facts: OrderFacts, context: RenderContext
    ) -> DeliveryOutcome:
        picture, text = qr.draw_closed(is_paid=facts.order.is_paid), _closed_text(context.t, facts.order)
        for message in facts.find_messages((OrderNotification.INVOICE,)):
            edited = await context.messenger.edit_photo(
                notification.chat_id, message.message_id, picture, text, priority="talk"
            )
            if not isinstance(edited, Delivered | NotModified | Gone):
                return delivery_outcome(edited)
        return Sent()

    async def _send_sent(
        self, notification: OrderMessage, facts: OrderFacts, context: RenderContext
    ) -> DeliveryOutcome:
        """Send the receipt of an order that was sent. If its picture fails twice or is rejected, send it as text.

        Users who chose fewer messages see it in the message about the payment, if there is one.
        """
        mode, order = _mode(OrderNotification.SENT, context), facts.order
        if mode is DeliveryMode.STATUS_ONLY and facts.find_messages(STATUS_MESSAGES):
            return Sent()
        silent = mode is not DeliveryMode.SOUND
        data = facts.receipt or await self._receipts.get_or_create(order)
        t = context.t
        if data is None:
            return await _send(notification, context, Screen(format_sent(t, order)), silent=silent)
        links = ReceiptLinks(context.messenger.username, self._public_url)
        offer = _offer_to_save(facts, t)

        async def send_picture() -> Outcome:
            png = await render_receipt_off_loop(screens.build_facts(t, order, data.code, context.zone, links))
            caption = with_repeat_note(notification, t, format_sent(t, order))
            return await _with_or_without_page(
                screens.build_keyboard(t, order, links.to_page(data.code), *offer),
                screens.build_keyboard(t, order, None, *offer),
                lambda keyboard: context.messenger.send_photo(
                    notification.chat_id, png, caption, keyboard, priority="money", silent=silent
                ),
            )

        async def send_text() -> DeliveryOutcome:
            return await _send(notification, context, screens.as_text(t, order, data, links, *offer), silent=silent)

        return await self._send_picture_or_text(notification, send_picture, send_text)

    def _build_status_message(self, order: Order, context: RenderContext) -> Screen:
        """Return the status message. One line of it is left if the receipt or the message of a failure has the rest."""
        is_last = order.state == COMPLETED and _mode(OrderNotification.SENT, context) is DeliveryMode.STATUS_ONLY
        if order.is_ended and not is_last:
            return order_messages.show_ended(context.reader, order)
        return order_messages.show_status(context.reader, order, help_offered=self._contacts.is_offered)


async def _send_nothing(_: OrderMessage, __: OrderFacts, ___: RenderContext) -> DeliveryOutcome:
    return Sent()


async def _shorten_review(notification: OrderMessage, facts: OrderFacts, context: RenderContext) -> DeliveryOutcome:
    """Leave one line of the review: the message that comes next is there. An outcome in it stays."""
    reviews = facts.find_messages((OrderNotification.REVIEW,))
    if not reviews or not still_applies(OrderNotification.EDIT_REVIEW, facts.order):
        return Sent()
    text = order_messages.show_confirmed(context.t, facts.order).text
    edited = await context.messenger.edit_text(notification.chat_id, reviews[-1].message_id, text, (), priority="money")
    return delivery_outcome(edited)


async def _read_facts(notification: OrderMessage, tx: Transaction) -> OrderFacts | None:
    order = await OrderRepository(tx).get(notification.payload.reference)
    if order is None:
        return None
    outbox, subject = OutboxRepository(tx), order_subject(order)
    facts = OrderFacts(order, await outbox.find_messages(subject, MESSAGES_OF_ORDER, notification.chat_id))
    if notification.kind != OrderNotification.SENT:
        return facts
    return replace(facts, receipt=await find_receipt(tx, order), recipient=await _find_recipient(tx, order))


async def _find_recipient(tx: Transaction, order: Order) -> SavedRecipient | None:
    """Return the order's recipient, if its payer has saved it and may see it."""
    if order.hides_recipient:
        return None
    return find_saved(await RecipientRepository(tx).find_by_user(order.user_id), order.method, order.number)


def _if_readable(render: RenderOrder) -> Callable[..., Awaitable[DeliveryOutcome]]:
    async def render_order(
        notification: OrderMessage, facts: OrderFacts | None, context: RenderContext
    ) -> DeliveryOutcome:
        return ORDER_GONE if facts is None else await render(notification, facts, context)

    return render_order


def _offer_to_save(facts: OrderFacts, t: Translator) -> tuple[Button, ...]:
    """Return the button to name the recipient, unless it has a name."""
    known = facts.recipient
    return () if known is None or known.label is not None else recipients.offer_row(t, known)


async def _send(notification: OrderMessage, context: RenderContext, screen: Screen, *, silent: bool) -> DeliveryOutcome:
    return await context.send_text(notification, screen, priority="money", silent=silent)


async def _with_or_without_page(
    keyboard: Keyboard, without: Keyboard, send: Callable[[Keyboard], Awaitable[Outcome]]
) -> Outcome:
    """Send with the link to a web page. If Telegram rejects its address, send without the link."""
    sent = await send(keyboard)
    return await send(without) if keyboard != without and isinstance(sent, Invalid) else sent


def _mode(kind: OrderNotification, context: RenderContext) -> DeliveryMode:
    return delivery_mode(kind, context.user.notification_preferences if context.user else None)


async def _delete_earlier(
    notification: OrderMessage, shown: Sequence[SentMessage], context: RenderContext
) -> DeliveryOutcome:
    """Delete the messages before the newest QR code. What can't be deleted stays until the order can't be paid."""
    newest = max((each.notification_id for each in shown if each.kind == OrderNotification.INVOICE), default=0)
    for earlier in shown:
        if earlier.notification_id < newest:
            deleted = await context.messenger.delete(notification.chat_id, earlier.message_id, priority="money")
            if not isinstance(deleted, Gone | Invalid | Delivered):
                return delivery_outcome(deleted)
    return Sent()


async def _remove(notification: OrderMessage, message_id: int, order: Order, context: RenderContext) -> DeliveryOutcome:
    """Delete a message. After 48 hours Telegram doesn't delete it, and its text is replaced."""
    removed = await context.messenger.delete(notification.chat_id, message_id, priority="money")
    if not isinstance(removed, Gone | Invalid):
        return delivery_outcome(removed)
    if isinstance(removed, Gone) and not removed.is_too_old:
        return Sent()
    closed = await _close(notification, message_id, order, context)
    # A message that is only too old to be deleted is still in sight.
    return STILL_IN_SIGHT if isinstance(removed, Gone) and isinstance(closed, Gone) else delivery_outcome(closed)


async def _close(notification: OrderMessage, message_id: int, order: Order, context: RenderContext) -> Outcome:
    """Replace the text and the buttons of a message. The outcome is `Gone` if neither a picture nor a text is found."""
    chat_id, messenger, text = notification.chat_id, context.messenger, _closed_text(context.t, order)
    captioned = await messenger.edit_caption(chat_id, message_id, text, priority="money")
    if isinstance(captioned, Delivered | NotModified):
        # Text and buttons are replaced. The picture is larger, and can keep failing.
        async with context.database.transaction() as tx:
            await OutboxRepository(tx).add(
                order_notifications(order, (OrderNotification.REPLACE_QR_CODE,), context.now)
            )
        return captioned
    if not isinstance(captioned, Gone | Invalid):
        return captioned
    edited = await messenger.edit_text(chat_id, message_id, text, priority="money")
    # A picture has no text to edit. If its caption was rejected, it is still in sight.
    return captioned if isinstance(edited, Gone) and isinstance(captioned, Invalid) else edited


def _build_payment(order: Order, context: RenderContext) -> pay.PaymentMessage:
    phrase = context.user.phrase if context.user else None
    return pay.build_payment(context.reader, order, phrase)


def _closed_text(t: Translator, order: Order) -> Html:
    return t("orders.pay.closed_paid" if order.is_paid else "orders.pay.closed", line=format_order_line(t, order))

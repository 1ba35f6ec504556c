"""News -> message: each kind of news in its reader's language, sent, edited or taken down.

What a notice shows is read from the order as it is when it is told, so that none is stale when it arrives.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Final
from zoneinfo import ZoneInfo

from bot.core.clock import Clock
from bot.core.zones import PRESUMED
from bot.infra.db.database import Database
from bot.infra.i18n import Html, Translator
from bot.infra.outbox.model import DeliveryOutcome, Notification, Sent, Undeliverable
from bot.infra.outbox.rendering import kept, marked, tell_text
from bot.infra.outbox.repository import OutboxRepository
from bot.infra.telegram.outbound.sender import Delivered, Gone, Invalid, Messenger, NotModified, Outcome, TryLater
from bot.infra.telegram.ui.screen import Keyboard, Screen
from bot.orders.closed_picture import draw_closed
from bot.orders.notifications import news_of, reference_in, subject_of
from bot.orders.order import Order, OrderNotification, Phase
from bot.orders.preferences import Way, way_of
from bot.orders.receipts.handlers import draw
from bot.orders.receipts.service import ReceiptService
from bot.orders.repository import OrderRepository
from bot.orders.screens import card, outcome
from bot.orders.screens import pay_page as wallet_page
from bot.orders.screens import payment as pay
from bot.orders.screens.formatting import format_order_line
from bot.payments import qr
from bot.recipients import screens as recipients
from bot.recipients.model import find_saved
from bot.recipients.repository import RecipientRepository
from bot.settlement.steps import Step
from bot.staff.help import Help
from bot.users.model import Person
from bot.users.readers import Renderer
from bot.users.screens.phrase import format_phrase_line

PICTURE_TRIES = 2

MOST_UNSENT: Final = 1_000
"""Invoices whose attempts that sent nothing are counted. What is forgotten goes out as text sooner."""

TellOrder = Callable[[Notification, Order, Translator, Person | None], Awaitable[DeliveryOutcome]]

HOLDS: dict[OrderNotification, Callable[[Order], bool]] = {
    OrderNotification.CHECKING: lambda order: order.phase in {Phase.INTENDED, Phase.UNKNOWN},
    OrderNotification.UNRESOLVED: lambda order: order.phase is Phase.UNRESOLVED,
    OrderNotification.PRICE_MOVED: lambda order: order.phase is Phase.NEEDS_CONFIRMATION,
    OrderNotification.RECIPIENT_MASKED: lambda order: order.phase is Phase.NEEDS_CONFIRMATION,
    OrderNotification.EXPIRED: lambda order: not order.is_paid,
    OrderNotification.STUCK: lambda order: not order.is_ended,
    OrderNotification.CONVERTING: lambda order: order.step is Step.CONVERTING and not order.is_ended,
    OrderNotification.SENDING: lambda order: order.step is Step.SENDING and not order.is_ended,
}
"""What may have been overtaken before it could be told, and then isn't told any more."""

KINDS: Final = frozenset(
    notice
    for notice in OrderNotification
    if notice is not OrderNotification.DRAFT_LAPSED and not notice.startswith("staff_")
)
"""What a user hears about an order. Staff hear about it through alarms, and drafts belong to checkout."""


class OrderRenderer:
    """Tells users about their orders."""

    def __init__(
        self,
        *,
        store: Database,
        messenger: Messenger,
        clock: Clock,
        help_desk: Help,
        receipts: ReceiptService,
        public_url: str = "",
    ) -> None:
        self._store = store
        self._messenger = messenger
        self._clock = clock
        self._help = help_desk
        self._receipts = receipts
        self._public_url = public_url
        self._unsent = Counter[int]()
        self._special: dict[str, TellOrder] = {
            OrderNotification.INVOICE: self._tell_invoice,
            OrderNotification.INVOICE_TEXT: self._tell_invoice_text,
            OrderNotification.CARD: self._tell_card,
            OrderNotification.CARD_EDIT: self._edit_card,
            OrderNotification.TAKE_DOWN: self._take_down,
            OrderNotification.TAKE_DOWN_PICTURE: self._take_down_picture,
            OrderNotification.RECEIPT: self._tell_receipt,
        }

    def renderers(self) -> Mapping[str, Renderer]:
        """Return the renderer of each kind of notification."""
        return dict.fromkeys(map(str, KINDS), self._tell)

    async def _tell(self, news: Notification, reader: Person | None, t: Translator) -> DeliveryOutcome:
        kind = news.kind_name
        async with self._store.reading() as tx:
            order = await OrderRepository(tx).get(reference_in(news.subject))
        if order is None:
            return Undeliverable("the order is gone")
        handler = self._special.get(kind)
        if handler is not None:
            return await handler(news, order, t, reader)
        notice, wished = OrderNotification(kind), reader.notices if reader else None
        way = way_of(notice, wished)
        if way is Way.CARD or (notice in HOLDS and not HOLDS[notice](order)):
            return Sent()
        offered, told = self._help.is_offered, self._help.has_staff
        screen = outcome.screen(
            notice, t, order, self._clock.now(), _zone(reader), help_offered=offered, staff_told=told
        )
        if notice is OrderNotification.SENT:
            # The receipt that follows is made to be forwarded, so what only the sender may see stands here.
            screen = replace(screen, text=screen.text + format_phrase_line(t, reader))
            screen = await self._with_offer(screen, t, order)
        return await self._send(news, t, screen, silent=way is Way.SILENT)

    async def _with_offer(self, screen: Screen, t: Translator, order: Order) -> Screen:
        """After the first order to somebody, the way to give them a name; only then, so that it is no clutter."""
        async with self._store.reading() as tx:
            known = find_saved(await RecipientRepository(tx).of_person(order.person_id), order.method, order.number)
        is_new = known is not None and known.label is None and known.created_at == order.created_at
        if known is None or not is_new:
            return screen
        return replace(screen, keyboard=(*screen.keyboard, recipients.offer_row(t, known)))

    async def _send(self, news: Notification, t: Translator, screen: Screen, *, silent: bool) -> DeliveryOutcome:
        return await tell_text(self._messenger, news, t, screen, lane="money", silent=silent)

    async def _tell_invoice(
        self, news: Notification, order: Order, t: Translator, reader: Person | None
    ) -> DeliveryOutcome:
        """With its picture; where that fails twice or is refused, as text: nobody waits for a picture to pay."""
        if not order.awaits_payment(self._clock.now()):
            return Sent()
        payment = self._payment(order, t, reader)
        page = wallet_page.rows(t, order, self._public_url)
        sent: Outcome = Invalid("the picture failed twice")
        if news.attempts - self._unsent[news.id] < PICTURE_TRIES:
            picture = await qr.render_png_off_loop(payment.payload)
            caption = marked(news, t, payment.caption)
            if pay.length(caption) > pay.CAPTION:
                caption = payment.caption
            sent = await self._with_or_without_page(
                page,
                payment.keyboard,
                lambda keyboard: self._messenger.send_photo(
                    news.chat_id, picture, caption, keyboard, lane="money", silent=False
                ),
            )
            self._count_unsent(news, sent)
        if not isinstance(sent, Invalid):
            return kept(sent)
        sent = await self._with_or_without_page(
            page,
            payment.keyboard,
            lambda keyboard: self._messenger.send_text(
                news.chat_id, marked(news, t, payment.caption), keyboard, lane="money", silent=False
            ),
        )
        told = kept(sent)
        return replace(told, without_picture=True) if isinstance(told, Sent) else told

    def _count_unsent(self, news: Notification, sent: Outcome) -> None:
        """Count an attempt that surely sent nothing, as one that Telegram slowed down: the picture didn't fail."""
        if not isinstance(sent, TryLater):
            self._unsent.pop(news.id, None)
        elif not sent.maybe_told:
            self._unsent[news.id] += 1
            while len(self._unsent) > MOST_UNSENT:
                del self._unsent[next(iter(self._unsent))]

    async def _with_or_without_page(
        self, page: Keyboard, keyboard: Keyboard, send: Callable[[Keyboard], Awaitable[Outcome]]
    ) -> Outcome:
        """An address that Telegram doesn't accept must not cost anybody the invoice."""
        sent = await send((*page, *keyboard))
        return await send(keyboard) if page and isinstance(sent, Invalid) else sent

    def _payment(self, order: Order, t: Translator, reader: Person | None) -> pay.Payment:
        return pay.payment(t, order, self._clock.now(), _zone(reader), reader.phrase if reader else None)

    async def _tell_invoice_text(
        self, news: Notification, order: Order, t: Translator, reader: Person | None
    ) -> DeliveryOutcome:
        """What didn't fit under the picture; most often nothing."""
        if not order.awaits_payment(self._clock.now()):
            return Sent()
        text = self._payment(order, t, reader).follow_up
        return Sent() if text is None else await self._send(news, t, Screen(text), silent=True)

    async def _tell_card(
        self, news: Notification, order: Order, t: Translator, reader: Person | None
    ) -> DeliveryOutcome:
        return await self._send(news, t, self._card(order, t, reader), silent=True)

    async def _edit_card(
        self, news: Notification, order: Order, t: Translator, reader: Person | None
    ) -> DeliveryOutcome:
        async with self._store.reading() as tx:
            message_id = await OutboxRepository(tx).message_of(subject_of(order), OrderNotification.CARD, news.chat_id)
        screen = self._card(order, t, reader)
        if message_id is not None:
            edited = await self._messenger.edit_text(
                news.chat_id, message_id, screen.text, screen.keyboard, lane="money"
            )
            if not isinstance(edited, Gone | Invalid):
                return kept(edited)
        # Editing has failed for good: a new card takes its place.
        sent = await self._messenger.send_text(news.chat_id, screen.text, screen.keyboard, lane="money", silent=True)
        if isinstance(sent, Delivered):
            async with self._store.transaction() as tx:
                await OutboxRepository(tx).replace_message(
                    subject_of(order), OrderNotification.CARD, news.chat_id, sent.message_id
                )
        return kept(sent)

    async def _take_down(
        self, news: Notification, order: Order, t: Translator, reader: Person | None
    ) -> DeliveryOutcome:
        """Take away all that could still be paid with, the picture last: a retry finds what is left."""
        del reader
        for kind in (OrderNotification.INVOICE_TEXT, OrderNotification.INVOICE):
            async with self._store.reading() as tx:
                message_id = await OutboxRepository(tx).message_of(subject_of(order), kind, news.chat_id)
            if message_id is None:
                continue
            gone = await self._take_away(news, message_id, t, order)
            if not isinstance(gone, Sent):
                return gone
        return Sent()

    async def _take_away(self, news: Notification, message_id: int, t: Translator, order: Order) -> DeliveryOutcome:
        """Delete a message, or replace what it shows: after 48 hours Telegram deletes nothing of a bot's."""
        chat_id = news.chat_id
        outcome = await self._messenger.delete(chat_id, message_id, lane="money")
        if not isinstance(outcome, Gone | Invalid):
            return kept(outcome)
        if isinstance(outcome, Gone) and not outcome.is_too_old:
            return Sent()
        text = _closed_text(t, order)
        outcome = await self._messenger.edit_caption(chat_id, message_id, text, lane="money")
        if isinstance(outcome, Delivered | NotModified):
            # Text and buttons are gone. A picture that keeps failing must not delay that the payment has arrived.
            async with self._store.transaction() as tx:
                await OutboxRepository(tx).add(
                    news_of(order, (OrderNotification.TAKE_DOWN_PICTURE,), self._clock.now())
                )
            return Sent()
        if isinstance(outcome, Gone | Invalid):
            outcome = await self._messenger.edit_text(chat_id, message_id, text, lane="money")
        # What can't be edited either isn't there any more.
        return Sent() if isinstance(outcome, Gone | Invalid) else kept(outcome)

    async def _take_down_picture(
        self, news: Notification, order: Order, t: Translator, reader: Person | None
    ) -> DeliveryOutcome:
        """Replace the QR code of an invoice that is too old to be deleted."""
        del reader
        async with self._store.reading() as tx:
            message_id = await OutboxRepository(tx).message_of(
                subject_of(order), OrderNotification.INVOICE, news.chat_id
            )
        if message_id is None:
            return Sent()
        picture, text = draw_closed(is_paid=order.is_paid), _closed_text(t, order)
        outcome = await self._messenger.edit_photo(news.chat_id, message_id, picture, text, lane="talk")
        return Sent() if isinstance(outcome, Gone) else kept(outcome)

    async def _tell_receipt(
        self, news: Notification, order: Order, t: Translator, reader: Person | None
    ) -> DeliveryOutcome:
        """Silently, for that the rupiah were sent has just been told; and not to whom leaves that to the card."""
        if way_of(OrderNotification.SENT, reader.notices if reader else None) is Way.CARD:
            return Sent()
        drawn = await draw(self._receipts, t, order, _zone(reader), self._messenger.username)
        if drawn is None:
            return Sent()
        png, caption, keyboard = drawn.png, marked(news, t, drawn.caption), drawn.keyboard
        # A picture can wait; what others are told of their money can't.
        return kept(await self._messenger.send_photo(news.chat_id, png, caption, keyboard, lane="talk", silent=True))

    def _card(self, order: Order, t: Translator, reader: Person | None) -> Screen:
        return card.screen(t, order, self._clock.now(), _zone(reader), help_offered=self._help.is_offered)


def _closed_text(t: Translator, order: Order) -> Html:
    return t("pay.closed_paid" if order.is_paid else "pay.closed", line=format_order_line(t, order))


def _zone(reader: Person | None) -> ZoneInfo:
    return reader.zone if reader else PRESUMED

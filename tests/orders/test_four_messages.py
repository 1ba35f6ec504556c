"""Review, Pay, Paid and Sent: each is one message, however often it is edited, repeated or asked for again."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import pytest

from bot.infra.db.database import Database
from bot.infra.outbox.model import DeliveryOutcome, NotificationStatus, Queue, RetryLater, Sent, Undeliverable
from bot.infra.outbox.rendering import Renderers
from bot.infra.outbox.repository import OutboxRepository
from bot.infra.telegram.outbound.sender import Delivered, Gone, Invalid, Outcome, TryLater
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Keyboard
from bot.orders.messages import (
    OrderMessages,
    order_notifications,
    order_subject,
    queue_order_notifications,
    review_notifications,
)
from bot.orders.missed_messages import follow_ups
from bot.orders.notifications import OrderNotification
from bot.orders.order import Order, Phase
from bot.orders.preferences import DeliveryMode
from bot.orders.receipts.service import ReceiptService
from bot.orders.repository import OrderRepository
from bot.orders.screens import order_messages
from bot.orders.screens.payment import MAX_CAPTION, caption_length
from bot.settlement.model import OrderStep
from bot.staff.repository import AlarmRepository
from bot.staff.staff_chat import StaffChat, SupportContacts
from bot.users.readers import RenderContext, RenderContexts
from bot.users.repository import UserRepository
from tests.infra.builders import an_infra, as_stored
from tests.orders.builders import an_open_order, as_sent, no_ticket
from tests.screens import NOW
from tests.settlement.fake_settlement import MovedClock
from tests.texts import TRANSLATIONS, label, readable, says, text
from tests.users.builders import EMMA, a_user

PHRASE = "winter stair harp"
AGAIN = (OrderNotification.INVOICE, OrderNotification.INVOICE_TEXT, OrderNotification.REMOVE_INVOICE)
"""What is queued when a user asks for the QR code again."""

READER = Reader(TRANSLATIONS.get("en"), a_user(EMMA).zone, NOW)
FEWER = {topic: str(DeliveryMode.STATUS_ONLY) for topic in ("paid", "sent")}


@dataclass
class Shown:
    """A message in the chat."""

    text: str
    keyboard: Keyboard = ()
    has_picture: bool = False
    is_silent: bool = False
    edits: int = 0

    @property
    def labels(self) -> list[str]:
        return [button.label for row in self.keyboard for button in row]


@dataclass
class Telegram:
    """A fake Telegram that keeps the chat. `pictures` are the outcomes of the next pictures."""

    username = "kirim"
    chat: dict[int, Shown] = field(default_factory=dict)
    pictures: list[Outcome] = field(default_factory=list)
    edits: list[Outcome] = field(default_factory=list)
    deletions: list[Outcome] = field(default_factory=list)
    count: int = 0

    def _add(self, shown: Shown) -> Outcome:
        self.count += 1
        self.chat[self.count] = shown
        return Delivered(self.count)

    async def send_photo(
        self, _: int, photo: bytes, caption: str, keyboard: Keyboard = (), *, silent: bool = False, **__: Any
    ) -> Outcome:
        assert photo.startswith(b"\x89PNG")
        assert caption_length(caption) <= MAX_CAPTION
        if self.pictures:
            return self.pictures.pop(0)
        return self._add(Shown(caption, keyboard, has_picture=True, is_silent=silent))

    async def send_text(
        self, _: int, html: str, keyboard: Keyboard = (), *, silent: bool = False, **__: Any
    ) -> Outcome:
        return self._add(Shown(html, keyboard, is_silent=silent))

    async def edit_text(self, _: int, message_id: int, html: str, keyboard: Keyboard = (), **__: Any) -> Outcome:
        if self.edits:
            return self.edits.pop(0)
        shown = self.chat.get(message_id)
        if shown is None or shown.has_picture:
            return Gone()
        self.chat[message_id] = replace(shown, text=html, keyboard=keyboard, edits=shown.edits + 1)
        return Delivered(message_id)

    async def delete(self, _: int, message_id: int, **__: Any) -> Outcome:
        if self.deletions:
            return self.deletions.pop(0)
        return Gone() if self.chat.pop(message_id, None) is None else Delivered()


class Chat:
    """Emma's chat: an order of hers, and the outbox that sends its notifications one after the other."""

    def __init__(self, store: Database) -> None:
        self.store, self.telegram, self.clock = store, Telegram(), MovedClock()
        self.clock.at = NOW
        readers = RenderContexts(an_infra(store, self.clock, self.telegram))
        messages = OrderMessages(
            describe_ticket=no_ticket,
            contacts=SupportContacts(StaffChat(0, frozenset())),
            receipts=ReceiptService(store, self.clock),
        )
        self.sender: Renderers[RenderContext] = Renderers(readers.open, messages.renderers())

    async def begin(self, order: Order, **changes: object) -> Order:
        async with self.store.transaction() as tx:
            await UserRepository(tx).save(a_user(EMMA, phrase=PHRASE, **changes))
            await OrderRepository(tx).add(order)
        return order

    async def becomes(self, order: Order, **changes: Any) -> Order:
        async with self.store.transaction() as tx:
            saved = await OrderRepository(tx).save(replace(order, **changes))
        assert saved is not None
        return saved

    async def paid(self, order: Order) -> Order:
        return await self.becomes(order, step=OrderStep.PAID, paid_at=NOW, state="LN_INVOICE_PAID")

    async def tells(self, order: Order, *kinds: OrderNotification, mark: str = "") -> None:
        """Queue notifications as the tracker does, and send them."""
        async with self.store.transaction() as tx:
            if mark:
                await OutboxRepository(tx).add(order_notifications(order, kinds, self.clock.now(), mark))
            else:
                await queue_order_notifications(tx, order, kinds, self.clock.now())
        for outcome in await self.deliver(order):
            assert isinstance(outcome, Sent)

    async def deliver(self, order: Order) -> list[DeliveryOutcome]:
        """Make one attempt for each unsent notification, the oldest first."""
        outcomes = []
        async with self.store.reading() as tx:
            found = await OutboxRepository(tx).find_by_subject(order_subject(order))
        for row in found:
            if row.status is not NotificationStatus.WAITING:
                continue
            outcome = await self.sender.send(as_stored(row))
            outcomes.append(outcome)
            async with self.store.transaction() as tx:
                await OutboxRepository(tx).mark_sending([row.id], self.clock.now())
                if isinstance(outcome, Sent):
                    await OutboxRepository(tx).record_sent({row.id: outcome.message_id}, self.clock.now())
                elif isinstance(outcome, RetryLater):
                    await OutboxRepository(tx).postpone(row.id, self.clock.now(), maybe_sent=outcome.maybe_sent)
        return outcomes

    @property
    def shown(self) -> list[Shown]:
        return list(self.telegram.chat.values())


@pytest.fixture
def chat(sqlite_store: Database) -> Chat:
    return Chat(sqlite_store)


async def test_pay_is_one_picture_with_the_status_and_all_that_is_needed_to_pay(chat: Chat) -> None:
    order = await chat.begin(an_open_order())
    await chat.tells(order, OrderNotification.INVOICE)
    (pay,) = chat.shown
    parts = [text("orders.status_message.waiting"), PHRASE, str(order.bolt11)]
    assert pay.has_picture
    assert not pay.is_silent
    assert [each for each in parts if each in readable(pay.text)] == parts
    places = [readable(pay.text).index(part) for part in ("29,412 sats", *parts)]
    assert places == sorted(places), "the sum, the status, the phrase, the invoice"


async def test_paid_comes_first_with_sound_and_is_edited_until_the_receipt_comes(chat: Chat) -> None:
    order = await chat.begin(an_open_order())
    await chat.tells(order, OrderNotification.INVOICE)
    order = await chat.paid(order)
    await chat.tells(order, OrderNotification.PAID, OrderNotification.REMOVE_INVOICE, OrderNotification.EDIT_STATUS)
    (paid,) = chat.shown
    assert says(readable(paid.text), "orders.notification.paid")
    assert (paid.is_silent, paid.has_picture, paid.edits) == (False, False, 0)
    for state, step in (("LN_SWAP_PENDING", OrderStep.CONVERTING), ("IDR_SETTLED", OrderStep.SENDING)):
        order = await chat.becomes(order, state=state, step=step)
        await chat.tells(order, OrderNotification.EDIT_STATUS)
    (paid,) = chat.shown
    assert paid.edits == 2
    assert f"⏳ {text('orders.step.sending')}" in readable(paid.text)
    order = await chat.becomes(as_sent(order))
    await chat.tells(order, OrderNotification.SENT, OrderNotification.EDIT_STATUS)
    paid, sent = chat.shown
    assert (paid.edits, paid.labels) == (3, [])
    assert readable(paid.text) == "✅ ABC2345 · Rp500,000 → BCA ••••7890 · Sent", "the receipt says the rest"
    assert (sent.has_picture, sent.is_silent) == (True, False)
    assert sent.labels == [label(f"orders.button.{name}") for name in ("tell", "remind", "new")]
    assert PHRASE not in sent.text, "receipts are forwarded"
    assert {"Rp500,000", "BCA ••••7890", "ABC2345"} <= set(_parts(sent.text))


def _parts(html: str) -> Iterable[str]:
    return [part for part in ("Rp500,000", "BCA ••••7890", "ABC2345") if part in html]


async def test_who_chose_fewer_messages_gets_paid_in_silence_and_sees_it_become_sent(chat: Chat) -> None:
    order = await chat.begin(an_open_order(), notification_preferences=FEWER)
    await chat.tells(order, OrderNotification.INVOICE)
    order = await chat.paid(order)
    await chat.tells(order, OrderNotification.PAID, OrderNotification.REMOVE_INVOICE)
    order = await chat.becomes(as_sent(order))
    await chat.tells(order, OrderNotification.SENT, OrderNotification.EDIT_STATUS)
    (paid,) = chat.shown
    assert (paid.is_silent, paid.edits) == (True, 1)
    assert says(readable(paid.text), "orders.notification.sent_bank")
    assert paid.labels == [label("orders.button.resend"), label("orders.button.receipt")]


async def test_a_receipt_whose_picture_is_refused_is_text_at_once(chat: Chat) -> None:
    order = await chat.begin(as_sent(an_open_order()))
    chat.telegram.pictures = [Invalid("IMAGE_PROCESS_FAILED")]
    await chat.tells(order, OrderNotification.SENT)
    (sent,) = chat.shown
    assert not sent.has_picture


async def test_a_qr_code_that_was_asked_for_again_takes_the_place_of_the_first_and_is_removed_with_it(
    chat: Chat,
) -> None:
    order = await chat.begin(an_open_order(bolt11="lnbcrt1" + "q" * 1200))
    await chat.tells(order, OrderNotification.INVOICE, OrderNotification.INVOICE_TEXT)
    assert len(chat.shown) == 2
    await chat.tells(order, *AGAIN, mark="again.7")
    assert sorted(chat.telegram.chat) == [3, 4]
    assert all(shown.is_silent for shown in chat.shown)
    chat.telegram.chat[1] = Shown("the first, which could not be deleted", has_picture=True)
    order = await chat.paid(order)
    await chat.tells(order, OrderNotification.PAID, OrderNotification.REMOVE_INVOICE)
    (paid,) = chat.shown
    assert says(readable(paid.text), "orders.notification.paid")


async def test_a_first_qr_code_that_cannot_be_deleted_holds_up_no_payment_and_is_no_alarm(chat: Chat) -> None:
    order = await chat.begin(an_open_order())
    await chat.tells(order, OrderNotification.INVOICE)
    chat.telegram.deletions = [TryLater(0), Gone(is_too_old=True)]
    again = order_notifications(order, AGAIN, NOW, "again.7")
    assert {each.kind: each.queue for each in again}[OrderNotification.REMOVE_INVOICE] is Queue.EDITS
    async with chat.store.transaction() as tx:
        await OutboxRepository(tx).add(again)
    assert [type(outcome) for outcome in await chat.deliver(order)] == [Sent, Sent, RetryLater]
    assert [type(outcome) for outcome in await chat.deliver(order)] == [Sent]
    assert sorted(chat.telegram.chat) == [1, 2]
    assert "lnbcrt" in chat.telegram.chat[1].text, "an order that can be paid isn't called closed"
    async with chat.store.transaction() as tx:
        follow = follow_ups(frozenset())[OrderNotification.REMOVE_INVOICE]
        await follow(tx, again[-1], Undeliverable("24 tries failed"), NOW)
        assert await AlarmRepository(tx).find_open() == ()


async def test_no_qr_code_is_shown_again_that_can_no_longer_be_paid(chat: Chat) -> None:
    order = await chat.begin(an_open_order())
    chat.clock.at = NOW + timedelta(hours=2)
    await chat.tells(order, OrderNotification.INVOICE, mark="again.7")
    assert chat.shown == []


async def test_that_an_invoice_expired_is_not_said_after_its_payment(chat: Chat) -> None:
    order = await chat.paid(await chat.begin(an_open_order()))
    await chat.tells(order, OrderNotification.EXPIRED)
    assert chat.shown == []


REVIEW_MESSAGE = 40
OUTCOME_OF_PHASE = [
    (OrderNotification.CHECKING, Phase.UNKNOWN),
    (OrderNotification.UNRESOLVED, Phase.UNRESOLVED),
    (OrderNotification.REFUSED, Phase.REFUSED),
    (OrderNotification.NOT_SHOWN, Phase.ABANDONED),
    (OrderNotification.OUTSIDE_LIMITS, Phase.ABANDONED),
    (OrderNotification.SUPERSEDED, Phase.ABANDONED),
    (OrderNotification.DEPOSIT_TAKEN, Phase.ABANDONED),
]


async def confirmed(chat: Chat, phase: Phase) -> Order:
    """Return an order in this phase whose review is still in the chat."""
    order = await chat.begin(an_open_order(phase=phase, sats=None, idr=None, bolt11=None))
    chat.telegram.chat[REVIEW_MESSAGE] = Shown("the review")
    async with chat.store.transaction() as tx:
        await OutboxRepository(tx).add(review_notifications(order, REVIEW_MESSAGE, NOW))
    return order


@pytest.mark.parametrize(("kind", "phase"), OUTCOME_OF_PHASE)
async def test_what_became_of_a_confirmed_order_is_shown_in_its_review(
    chat: Chat, kind: OrderNotification, phase: Phase
) -> None:
    order = await confirmed(chat, phase)
    await chat.tells(order, kind)
    (review,) = chat.shown
    assert review.edits == 1
    assert order.reference in review.text
    expected = order_messages.show_notification(kind, READER, order, help_offered=False)
    assert (review.text, review.keyboard) == (expected.text, expected.keyboard)


LINE = "☑️ Rp500,000 → BCA ••••7890 · ABC2345"


async def test_one_line_is_left_of_a_review_once_the_invoice_is_there(chat: Chat) -> None:
    """Also of one that says that we look for the order."""
    order = await confirmed(chat, Phase.UNKNOWN)
    await chat.tells(order, OrderNotification.CHECKING)
    order = await chat.becomes(an_open_order(version=order.version))
    await chat.tells(order, OrderNotification.INVOICE, OrderNotification.EDIT_REVIEW)
    review, pay = chat.shown
    assert readable(review.text) == LINE
    assert review.edits == 2
    assert pay.has_picture


async def test_a_review_becomes_one_line_also_if_the_payment_was_faster_than_its_edit(chat: Chat) -> None:
    order = await confirmed(chat, Phase.INTENDED)
    async with chat.store.transaction() as tx:
        await OutboxRepository(tx).add(order_notifications(order, (OrderNotification.EDIT_REVIEW,), NOW))
    order = await chat.paid(await chat.becomes(an_open_order(version=order.version)))
    await chat.tells(order, OrderNotification.PAID)
    review, paid = chat.shown
    assert readable(review.text) == LINE
    assert says(readable(paid.text), "orders.notification.paid")


async def test_an_outcome_in_a_review_stays(chat: Chat) -> None:
    """The order was accepted too late, say: its outcome was shown before the edit was made."""
    order = await confirmed(chat, Phase.UNKNOWN)
    async with chat.store.transaction() as tx:
        await OutboxRepository(tx).add(order_notifications(order, (OrderNotification.EDIT_REVIEW,), NOW))
    order = await chat.becomes(order, phase=Phase.ABANDONED)
    await chat.tells(order, OrderNotification.SUPERSEDED)
    (review,) = chat.shown
    assert says(readable(review.text), "orders.notification.superseded")


async def test_a_failure_is_told_in_one_message_and_leaves_one_line_of_the_steps(chat: Chat) -> None:
    order = await chat.paid(await chat.begin(an_open_order()))
    await chat.tells(order, OrderNotification.PAID)
    order = await chat.becomes(order, state="FAILED", phase=Phase.DONE, ended_at=NOW)
    await chat.tells(order, OrderNotification.FAILED, OrderNotification.EDIT_STATUS)
    steps, failed = chat.shown
    assert readable(steps.text) == "❌ ABC2345 · Rp500,000 → BCA ••••7890 · Failed, payment received"
    assert steps.labels == []
    assert says(readable(failed.text), "orders.notification.failed_paid")

"""Messages about money wait for nothing but messages about money, and what is refused for good is no secret."""

import ast
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from sqlalchemy import text

from bot.broadcasts.model import Broadcast
from bot.broadcasts.service import _news as _of_broadcast
from bot.checkout.drafts import _lapse_news
from bot.infra.outbox.delivery import OutboxDelivery
from bot.infra.outbox.model import (
    EXTRA_TRIES,
    ChatMoved,
    Kind,
    Notification,
    NotificationStatus,
    Queue,
    RetryLater,
    Sent,
    Undeliverable,
)
from bot.infra.outbox.rendering import Renderers
from bot.infra.outbox.repository import OutboxRepository
from bot.infra.telegram.outbound.sender import Delivered, Gone, Invalid, Messenger, Outcome, TryLater
from bot.orders.missed_repository import MissedOrderRepository
from bot.orders.notifications import news_of, staff_news
from bot.orders.order import Order, OrderNotification
from bot.orders.refused_messages import hooks
from bot.orders.rendering import OrderRenderer
from bot.orders.repository import OrderRepository
from bot.rates.notifications import ALERT, DAILY
from bot.rates.notifications import _news as _rate_notification
from bot.staff.alarm_model import AlarmKind
from bot.staff.alarm_repository import AlarmRepository
from bot.staff.help import Help
from bot.staff.roles import StaffChat
from bot.support.staff_chat_hooks import _for
from bot.support.tickets.notifications import ToStaffChat, ToUser, marked, ticket_notification
from bot.support.user_data import _removal
from bot.users.model import Person
from bot.users.privacy import _farewell
from bot.users.readers import Readers
from bot.users.repository import UserRepository
from tests.architecture.every_screen import NOW, TRANSLATIONS, a_draft, an_order
from tests.orders.order_world import EMMA, OSCAR, House

BOT = Path(__file__).parents[2] / "bot"


def _waits() -> Notification:
    broadcast = Broadcast(id="0123456789", operator_id=OSCAR, created_at=NOW)
    return _of_broadcast(broadcast, OSCAR, (), NOW)


def telling(house: House) -> OutboxDelivery:
    return OutboxDelivery(house.store, house.ears, house.clock, after=hooks(frozenset({OSCAR})))


async def tells(house: House) -> None:
    while await house.delivery.start_due():
        await house.delivery.settle()


async def queue(house: House, *kinds: str) -> None:
    now = house.clock.now()
    rows = [
        Notification(
            chat_id=EMMA,
            subject="order:R2345AB",
            kind=kind,
            queue=Queue.EXTRA if kind == OrderNotification.RECEIPT else Queue.MONEY,
            due_at=now,
            created_at=now,
        )
        for kind in kinds
    ]
    async with house.sql.transaction() as tx:
        await OutboxRepository(tx).add(rows)


def test_each_kind_of_message_has_one_queue() -> None:
    order, (notice, *_) = an_order(), OrderNotification
    extra = {OrderNotification.RECEIPT, OrderNotification.TAKE_DOWN_PICTURE}
    assert {news.queue for news in news_of(order, extra, NOW)} == {Queue.EXTRA}
    assert {news.queue for news in news_of(order, set(OrderNotification) - extra, NOW)} == {Queue.MONEY}
    assert {news.queue for news in staff_news([OSCAR], notice, "order:ABC2345", NOW)} == {Queue.MONEY}
    about_rate = [_rate_notification(EMMA, "rate:1", kind, {}, NOW) for kind in (DAILY, ALERT)]
    assert {news.queue for news in about_rate} == {Queue.RATE}
    talk = [*ToStaffChat, *(kind for kind in ToUser if kind is not ToUser.OPENED)]
    assert {ticket_notification(EMMA, "T-22222", marked(kind, 1), NOW, {}).queue for kind in talk} == {Queue.EXTRA}
    assert ticket_notification(EMMA, "T-22222", ToUser.OPENED, NOW, {}).queue is Queue.MONEY
    assert _removal(OSCAR, "T-22222", [], NOW).queue is Queue.EXTRA
    assert {_for(OSCAR, replace(news, queue=queue), NOW).queue for news in about_rate for queue in Queue} == {*Queue}
    others = _farewell(Person(id=EMMA, created_at=NOW), NOW), _lapse_news(a_draft(), NOW), _waits()
    assert {news.queue for news in others} == {Queue.MONEY}


def test_the_queues_of_all_that_creates_messages_are_tested() -> None:
    creators = {
        str(file.relative_to(BOT))
        for file in BOT.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Notification"
    }
    assert creators == {
        "broadcasts/service.py",
        "checkout/drafts.py",
        "infra/outbox/repository.py",
        "orders/notifications.py",
        "rates/notifications.py",
        "support/staff_chat_hooks.py",
        "support/tickets/notifications.py",
        "users/privacy.py",
    }


@pytest.mark.parametrize("kind", ["card", "card_edit:7", "ticket_step:claimed.3"])
def test_a_kind_is_read_as_it_was_written(kind: str) -> None:
    assert str(Kind.parse(kind)) == kind
    assert Kind.parse(kind).name == kind.split(":", maxsplit=1)[0]


class FailingPictures:
    """Whoever asks for a receipt fails, and everything else arrives."""

    def __init__(self, house: House) -> None:
        self._house, self.tries = house, 0

    async def tell(self, news: Notification) -> Sent | RetryLater | Undeliverable:
        if news.kind == OrderNotification.RECEIPT:
            self.tries += 1
            return RetryLater(0)
        return await self._house.ears.tell(news)


async def test_a_receipt_that_keeps_failing_holds_up_no_money_and_ends(house: House) -> None:
    failing = FailingPictures(house)
    house.delivery = OutboxDelivery(house.store, failing, house.clock)
    await queue(house, OrderNotification.RECEIPT)
    await tells(house)
    await queue(house, OrderNotification.UNRESOLVED, OrderNotification.PAID)
    await tells(house)
    assert house.ears.kinds() == [OrderNotification.UNRESOLVED, OrderNotification.PAID]
    for _ in range(EXTRA_TRIES * 2):
        house.clock.passes(minutes=15)
        await tells(house)
    assert failing.tries == EXTRA_TRIES
    async with house.store.reading() as tx:
        (receipt,) = [
            news
            for news in await OutboxRepository(tx).of_subject("order:R2345AB")
            if news.kind == OrderNotification.RECEIPT
        ]
    assert receipt.status is NotificationStatus.UNDELIVERABLE


async def test_a_message_about_money_is_tried_for_ever(house: House) -> None:
    house.ears.outcomes[EMMA].extend([RetryLater(0)] * 60)
    await queue(house, OrderNotification.PAID)
    for _ in range(61):
        await tells(house)
        house.clock.passes(minutes=15)
    assert house.ears.kinds() == [OrderNotification.PAID]


@pytest.mark.parametrize("kind", [OrderNotification.INVOICE, OrderNotification.PAID, OrderNotification.FAILED])
async def test_a_message_about_money_that_telegram_refuses_is_an_alarm_and_is_shown_at_the_next_visit(
    house: House, kind: OrderNotification
) -> None:
    async with house.sql.transaction() as tx:
        await UserRepository(tx).save(Person(id=EMMA, created_at=house.clock.now()))
    order = await house.place()
    await house.tells()
    house.delivery = telling(house)
    house.ears.outcomes[EMMA].append(Undeliverable("Bad Request: message is too long"))
    async with house.sql.transaction() as tx:
        (piece,) = news_of(order, (kind,), house.clock.now())
        await OutboxRepository(tx).add([replace(piece, kind=f"{kind}:again")])
    await tells(house)
    async with house.store.reading() as tx:
        alarms = await AlarmRepository(tx).open()
        missed = await MissedOrderRepository(tx).of_person(EMMA)
    assert [(alarm.kind, alarm.subject) for alarm in alarms] == [(AlarmKind.MESSAGE_REFUSED, order.reference)]
    assert [each.reference for each in missed] == [order.reference]
    assert house.ears.kinds(OSCAR)[-1] == "alarm_raised"


async def test_a_user_who_blocked_the_bot_is_no_alarm(house: House) -> None:
    house.delivery = telling(house)
    house.ears.outcomes[EMMA].append(Undeliverable("blocked", whole_chat=True))
    await queue(house, OrderNotification.PAID)
    await tells(house)
    async with house.store.reading() as tx:
        assert await AlarmRepository(tx).open() == ()


async def test_an_invoice_without_its_picture_is_an_alarm(house: House) -> None:
    house.delivery = telling(house)
    house.ears.outcomes[EMMA].append(Sent(7, without_picture=True))
    await queue(house, OrderNotification.PAID)
    await tells(house)
    async with house.store.reading() as tx:
        assert [alarm.kind for alarm in await AlarmRepository(tx).open()] == [AlarmKind.PICTURE_REFUSED]


def teller(house: House, telegram: object) -> Renderers[Person | None]:
    order_renderer = OrderRenderer(
        store=house.store,
        messenger=cast("Messenger", telegram),
        clock=house.clock,
        help_desk=Help(StaffChat(0, frozenset())),
        receipts=cast("Any", None),
    )
    return Renderers(Readers(house.store, TRANSLATIONS, "en").get, order_renderer.renderers())


class Sending:
    """A Telegram that keeps what it is sent."""

    username = "kirim"

    def __init__(self) -> None:
        self.texts: list[str] = []

    async def send_text(self, *given: Any, **_: Any) -> Outcome:
        self.texts.append(given[1])
        return Delivered(len(self.texts))


async def test_a_user_whose_phrase_does_not_open_still_hears_of_their_money(house: House) -> None:
    async with house.sql.transaction() as tx:
        await UserRepository(tx).save(Person(id=EMMA, created_at=house.clock.now(), phrase="winter stair harp"))
    async with house.sql._writer.begin() as connection:
        await connection.execute(text("UPDATE users SET phrase = 's1.no.key'"))
    order, telegram = await house.place(), Sending()
    (news,) = news_of(order, (OrderNotification.PAID,), house.clock.now())
    assert await teller(house, telegram).tell(news) == Sent(1)
    assert order.reference in telegram.texts[0]
    house.delivery = telling(house)
    house.ears.outcomes[EMMA].append(Undeliverable("Bad Request: message is too long"))
    await tells(house)
    async with house.store.reading() as tx:
        assert [alarm.kind for alarm in await AlarmRepository(tx).open()] == [AlarmKind.MESSAGE_REFUSED]


class OldMessages:
    """A Telegram where nothing can be deleted any more. `photos` are the messages that have a picture.

    `new_pictures` is what becomes of a picture that is to replace one.
    """

    username = "kirim"

    def __init__(self, photos: set[int], *, are_old: bool = True, new_pictures: Outcome | None = None) -> None:
        self.photos, self.are_old, self.new_pictures = photos, are_old, new_pictures or Delivered()
        self.edited: dict[int, str] = {}
        self.replaced: set[int] = set()

    async def delete(self, *_: Any, **__: Any) -> Outcome:
        return Gone(is_too_old=self.are_old)

    async def edit_photo(self, *given: Any, **_: Any) -> Outcome:
        assert given[1] in self.photos
        if isinstance(self.new_pictures, Delivered):
            self.replaced.add(given[1])
        return self.new_pictures

    async def edit_caption(self, *given: Any, **_: Any) -> Outcome:
        if given[1] not in self.photos:
            return Gone()
        self.edited[given[1]] = given[2]
        return Delivered(given[1])

    async def edit_text(self, *given: Any, **_: Any) -> Outcome:
        if given[1] in self.photos:
            return Gone()
        self.edited[given[1]] = given[2]
        return Delivered(given[1])


async def old_invoice(house: House, *, paid: bool = False) -> Order:
    """An order whose invoice is message 41, with its text in message 40."""
    order = await house.place()
    async with house.sql.transaction() as tx:
        kept = await OrderRepository(tx).save(replace(order, paid_at=house.clock.now() if paid else None))
        assert kept is not None
        await OutboxRepository(tx).add(
            [
                replace(each, message_id=40)
                for each in news_of(kept, (OrderNotification.INVOICE_TEXT,), house.clock.now())
            ]
        )
        await OutboxRepository(tx).replace_message(f"order:{order.reference}", OrderNotification.INVOICE, EMMA, 41)
    return kept


async def takes_down(
    house: House, order: Order, telegram: OldMessages, notice: OrderNotification = OrderNotification.TAKE_DOWN
) -> Sent | RetryLater | Undeliverable | ChatMoved:
    (news,) = news_of(order, (notice,), house.clock.now())
    return await teller(house, telegram).tell(news)


async def pictures_queued(house: House, order: Order) -> list[Queue]:
    async with house.store.reading() as tx:
        queued = await OutboxRepository(tx).of_subject(f"order:{order.reference}")
    return [news.queue for news in queued if news.kind == OrderNotification.TAKE_DOWN_PICTURE]


@pytest.mark.parametrize(("paid", "are_old"), [(False, True), (True, True), (True, False)])
async def test_an_invoice_that_cannot_be_deleted_any_more_is_edited_with_its_text(
    house: House,
    paid: bool,  # noqa: FBT001
    are_old: bool,  # noqa: FBT001
) -> None:
    order = await old_invoice(house, paid=paid)
    telegram = OldMessages({41}, are_old=are_old)
    assert await takes_down(house, order, telegram) == Sent()
    assert set(telegram.edited) == ({40, 41} if are_old else set()), "what is gone needs no edit"
    assert all(order.reference in text and "lnbcrt" not in text for text in telegram.edited.values())
    assert await pictures_queued(house, order) == ([Queue.EXTRA] if are_old else [])


async def test_the_qr_code_of_an_invoice_that_cannot_be_deleted_any_more_is_replaced(house: House) -> None:
    order = await old_invoice(house)
    telegram = OldMessages({41})
    assert await takes_down(house, order, telegram, OrderNotification.TAKE_DOWN_PICTURE) == Sent()
    assert telegram.replaced == {41}


async def test_an_old_invoice_whose_new_picture_keeps_failing_holds_up_nothing(house: House) -> None:
    order = await old_invoice(house, paid=True)
    telegram = OldMessages({41}, new_pictures=TryLater(3))
    assert await takes_down(house, order, telegram) == Sent(), "that the payment has arrived comes right behind it"
    assert isinstance(await takes_down(house, order, telegram, OrderNotification.TAKE_DOWN_PICTURE), RetryLater)


async def test_an_old_invoice_whose_new_picture_is_refused_loses_its_text_and_buttons(house: House) -> None:
    order = await old_invoice(house)
    telegram = OldMessages({41}, new_pictures=Invalid("IMAGE_PROCESS_FAILED"))
    assert await takes_down(house, order, telegram) == Sent()
    assert set(telegram.edited) == {40, 41}


async def test_a_receipt_comes_after_the_message_that_the_rupiah_were_sent(house: House) -> None:
    house.ears.outcomes[EMMA].append(RetryLater(30))
    await queue(house, OrderNotification.SENT, OrderNotification.RECEIPT)
    await tells(house)
    assert house.ears.kinds() == []
    house.clock.passes(seconds=30)
    await tells(house)
    await tells(house)
    assert house.ears.kinds() == [OrderNotification.SENT, OrderNotification.RECEIPT]

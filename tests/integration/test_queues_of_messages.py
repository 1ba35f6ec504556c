"""Messages about money wait for nothing but messages about money, and what is refused for good is no secret."""

from dataclasses import replace
from typing import Any, cast

import pytest

from bot.actions.help import Help
from bot.actions.news import EXTRA_TRIES, news_of, queue_of
from bot.actions.outbox import OutboxDelivery
from bot.actions.ports import AlarmKind, News, NewsStatus, Person, Queue, TellLater, Told, Untellable
from bot.actions.refused_messages import hooks
from bot.actions.support_room import SupportRoom
from bot.actions.ticket_news import ToPerson, ToRoom
from bot.chat.messenger import Delivered, Gone, Messenger, Outcome
from bot.chat.notices import ChatTeller
from bot.domain.order import Notice
from tests.integration.order_world import EMMA, OSCAR, House
from tests.unit.every_screen import TRANSLATIONS
from tests.unit.fake_settlement import FakeSettlement


def telling(house: House) -> OutboxDelivery:
    return OutboxDelivery(house.store, house.ears, house.clock, after=hooks(frozenset({OSCAR})))


async def tells(house: House) -> None:
    while await house.delivery.start_due():
        await house.delivery.settle()


async def queue(house: House, *kinds: str) -> None:
    now = house.clock.now()
    rows = [News(chat_id=EMMA, subject="order:R2345AB", kind=kind, due_at=now, created_at=now) for kind in kinds]
    async with house.sql.transaction() as tx:
        await tx.outbox.add(rows)


def test_each_kind_of_message_has_one_queue() -> None:
    assert queue_of("order:ABC2345", Notice.RECEIPT) is Queue.EXTRA
    assert queue_of("rate:1", "daily") is Queue.RATE
    money = {notice for notice in Notice if notice is not Notice.RECEIPT}
    assert {queue_of("order:ABC2345", notice) for notice in money} == {Queue.MONEY}
    talk = [*ToRoom, *(kind for kind in ToPerson if kind is not ToPerson.OPENED)]
    assert {queue_of("ticket:T-22222", f"{kind}:1") for kind in talk} == {Queue.EXTRA}
    assert queue_of("ticket:T-22222", ToPerson.OPENED) is Queue.MONEY


class FailingPictures:
    """Whoever asks for a receipt fails, and everything else arrives."""

    def __init__(self, house: House) -> None:
        self._house, self.tries = house, 0

    async def tell(self, news: News) -> Told | TellLater | Untellable:
        if news.kind == Notice.RECEIPT:
            self.tries += 1
            return TellLater(0)
        return await self._house.ears.tell(news)


async def test_a_receipt_that_keeps_failing_holds_up_no_money_and_ends(house: House) -> None:
    failing = FailingPictures(house)
    house.delivery = OutboxDelivery(house.store, failing, house.clock)
    await queue(house, Notice.RECEIPT)
    await tells(house)
    await queue(house, Notice.UNRESOLVED, Notice.PAID)
    await tells(house)
    assert house.ears.kinds() == [Notice.UNRESOLVED, Notice.PAID]
    for _ in range(EXTRA_TRIES * 2):
        house.clock.passes(minutes=15)
        await tells(house)
    assert failing.tries == EXTRA_TRIES
    async with house.store.reading() as tx:
        (receipt,) = [news for news in await tx.outbox.of_subject("order:R2345AB") if news.kind == Notice.RECEIPT]
    assert receipt.status is NewsStatus.UNDELIVERABLE


async def test_a_message_about_money_is_tried_for_ever(house: House) -> None:
    house.ears.outcomes[EMMA].extend([TellLater(0)] * 60)
    await queue(house, Notice.PAID)
    for _ in range(61):
        await tells(house)
        house.clock.passes(minutes=15)
    assert house.ears.kinds() == [Notice.PAID]


@pytest.mark.parametrize("kind", [Notice.INVOICE, Notice.PAID, Notice.FAILED])
async def test_a_message_about_money_that_telegram_refuses_is_an_alarm_and_is_shown_at_the_next_visit(
    house: House, kind: Notice
) -> None:
    async with house.sql.transaction() as tx:
        await tx.people.save(Person(id=EMMA, created_at=house.clock.now()))
    order = await house.place()
    await house.tells()
    house.delivery = telling(house)
    house.ears.outcomes[EMMA].append(Untellable("Bad Request: message is too long"))
    async with house.sql.transaction() as tx:
        (piece,) = news_of(order, (kind,), house.clock.now())
        await tx.outbox.add([replace(piece, kind=f"{kind}:again")])
    await tells(house)
    async with house.store.reading() as tx:
        alarms = await tx.alarms.open()
        emma = await tx.people.get(EMMA)
    assert [(alarm.kind, alarm.subject) for alarm in alarms] == [(AlarmKind.MESSAGE_REFUSED, order.reference)]
    assert emma is not None
    assert emma.missed == order.reference
    assert house.ears.kinds(OSCAR)[-1] == "alarm_raised"


async def test_a_user_who_blocked_the_bot_is_no_alarm(house: House) -> None:
    house.delivery = telling(house)
    house.ears.outcomes[EMMA].append(Untellable("blocked", whole_chat=True))
    await queue(house, Notice.PAID)
    await tells(house)
    async with house.store.reading() as tx:
        assert await tx.alarms.open() == ()


async def test_an_invoice_without_its_picture_is_an_alarm(house: House) -> None:
    house.delivery = telling(house)
    house.ears.outcomes[EMMA].append(Told(7, without_picture=True))
    await queue(house, Notice.PAID)
    await tells(house)
    async with house.store.reading() as tx:
        assert [alarm.kind for alarm in await tx.alarms.open()] == [AlarmKind.PICTURE_REFUSED]


class OldMessages:
    """A Telegram where nothing can be deleted any more. `photos` are the messages that have a picture."""

    username = "kirim"

    def __init__(self, photos: set[int], *, are_old: bool = True) -> None:
        self.photos, self.are_old = photos, are_old
        self.edited: dict[int, str] = {}

    async def delete(self, *_: Any, **__: Any) -> Outcome:
        return Gone(is_too_old=self.are_old)

    async def edit_photo(self, *given: Any, **_: Any) -> Outcome:
        if given[1] not in self.photos:
            return Gone()
        self.edited[given[1]] = given[3]
        return Delivered(given[1])

    async def edit_text(self, *given: Any, **_: Any) -> Outcome:
        self.edited[given[1]] = given[2]
        return Delivered(given[1])


@pytest.mark.parametrize(("paid", "are_old"), [(False, True), (True, True), (True, False)])
async def test_an_invoice_that_cannot_be_deleted_any_more_is_edited_with_its_text(
    file: str,
    service: FakeSettlement,
    paid: bool,  # noqa: FBT001
    are_old: bool,  # noqa: FBT001
) -> None:
    house = House(file, service)
    order = await house.place()
    async with house.sql.transaction() as tx:
        kept = await tx.orders.save(replace(order, paid_at=house.clock.now() if paid else None))
        assert kept is not None
        now = house.clock.now()
        rows = [
            replace(each, message_id=40 + place)
            for place, each in enumerate(news_of(kept, (Notice.INVOICE_TEXT,), now))
        ]
        await tx.outbox.add(rows)
        await tx.outbox.replace_message(f"order:{order.reference}", Notice.INVOICE, EMMA, 41)
    telegram = OldMessages({41}, are_old=are_old)
    teller = ChatTeller(
        store=house.store,
        messenger=cast("Messenger", telegram),
        translations=TRANSLATIONS,
        clock=house.clock,
        help_desk=Help(SupportRoom(0, frozenset())),
        receipts=cast("Any", None),
        default_locale="en",
    )
    (news,) = news_of(kept, (Notice.TAKE_DOWN,), now)
    assert await teller.tell(news) == Told()
    assert set(telegram.edited) == ({40, 41} if are_old else set()), "what is gone needs no edit"
    assert all(order.reference in text and "lnbcrt" not in text for text in telegram.edited.values())
    await house.leave()


async def test_a_receipt_comes_after_the_message_that_the_rupiah_were_sent(house: House) -> None:
    house.ears.outcomes[EMMA].append(TellLater(30))
    await queue(house, Notice.SENT, Notice.RECEIPT)
    await tells(house)
    assert house.ears.kinds() == []
    house.clock.passes(seconds=30)
    await tells(house)
    await tells(house)
    assert house.ears.kinds() == [Notice.SENT, Notice.RECEIPT]

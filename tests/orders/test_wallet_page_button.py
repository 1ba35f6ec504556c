"""The button to the payment page is under every invoice, and never prevents one from being sent."""

from dataclasses import replace
from typing import Any, cast

import pytest

from bot.infra.db.database import Database
from bot.infra.outbox.model import RetryLater, Sent, Undeliverable
from bot.infra.outbox.rendering import Renderers
from bot.infra.telegram.outbound.sender import Delivered, Invalid, Outcome
from bot.infra.telegram.outcomes import SlowDown, Unanswered, Unsent, to_outcome
from bot.infra.telegram.ui.screen import Keyboard
from bot.orders.messages import OrderMessages, order_notifications
from bot.orders.notifications import OrderNotification
from bot.orders.order import Order
from bot.orders.repository import OrderRepository
from bot.staff.staff_chat import StaffChat, SupportContacts
from bot.users.readers import RenderContext, RenderContexts
from tests.infra.builders import an_infra, as_stored
from tests.orders.builders import INVOICE, a_deposit_order, an_open_order, no_ticket
from tests.screens import NOW
from tests.settlement.fake_settlement import MovedClock
from tests.texts import label

TOKEN = "abcdefghijklmnopqrstuvwxyz_-0123"
URL = f"https://pay.example/p/{TOKEN}?l=en"


class Telegram:
    """A fake Telegram that keeps messages, and can reject those with an address in a button."""

    def __init__(self, *, takes_addresses: bool = True, takes_photos: bool = True, takes_texts: bool = True) -> None:
        self.takes_addresses, self.takes_photos, self.takes_texts = takes_addresses, takes_photos, takes_texts
        self.photos: list[Keyboard] = []
        self.texts: list[str] = []
        self.keyboards: list[Keyboard] = []

    async def send_photo(self, *given: Any, **_: Any) -> Outcome:
        keyboard: Keyboard = given[3]
        has_address = any(button.url for row in keyboard for button in row)
        if not self.takes_photos or (has_address and not self.takes_addresses):
            return Invalid("BUTTON_URL_INVALID")
        self.photos.append(keyboard)
        return Delivered(len(self.photos))

    async def send_text(self, *given: Any, **_: Any) -> Outcome:
        if not self.takes_texts:
            return Invalid("MESSAGE_INVALID")
        self.texts.append(given[1])
        self.keyboards.append(given[2])
        return Delivered(100)


async def send_notification(
    store: Database,
    telegram: Telegram,
    order: Order,
    public_url: str = "https://pay.example",
    *,
    notice: OrderNotification = OrderNotification.INVOICE,
    attempts: int = 0,
) -> object:
    async with store.transaction() as tx:
        await OrderRepository(tx).add(order)
    (notification,) = order_notifications(order, (notice,), NOW)
    return await sender_of(store, telegram, public_url).send(as_stored(replace(notification, attempts=attempts)))


def messages_of(public_url: str = "https://pay.example") -> OrderMessages:
    contacts = SupportContacts(StaffChat(0, frozenset()))
    return OrderMessages(
        describe_ticket=no_ticket, contacts=contacts, receipts=cast("Any", None), public_url=public_url
    )


def renderers_of(store: Database, telegram: object, messages: OrderMessages) -> Renderers[RenderContext]:
    clock = MovedClock()
    clock.at = NOW
    readers = RenderContexts(an_infra(store, clock, telegram))
    return Renderers(readers.open, messages.renderers())


def sender_of(store: Database, telegram: object, public_url: str = "https://pay.example") -> Renderers[RenderContext]:
    """Return the sender of notifications with this Telegram."""
    return renderers_of(store, telegram, messages_of(public_url))


def labels(keyboard: Keyboard) -> list[str]:
    return [button.url or button.label for row in keyboard for button in row]


async def test_every_kind_of_invoice_has_the_button(sqlite_store: Database) -> None:
    telegram = Telegram()
    long_one = an_open_order(
        reference="R1AAAAA", draft_id="1", service_id="1", bolt11=INVOICE + "q" * 2000, page_token=TOKEN
    )
    await send_notification(sqlite_store, telegram, long_one)
    assert labels(telegram.photos[0]) == [URL]
    assert telegram.texts == []
    await send_notification(sqlite_store, telegram, long_one, notice=OrderNotification.INVOICE_TEXT)
    assert INVOICE in telegram.texts[0]


async def test_the_buttons_of_a_deposit_stay(sqlite_store: Database) -> None:
    telegram = Telegram()
    await send_notification(sqlite_store, telegram, replace(a_deposit_order("cbbtc"), page_token=TOKEN))
    buttons = ("orders.pay.copy_address", "orders.pay.copy_amount", "orders.button.refresh")
    assert labels(telegram.photos[0]) == [URL, *map(label, buttons)]


async def test_without_a_public_address_there_is_none(sqlite_store: Database) -> None:
    telegram = Telegram()
    await send_notification(sqlite_store, telegram, an_open_order(page_token=TOKEN), public_url="")
    assert telegram.photos == [()]


async def test_an_order_from_before_there_were_pages_has_none(sqlite_store: Database) -> None:
    telegram = Telegram()
    await send_notification(sqlite_store, telegram, an_open_order(page_token=None))
    assert telegram.photos == [()]


async def test_an_address_that_telegram_refuses_costs_nobody_the_invoice(sqlite_store: Database) -> None:
    telegram = Telegram(takes_addresses=False)
    assert isinstance(await send_notification(sqlite_store, telegram, an_open_order(page_token=TOKEN)), Sent)
    assert telegram.photos == [()]


async def test_an_invoice_whose_picture_is_refused_is_sent_as_text_with_the_link_to_its_page(
    sqlite_store: Database,
) -> None:
    telegram = Telegram(takes_photos=False)
    assert await send_notification(sqlite_store, telegram, an_open_order(page_token=TOKEN)) == Sent(
        100, without_picture=True
    )
    assert INVOICE in telegram.texts[0]
    assert labels(telegram.keyboards[0]) == [URL]


async def test_an_invoice_whose_picture_failed_twice_is_sent_as_text(sqlite_store: Database) -> None:
    telegram = Telegram()
    assert await send_notification(sqlite_store, telegram, an_open_order(page_token=TOKEN), attempts=1) == Sent(1)
    order = an_open_order(reference="R2AAAAA", draft_id="2", service_id="2", page_token="other" + TOKEN[5:])
    assert await send_notification(sqlite_store, telegram, order, attempts=2) == Sent(100, without_picture=True)
    assert len(telegram.photos) == 1


class ScriptedTelegram(Telegram):
    """A fake Telegram with the results of the next pictures."""

    def __init__(self, *outcomes: Outcome) -> None:
        super().__init__()
        self.outcomes = iter(outcomes)

    async def send_photo(self, *_: Any, **__: Any) -> Outcome:
        return next(self.outcomes)


@pytest.mark.parametrize("unsent", [to_outcome(SlowDown(7)), to_outcome(Unsent("no connection"))])
async def test_an_attempt_that_sent_nothing_is_no_failure_of_the_picture(
    sqlite_store: Database, unsent: Outcome
) -> None:
    failed = to_outcome(Unanswered("no answer"))
    sender = sender_of(sqlite_store, ScriptedTelegram(unsent, unsent, failed, unsent, failed))
    order = an_open_order(page_token=TOKEN)
    async with sqlite_store.transaction() as tx:
        await OrderRepository(tx).add(order)
    (notification,) = order_notifications(order, (OrderNotification.INVOICE,), NOW)
    for attempts in range(5):
        assert isinstance(await sender.send(as_stored(replace(notification, id=1, attempts=attempts))), RetryLater)
    assert await sender.send(as_stored(replace(notification, id=1, attempts=5))) == Sent(100, without_picture=True)


async def test_an_invoice_is_sent_as_text_where_only_pictures_are_slowed_down(sqlite_store: Database) -> None:
    slowed_down, long = to_outcome(SlowDown(7)), to_outcome(SlowDown(3600))
    for outcomes in ([slowed_down] * 4, [long] * 2):
        telegram = ScriptedTelegram(*outcomes)
        sender = sender_of(sqlite_store, telegram)
        order = an_open_order(
            reference=f"R23456{len(outcomes)}", draft_id=str(outcomes), page_token=None, service_id=None
        )
        async with sqlite_store.transaction() as tx:
            await OrderRepository(tx).add(order)
        (notification,) = order_notifications(order, (OrderNotification.INVOICE,), NOW)
        results = [
            await sender.send(as_stored(replace(notification, id=1, attempts=attempts)))
            for attempts in range(len(outcomes) + (outcomes[0] is long))
        ]
        assert isinstance(results[-1], Sent)
        assert results[-1].without_picture
        assert all(isinstance(result, RetryLater) for result in results[:-1])


class TelegramWithoutConnection(ScriptedTelegram):
    """A fake Telegram that can't be reached for some attempts."""

    async def send_text(self, *_: Any, **__: Any) -> Outcome:
        return to_outcome(Unsent("no connection"))


async def test_after_an_outage_an_invoice_still_has_its_picture(sqlite_store: Database) -> None:
    telegram = TelegramWithoutConnection(*[to_outcome(Unsent("no connection"))] * 30, Delivered(1))
    sender, order = sender_of(sqlite_store, telegram), an_open_order(page_token=TOKEN)
    async with sqlite_store.transaction() as tx:
        await OrderRepository(tx).add(order)
    (notification,) = order_notifications(order, (OrderNotification.INVOICE,), NOW)
    for attempts in range(30):
        await sender.send(as_stored(replace(notification, id=1, attempts=attempts)))
    assert await sender.send(as_stored(replace(notification, id=1, attempts=30))) == Sent(1)


async def test_attempts_that_sent_nothing_are_not_counted_without_end(
    sqlite_store: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.orders.messages.MAX_UNSENT_COUNTED", 3)
    messages = messages_of()
    sender = renderers_of(sqlite_store, ScriptedTelegram(*[to_outcome(SlowDown(7))] * 5, Delivered(1)), messages)
    order = an_open_order(page_token=TOKEN)
    async with sqlite_store.transaction() as tx:
        await OrderRepository(tx).add(order)
    (notification,) = order_notifications(order, (OrderNotification.INVOICE,), NOW)
    for number in range(5):
        await sender.send(as_stored(replace(notification, id=number)))
    assert sorted(messages._unsent) == [2, 3, 4]
    await sender.send(as_stored(replace(notification, id=4)))
    assert sorted(messages._unsent) == [2, 3]


async def test_an_invoice_that_is_refused_as_picture_and_as_text_is_refused(sqlite_store: Database) -> None:
    telegram = Telegram(takes_photos=False, takes_texts=False)
    assert isinstance(await send_notification(sqlite_store, telegram, an_open_order(page_token=TOKEN)), Undeliverable)


async def test_an_invoice_that_fits_under_its_picture_has_no_text_of_its_own(sqlite_store: Database) -> None:
    telegram = Telegram()
    assert (
        await send_notification(
            sqlite_store, telegram, an_open_order(page_token=TOKEN), notice=OrderNotification.INVOICE_TEXT
        )
        == Sent()
    )
    assert telegram.texts == []

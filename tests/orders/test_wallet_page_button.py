"""The button to the payment page is under every invoice, and never prevents one from being sent."""

from dataclasses import replace
from typing import Any, cast

from bot.infra.db.database import Database
from bot.infra.outbox.model import Sent
from bot.infra.outbox.rendering import Renderers
from bot.infra.telegram.outbound.sender import Delivered, Invalid, Outcome
from bot.infra.telegram.ui.screen import Keyboard
from bot.orders.messages import OrderMessages, order_notifications
from bot.orders.notifications import OrderNotification
from bot.orders.order import Order
from bot.orders.repository import OrderRepository
from bot.staff.staff_chat import StaffChat, SupportContacts
from bot.users.readers import RenderContext, RenderContexts
from tests.infra.builders import an_infra, as_stored
from tests.orders.builders import INVOICE, an_open_order, no_ticket
from tests.screens import NOW
from tests.settlement.fake_settlement import MovedClock

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


async def test_without_a_public_address_there_is_none(sqlite_store: Database) -> None:
    telegram = Telegram()
    await send_notification(sqlite_store, telegram, an_open_order(page_token=TOKEN), public_url="")
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

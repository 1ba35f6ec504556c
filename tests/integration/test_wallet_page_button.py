"""The button to the wallet page as Telegram gets it: under every invoice, and never in its way."""

from dataclasses import replace
from typing import Any, cast

from bot.actions.help import Help
from bot.actions.news import news_of
from bot.actions.ports import Told, Untellable
from bot.actions.support_room import SupportRoom
from bot.chat.messenger import Delivered, Invalid, Messenger, Outcome
from bot.chat.notices import ChatTeller
from bot.chat.screen import Keyboard
from bot.domain.order import Notice, Order
from bot.store.store import SqlStore
from tests.texts import label
from tests.unit.every_screen import INVOICE, NOW, TRANSLATIONS, a_deposit, an_order
from tests.unit.fake_settlement import MovedClock

TOKEN = "abcdefghijklmnopqrstuvwxyz_-0123"
URL = f"https://pay.example/p/{TOKEN}?l=en"


class Telegram:
    """Takes messages, or refuses those with an address in a button."""

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


async def told(
    store: SqlStore,
    telegram: Telegram,
    order: Order,
    public_url: str = "https://pay.example",
    *,
    notice: Notice = Notice.INVOICE,
    attempts: int = 0,
) -> object:
    clock = MovedClock()
    clock.at = NOW
    teller = ChatTeller(
        store=store,
        messenger=cast("Messenger", telegram),
        translations=TRANSLATIONS,
        clock=clock,
        help_desk=Help(SupportRoom(0, frozenset())),
        receipts=cast("Any", None),
        default_locale="en",
        public_url=public_url,
    )
    async with store.transaction() as tx:
        await tx.orders.add(order)
    (news,) = news_of(order, (notice,), NOW)
    return await teller.tell(replace(news, attempts=attempts))


def labels(keyboard: Keyboard) -> list[str]:
    return [button.url or button.label for row in keyboard for button in row]


async def test_every_kind_of_invoice_has_the_button(store: SqlStore) -> None:
    telegram = Telegram()
    long_one = an_order(reference="R1", draft_id="1", service_id="1", bolt11=INVOICE + "q" * 2000, page_token=TOKEN)
    await told(store, telegram, long_one)
    assert labels(telegram.photos[0]) == [URL]
    assert telegram.texts == []
    await told(store, telegram, long_one, notice=Notice.INVOICE_TEXT)
    assert INVOICE in telegram.texts[0]


async def test_the_buttons_of_a_deposit_stay(store: SqlStore) -> None:
    telegram = Telegram()
    await told(store, telegram, replace(a_deposit("cbbtc"), page_token=TOKEN))
    assert labels(telegram.photos[0]) == [URL, label("pay.copy_address"), label("pay.copy_amount")]


async def test_without_a_public_address_there_is_none(store: SqlStore) -> None:
    telegram = Telegram()
    await told(store, telegram, an_order(page_token=TOKEN), public_url="")
    assert telegram.photos == [()]


async def test_an_order_from_before_there_were_pages_has_none(store: SqlStore) -> None:
    telegram = Telegram()
    await told(store, telegram, an_order(page_token=None))
    assert telegram.photos == [()]


async def test_an_address_that_telegram_refuses_costs_nobody_the_invoice(store: SqlStore) -> None:
    telegram = Telegram(takes_addresses=False)
    assert isinstance(await told(store, telegram, an_order(page_token=TOKEN)), Told)
    assert telegram.photos == [()]


async def test_an_invoice_whose_picture_is_refused_is_sent_as_text_with_the_link_to_its_page(store: SqlStore) -> None:
    telegram = Telegram(takes_photos=False)
    assert await told(store, telegram, an_order(page_token=TOKEN)) == Told(100, without_picture=True)
    assert INVOICE in telegram.texts[0]
    assert labels(telegram.keyboards[0]) == [URL]


async def test_an_invoice_whose_picture_failed_twice_is_sent_as_text(store: SqlStore) -> None:
    telegram = Telegram()
    assert await told(store, telegram, an_order(page_token=TOKEN), attempts=1) == Told(1)
    order = an_order(reference="R2", draft_id="2", service_id="2", page_token="other" + TOKEN[5:])
    assert await told(store, telegram, order, attempts=2) == Told(100, without_picture=True)
    assert len(telegram.photos) == 1


async def test_an_invoice_that_is_refused_as_picture_and_as_text_is_refused(store: SqlStore) -> None:
    telegram = Telegram(takes_photos=False, takes_texts=False)
    assert isinstance(await told(store, telegram, an_order(page_token=TOKEN)), Untellable)


async def test_an_invoice_that_fits_under_its_picture_has_no_text_of_its_own(store: SqlStore) -> None:
    telegram = Telegram()
    assert await told(store, telegram, an_order(page_token=TOKEN), notice=Notice.INVOICE_TEXT) == Told()
    assert telegram.texts == []

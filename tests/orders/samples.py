"""Values of orders, for `every_screen.py`."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import product
from typing import Final

from bot.core.money import Amount
from bot.infra.i18n import Translator
from bot.infra.telegram.ui.screen import Screen
from bot.orders.destinations.model import DestinationsHealth, PayoutTimes
from bot.orders.history import PAGE, HistoryPage
from bot.orders.missed_messages import LIST_LENGTH
from bot.orders.notifications import OrderNotification
from bot.orders.order import Order, OrderEvent
from bot.orders.receipts import screens
from bot.orders.receipts.codes import Receipt, ReceiptLinks
from bot.orders.screens import order_messages
from bot.orders.screens import payment as pay
from bot.orders.screens.formatting import format_sent
from bot.orders.screens.order_lists import count_missed, show_missed, show_open_orders
from bot.payments.tokens import TOKENS
from bot.recipients.holders import MAX_HOLDER_LENGTH
from bot.settlement.reading import LONGEST_DETAIL
from tests.orders.builders import (
    DEPOSIT_ADDRESS,
    INVOICE,
    REPORTS,
    a_deposit_order,
    a_receipt,
    an_open_order,
    as_sent,
    every_event_of,
    orders_in_each_state,
    some_evidence,
)
from tests.orders.known_destinations import every_destination, listed
from tests.screens import NOW, Outside, ScreenCase
from tests.users.samples import PHRASE

DRAWN_ELSEWHERE: Final = {OrderNotification.PAID, OrderNotification.PAID_LATE, OrderNotification.SENT}
"""Reports that are the status message or the receipt."""


def some_orders(outside: Outside) -> Iterator[Order]:
    """Yield orders in every state, with the longest texts of the service, and without the recipient."""
    for _, order in orders_in_each_state(outside.method):
        yield replace(order, refusal=outside.typed * 100, service_id=outside.typed or None)
    order = an_open_order(outside.method, holder=outside.typed[:MAX_HOLDER_LENGTH])
    details = some_evidence(partner_redeem_id=outside.typed[:LONGEST_DETAIL] or None)
    yield as_sent(replace(order, evidence=details))
    yield as_sent(replace(order, number="", holder=None))
    yield replace(order, requested_amount=Amount("SAT", 29_412))
    for code in TOKENS:
        yield a_deposit_order(code, outside.method)


def some_named(outside: Outside) -> tuple[Order, ...]:
    """Return orders with a reference each."""
    return tuple(replace(order, reference=f"ABC234{place}") for place, order in enumerate(some_orders(outside)))


def some_sent(outside: Outside) -> tuple[Order, ...]:
    """Return orders that have a receipt, over Lightning and with a token."""
    order = as_sent(an_open_order(outside.method, holder=outside.typed))
    return order, as_sent(a_deposit_order("btcb", outside.method)), replace(order, number="", holder=None)


def some_lists(outside: Outside) -> tuple[tuple[Order, ...], ...]:
    """Return lists as long as one message shows them."""
    orders = some_named(outside)
    return tuple(orders[first : first + LIST_LENGTH] for first in range(0, len(orders), LIST_LENGTH))


def some_pages(outside: Outside) -> Iterator[HistoryPage]:
    """Yield pages of the history, and an empty one."""
    orders = some_named(outside)
    for first in range(0, len(orders), PAGE):
        some = orders[first : first + PAGE]
        yield HistoryPage(some, some[0].reference, "" if first else None, "ABC2345", first + 10**6, 10**7)
    yield HistoryPage((), "", None, None, 0, 0)


def some_health(outside: Outside) -> Iterator[DestinationsHealth]:
    """Yield lists of destinations: empty, of several pages, and with the longest entries on one page."""
    every = every_destination(outside.method)
    yield listed()
    yield listed(*every * 2)
    yield listed(*every[4:6] * 8)


def some_links(_: Outside) -> Iterator[ReceiptLinks]:
    """Yield where a receipt is checked, without web pages and with them."""
    yield ReceiptLinks("b" * 32)
    yield ReceiptLinks("b" * 32, f"https://{'pay.' * 15}example")


SAMPLES: Final[dict[object, Callable[[Outside], Iterable[object]]]] = {
    Order: some_orders,
    Sequence[Order]: some_lists,
    Mapping[str, Order] | None: lambda outside: (None, {"ABC2345": an_open_order(outside.method)}),
    (show_open_orders, "orders"): lambda outside: ((), *some_lists(outside)),
    (count_missed, "orders"): lambda outside: (some * 100 for some in some_lists(outside)),
    # Users are deleted when nothing is left to notify them of, so a notification's order has its recipient.
    (order_messages.show_notification, "order"): lambda outside: (
        order for order in some_orders(outside) if order.number
    ),
    # A payment and a receipt are messages of their own.
    (order_messages.show_notification, "kind"): lambda _: set(REPORTS) - DRAWN_ELSEWHERE,
    (order_messages.show_notification, "policy_url"): lambda _: ("", "https://kirim.example/policy?a=1&b"),
    (screens.as_text, "order"): some_sent,
    (screens.as_text, "links"): some_links,
    (screens.show_message_to_recipient, "order"): some_sent,
    (screens.show_message_to_recipient, "code"): lambda _: (a_receipt().code,),
    (screens.show_message_to_recipient, "links"): some_links,
    (screens.show_genuine, "order"): some_sent,
    (screens.explain_in_group, "bot"): lambda _: ("b" * 32,),
    HistoryPage: some_pages,
    Receipt: lambda _: (a_receipt(),),
    Sequence[OrderEvent]: lambda outside: (every_event_of(order) for order in some_orders(outside)),
    DestinationsHealth: some_health,
    PayoutTimes: lambda _: (PayoutTimes(orders=20, median=timedelta(minutes=3), slow=timedelta(minutes=11)),),
}


def name_order(order: Order, t: Translator) -> tuple[str, ...]:
    """Return what each screen about one order says."""
    return order.reference, t.rupiah(order.idr or order.expected_idr)


MUST_SAY: Final[dict[object, Callable[..., tuple[str, ...]]]] = {
    Order: name_order,
    # The recipient finds the order by its code. The message is in a language of its own.
    (screens.show_message_to_recipient, "order"): lambda *_: (),
    (screens.show_message_to_recipient, "code"): lambda code, _: (code.replace("-", ""),),
    (show_open_orders, "orders"): lambda orders, _: tuple(order.reference for order in orders),
    (show_missed, "orders"): lambda orders, _: tuple(order.reference for order in orders),
    (count_missed, "orders"): lambda orders, t: (t.number(len(orders)),),
    HistoryPage: lambda page, _: tuple(order.reference for order in page.orders),
    Receipt: lambda known, _: (known.code,),
}


def more_screens(outside: Outside) -> Iterator[ScreenCase]:
    """Yield what becomes a message only with other parts: payments, captions of receipts, answers about an order."""
    t, reader, method = outside.t, outside.reader, outside.method
    for bolt11 in (INVOICE, INVOICE + "q" * 350, INVOICE + "q" * 2000):
        paid = pay.build_payment(reader, an_open_order(method, bolt11=bolt11), PHRASE)
        yield ScreenCase("invoice", Screen(paid.caption, paid.keyboard), ("ABC2345", "29", PHRASE), is_caption=True)
        if paid.follow_up:
            yield ScreenCase("invoice's text", Screen(paid.follow_up), ("ABC2345", bolt11, PHRASE))
    for code, until in product(TOKENS, (None, NOW + timedelta(hours=1))):
        paid = pay.build_payment(reader, replace(a_deposit_order(code, method), expires_at=until), PHRASE)
        yield ScreenCase(
            f"deposit in {code}",
            Screen(paid.caption, paid.keyboard),
            ("ABC2345", DEPOSIT_ADDRESS, PHRASE),
            is_caption=True,
        )
    for order, public_url in product(some_sent(outside)[:2], ("", f"https://{'pay.' * 15}example")):
        links = ReceiptLinks("b" * 32, public_url)
        shown = Screen(format_sent(t, order), screens.build_keyboard(t, order, links.to_page(a_receipt().code)))
        yield ScreenCase("receipt", shown, (t.rupiah(500_000), "ABC2345"), is_caption=True)
        for each in (t, *t.others):
            told = screens.show_message_to_recipient(t, order, a_receipt().code, links, each)
            yield ScreenCase("message to the recipient", told, (each.rupiah(500_000), "K7QM2XPA9RTW"))
    for order in some_orders(outside):
        asked = order_messages.show_answer(reader, order, help_offered=True)
        for answer in (
            *(order_messages.explain_next_step(reader, order, each) for each in ("support", "contact", "alone")),
            order_messages.explain_cancel(reader, order) or t("orders.asked.newest"),
            order_messages.explain_unread(t, help_offered=True),
            order_messages.explain_unread(t, help_offered=False),
            order_messages.explain_own_invoice(reader, order),
        ):
            yield ScreenCase("asked", replace(asked, text=f"{answer}\n\n{asked.text}"), (order.reference,))

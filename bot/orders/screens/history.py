"""The list of a user's orders, in pages: the status of each order, and a button to its own page."""

from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
from bot.orders.buttons import HistoryButton, OrderAction, OrderButton
from bot.orders.history import HistoryPage
from bot.orders.order import Order
from bot.orders.screens.open_orders import status_emoji, status_key
from bot.recipients.formatting import format_destination
from bot.users.buttons import send_row

COLUMNS = 3


def screen(reader: Reader, page: HistoryPage) -> Screen:
    """Return a page of the list, the newest order first, or say that there are no orders yet."""
    t = reader.t
    if not page.orders:
        return Screen(t("orders.history.none"), (send_row(t),))
    orders = "\n\n".join(_entry(reader, order) for order in page.orders)
    send = send_row(t, style=None if any(order.is_in_trouble for order in page.orders) else "primary")
    return Screen(f"{t('orders.history.title')}\n\n{orders}", (*_order_buttons(page), *_page_buttons(t, page), send))


def _entry(reader: Reader, order: Order) -> Html:
    t, now = reader.t, reader.now
    _, rupiah = order.last_price
    return t(
        "orders.history.entry",
        mark=status_emoji(order, now),
        amount=t.rupiah(rupiah),
        destination=format_destination(order.method, order.number),
        reference=order.reference,
        day=reader.format_day(order.created_at),
        state=t(status_key(order, now)),
    )


def _order_buttons(page: HistoryPage) -> Keyboard:
    buttons = [
        Button(order.reference, data=OrderButton(order.reference, OrderAction.SHOW_PAGE).pack())
        for order in page.orders
    ]
    return tuple(tuple(buttons[start : start + COLUMNS]) for start in range(0, len(buttons), COLUMNS))


def _page_buttons(t: Translator, page: HistoryPage) -> Keyboard:
    """Return buttons to the neighbouring pages. The one between them shows the position, and refreshes the page."""
    if page.newer is None and page.older is None:
        return ()
    last = page.before + len(page.orders)
    here = t.plain("orders.history.here", first=page.before + 1, last=last, total=page.total)
    newer = () if page.newer is None else (_page_button(t.plain("orders.history.newer"), page.newer),)
    older = () if page.older is None else (_page_button(t.plain("orders.history.older"), page.older),)
    return ((*newer, _page_button(here, page.first), *older),)


def _page_button(label: str, first: str) -> Button:
    return Button(label, data=HistoryButton(first).pack())

"""A person's orders, a page at a time: where each stands at a glance, and a button to its own page."""

from datetime import datetime, tzinfo

from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.formatting import format_day
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
from bot.orders.buttons import HistoryButton, OrderAction, OrderButton
from bot.orders.history import HistoryPage
from bot.orders.order import Order
from bot.orders.screens.status import mark, state_key
from bot.recipients.formatting import format_destination
from bot.users.screens.buttons import send_row

COLUMNS = 3


def screen(t: Translator, page: HistoryPage, now: datetime, zone: tzinfo) -> Screen:
    """One page of the list, newest first; or that there has been no order yet."""
    if not page.orders:
        return Screen(t("history.none"), (send_row(t),))
    orders = "\n\n".join(_entry(t, order, now, zone) for order in page.orders)
    return Screen(f"{t('history.title')}\n\n{orders}", (*_choices(page), *_turns(t, page), send_row(t)))


def _entry(t: Translator, order: Order, now: datetime, zone: tzinfo) -> Html:
    _, rupiah = order.last_price
    return t(
        "history.entry",
        mark=mark(order, now),
        amount=t.rupiah(rupiah),
        destination=format_destination(order.method, order.number),
        reference=order.reference,
        day=format_day(t, order.created_at, now, zone),
        state=t(state_key(order, now)),
    )


def _choices(page: HistoryPage) -> Keyboard:
    buttons = [
        Button(order.reference, data=OrderButton(order.reference, OrderAction.SHOW_PAGE).pack())
        for order in page.orders
    ]
    return tuple(tuple(buttons[start : start + COLUMNS]) for start in range(0, len(buttons), COLUMNS))


def _turns(t: Translator, page: HistoryPage) -> Keyboard:
    """The neighbouring pages, and between them which these are: pressed, that brings this page up to date."""
    if page.newer is None and page.older is None:
        return ()
    last = page.before + len(page.orders)
    here = t.plain("history.here", first=page.before + 1, last=last, total=page.total)
    newer = () if page.newer is None else (_turn(t.plain("history.newer"), page.newer),)
    older = () if page.older is None else (_turn(t.plain("history.older"), page.older),)
    return ((*newer, _turn(here, page.first), *older),)


def _turn(label: str, first: str) -> Button:
    return Button(label, data=HistoryButton(first).pack())

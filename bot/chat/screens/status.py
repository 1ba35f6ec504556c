"""The orders that are under way, one line each, with a button to their card."""

from collections.abc import Sequence
from datetime import datetime

from bot.chat import data, words
from bot.chat.desk import Visit
from bot.chat.screen import Button, Screen
from bot.chat.screens import card
from bot.chat.screens.parts import new_row
from bot.domain.order import Order, Phase
from bot.domain.timeline import FAILED
from bot.i18n import Translator

SHOWN = 8


def screen(t: Translator, orders: Sequence[Order], now: datetime) -> Screen:
    """The list, or that there's nothing under way."""
    if not orders:
        return Screen(t("status.none"), (new_row(t),))
    lines = "\n\n".join(f"{words.order_line(t, order)}\n{t(state_key(order, now))}" for order in orders)
    rows = tuple(
        (Button(t.plain("status.open", reference=order.reference), data=data.for_order(order.reference, "card")),)
        for order in orders
    )
    return Screen(f"{t('status.title')}\n\n{lines}", (*rows, new_row(t)))


async def show(visit: Visit) -> Screen:
    """The person's own orders that have not ended."""
    async with visit.desk.store.reading() as tx:
        orders = await tx.orders.open_of_person(visit.person.id, SHOWN)
    return screen(visit.t, orders, visit.desk.clock.now())


def state_key(order: Order, now: datetime) -> str:
    """The key of the few words that say where an order stands."""
    if order.phase in {Phase.INTENDED, Phase.UNKNOWN}:
        return "status.checking"
    if order.phase is Phase.UNRESOLVED:
        return "status.unresolved"
    if order.phase is Phase.HELD:
        return "status.held"
    if order.state == FAILED:
        return "status.failed_paid" if order.is_paid else "status.failed_unpaid"
    if card.is_lapsed(order, now):
        return "status.expired"
    return f"status.{order.step.name.lower()}"

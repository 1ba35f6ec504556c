"""What operators read when something is wrong with an order: masked facts, never a number or a name."""

from datetime import datetime

from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.formatting import clip
from bot.infra.telegram.ui.screen import Screen
from bot.orders.notifications.kinds import AboutProblem, OrderWarning
from bot.orders.order import Failure, Order
from bot.orders.screens.formatting import format_order_line
from bot.orders.screens.open_orders import status_key

FACT_SHOWN = 300


def screen(kind: OrderWarning, t: Translator, order: Order | None, problem: AboutProblem, now: datetime) -> Screen:
    """The message; `order` is None where it is gone or can't be read."""
    facts: dict[str, object] = {"line": "", "state": "", "user": ""} if order is None else _facts(t, order, now)
    if kind is OrderWarning.FAILED and order is not None and order.failure is Failure.UNKNOWN:
        return Screen(t("news.staff_failed_unknown", **facts))
    return Screen(t(f"news.{kind}", **facts, complaint=clip(problem.complaint, FACT_SHOWN)))


def _facts(t: Translator, order: Order, now: datetime) -> dict[str, object]:
    return {
        "line": format_order_line(t, order),
        "state": t(status_key(order, now)),
        "user": Html(f"tg://user?id={order.user_id}"),
    }

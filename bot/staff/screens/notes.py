"""What operators and support are told by themselves: masked facts, never a number or a name."""

from collections.abc import Mapping
from datetime import datetime

from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.formatting import clip
from bot.infra.telegram.ui.screen import Screen
from bot.orders.order import Failure, Order, OrderNotification
from bot.orders.screens.formatting import format_order_line
from bot.orders.screens.status import state_key

FACT_SHOWN = 300


def screen(
    notice: OrderNotification, t: Translator, order: Order | None, payload: Mapping[str, object], now: datetime
) -> Screen:
    """The message for a staff `notice`; `payload` is what was queued with it."""
    facts: dict[str, object] = {name: clip(str(value), FACT_SHOWN) for name, value in payload.items()}
    facts |= {"line": "", "state": "", "person": ""} if order is None else _facts(t, order, now)
    if notice is OrderNotification.STAFF_FAILED and order is not None and order.failure is Failure.UNKNOWN:
        return Screen(t("news.staff_failed_unknown", **facts))
    said = t(f"news.{notice}", **facts)
    if notice is OrderNotification.STAFF_KEY_REFUSED:
        said = Html(f"{said}\n{t('alarm.todo.key_refused')}")
    return Screen(said)


def _facts(t: Translator, order: Order, now: datetime) -> dict[str, object]:
    return {
        "line": format_order_line(t, order),
        "state": t(state_key(order, now)),
        "person": Html(f"tg://user?id={order.person_id}"),
    }

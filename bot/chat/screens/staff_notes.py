"""What operators and support are told by themselves: masked facts, never a number or a name."""

from collections.abc import Mapping

from bot.chat import words
from bot.chat.screen import Screen
from bot.domain.order import Notice, Order
from bot.i18n import Html, Translator


def screen(notice: Notice, t: Translator, order: Order | None, payload: Mapping[str, object]) -> Screen:
    """The message for a staff `notice`; `payload` is what was queued with it."""
    line: Html | str = words.order_line(t, order) if order is not None else ""
    person = Html(f"tg://user?id={order.person_id}") if order is not None else ""
    facts = {name: str(value) for name, value in payload.items()}
    return Screen(t(f"news.{notice}", **{"line": line, "person": person, **facts}))

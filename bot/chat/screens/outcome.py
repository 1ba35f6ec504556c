"""News of an order that is a message of its own: what happened, whether money left the wallet, and the way on."""

from datetime import datetime, tzinfo

from bot.chat import data, words
from bot.chat.screen import Button, Keyboard, Screen, Style
from bot.chat.screens import card
from bot.chat.screens.parts import new_row
from bot.domain.order import Notice, Order
from bot.i18n import Translator

REASON_SHOWN = 200


def screen(notice: Notice, t: Translator, order: Order, now: datetime, zone: tzinfo, *, help_offered: bool) -> Screen:
    """The message for `notice`. It always says which order it is about."""
    line = words.order_line(t, order)
    keyboard = _keyboard(notice, t, order, now, help_offered=help_offered)
    match notice:
        case Notice.PRICE_MOVED:
            text = t("news.price_moved", line=line, **_prices(t, order))
        case Notice.REFUSED if order.refusal:
            text = t("news.refused_because", line=line, reason=order.refusal[:REASON_SHOWN])
        case Notice.FAILED:
            text = t("news.failed_paid" if order.is_paid else "news.failed_unpaid", line=line)
        case Notice.PAID | Notice.PAID_LATE:
            at = words.moment(t, order.paid_at or now, zone)
            text = t(f"news.{notice}", line=line, at=at)
        case _:
            text = t(f"news.{notice}", line=line)
    return Screen(text, keyboard)


def _prices(t: Translator, order: Order) -> dict[str, str]:
    return {
        "reviewed": t.sats(order.expected_sats),
        "reviewed_idr": t.rupiah(order.expected_idr),
        "locked": t.sats(order.sats or 0),
        "locked_idr": t.rupiah(order.idr or 0),
    }


def _keyboard(notice: Notice, t: Translator, order: Order, now: datetime, *, help_offered: bool) -> Keyboard:
    def button(label: str, action: str, style: Style | None = None) -> Button:
        return Button(t.plain(label), data=data.for_order(order.reference, action), style=style)

    match notice:
        case Notice.PRICE_MOVED:
            return ((button("button.accept_price", "accept", "primary"),), (button("button.no_thanks", "drop"),))
        case Notice.UNRESOLVED:
            return ((button("button.try_again", "again", "primary"),), (button("button.drop", "drop"),))
        case Notice.REFUSED | Notice.NOT_SHOWN:
            return ((button("button.back_to_review", "requote", "primary"),),)
        case Notice.CHECKING | Notice.PAID:
            return ()
        case Notice.SENT:
            return (new_row(t),)
        case _:
            return card.keyboard(t, order, now, help_offered=help_offered)

"""What the same payment costs now, compared with the earlier order."""

from bot.infra.i18n import Html, Translator
from bot.orders.order import Order
from bot.orders.screens.formatting import format_price
from bot.rates.model import Estimate


def difference(t: Translator, order: Order, worth: Estimate) -> Html:
    """Return the sentence above the new review. It compares with the price that `order` last showed."""
    sats, rupiah = order.last_price
    if order.amount.currency == "SAT":
        return _brings(t, rupiah, worth.idr)
    return _costs(t, sats, worth.sats, order.channel)


def _costs(t: Translator, before: int, after: int, channel: str) -> Html:
    if before == after:
        return t("checkout.requote.same")
    key = "checkout.requote.costs_more" if after > before else "checkout.requote.costs_less"
    shown = {"before": before, "after": after, "difference": abs(after - before)}
    return t(key, **{name: format_price(t, sats, channel) for name, sats in shown.items()})


def _brings(t: Translator, before: int, after: int) -> Html:
    if before == after:
        return t("checkout.requote.same")
    key = "checkout.requote.brings_more" if after > before else "checkout.requote.brings_less"
    return t(key, before=t.rupiah(before), after=t.rupiah(after), difference=t.rupiah(abs(after - before)))

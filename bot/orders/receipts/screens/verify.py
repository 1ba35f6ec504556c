"""Whether a receipt is genuine: the question for its code, and the answers, which say no more than the receipt does."""

from datetime import datetime, tzinfo

from bot.infra.i18n import Translator, as_html
from bot.infra.telegram.ui.formatting import format_time
from bot.infra.telegram.ui.screen import Screen
from bot.orders.order import Order
from bot.orders.receipts.screens import receipt

EXAMPLE = "K7QM-2XPA-9RTW"


def asking(t: Translator) -> Screen:
    """Which code it is about."""
    return Screen(t("verify.ask", example=EXAMPLE))


def explained(t: Translator, bot: str) -> Screen:
    """How to ask in a group, where no question is held open."""
    return Screen(t("verify.how", command=f"/verify@{bot} {EXAMPLE}"))


def true(t: Translator, order: Order, zone: tzinfo) -> Screen:
    """Genuine, and what the receipt must say then."""
    facts = "\n".join(t("verify.fact", label=label, value=value) for label, value in receipt.rows(t, order, zone))
    meaning = as_html(receipt.meaning(t, order))
    return Screen("\n\n".join((t("verify.true", amount=receipt.amount(t, order)), facts, t("verify.compare"), meaning)))


def false(t: Translator) -> Screen:
    """No receipt has the code, or what was typed is no code at all."""
    return Screen(t("verify.false"))


def refused(t: Translator, again: datetime, now: datetime, zone: tzinfo) -> Screen:
    """Wrong too often: nothing was looked up."""
    return Screen(t("verify.too_many", again=format_time(t, again, now, zone)))

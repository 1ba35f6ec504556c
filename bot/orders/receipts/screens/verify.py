"""Whether a receipt is genuine: the question for its code, and the answers, which say no more than the receipt does."""

from datetime import datetime, tzinfo

from bot.infra.i18n import Translator, as_html
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Screen
from bot.orders.order import Order
from bot.orders.receipts.screens import receipt

EXAMPLE = "K7QM-2XPA-9RTW"


def asking(t: Translator) -> Screen:
    """Ask which code to check."""
    return Screen(t("verify.ask", example=EXAMPLE))


def explained(t: Translator, bot: str) -> Screen:
    """Say how to check a code in a group, where no question is kept open."""
    return Screen(t("verify.how", command=f"/verify@{bot} {EXAMPLE}"))


def true(t: Translator, order: Order, zone: tzinfo) -> Screen:
    """Say that the receipt is genuine, and what it must say then."""
    facts = "\n".join(t("verify.fact", label=label, value=value) for label, value in receipt.rows(t, order, zone))
    meaning = as_html(receipt.meaning(t, order))
    return Screen("\n\n".join((t("verify.true", amount=receipt.amount(t, order)), facts, t("verify.compare"), meaning)))


def false(t: Translator) -> Screen:
    """Say that no receipt has the code."""
    return Screen(t("verify.false"))


def refused(reader: Reader, again: datetime) -> Screen:
    """Say that there were too many wrong codes, and when the user can try again."""
    return Screen(reader.t("verify.too_many", again=reader.format_time(again)))

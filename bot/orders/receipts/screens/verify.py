"""The question for a receipt's code, and the answers. They show no more than the receipt itself."""

from datetime import datetime, tzinfo

from bot.infra.i18n import Translator, as_html
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Screen
from bot.orders.order import Order
from bot.orders.receipts.screens import receipt

EXAMPLE = "K7QM-2XPA-9RTW"


def ask_for_code(t: Translator) -> Screen:
    """Ask for the code to verify."""
    return Screen(t("orders.verify.ask", example=EXAMPLE))


def explain_in_group(t: Translator, bot: str) -> Screen:
    """Explain how to verify a code in a group, where the bot asks no questions."""
    return Screen(t("orders.verify.how", command=f"/verify@{bot} {EXAMPLE}"))


def show_genuine(t: Translator, order: Order, zone: tzinfo) -> Screen:
    """Say that the receipt is genuine, and show its facts for comparison."""
    facts = "\n".join(
        t("orders.verify.fact", label=label, value=value) for label, value in receipt.format_rows(t, order, zone)
    )
    meaning = as_html(receipt.format_meaning(t, order))
    return Screen(
        "\n\n".join(
            (
                t("orders.verify.true", amount=receipt.format_amount(t, order)),
                facts,
                t("orders.verify.compare"),
                meaning,
            )
        )
    )


def show_unknown(t: Translator) -> Screen:
    """Say that no receipt has the code."""
    return Screen(t("orders.verify.false"))


def show_limit(reader: Reader, again: datetime) -> Screen:
    """Say that there were too many wrong codes, and when the user can try again."""
    return Screen(reader.t("orders.verify.too_many", again=reader.format_time(again)))

"""The question for the amount: in rupiah, thousands, millions, sats or bitcoin. An ambiguous amount is asked about."""

from collections.abc import Mapping
from decimal import Decimal

from bot.checkout.buttons import DraftAction, draft_data
from bot.checkout.draft import OrderDraft
from bot.checkout.screens.formatting import format_amount, format_recipient_line
from bot.checkout.screens.parts import leave_row
from bot.core.money import Amount
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.formatting import quote_input
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
from bot.orders.screens.formatting import format_price
from bot.rates.quote import Estimate
from bot.recipients.formatting import format_method

COLUMNS = 2
COMMON = (50_000, 100_000, 200_000, 500_000, 1_000_000, 2_000_000)
EXAMPLE = 500_000
"""Rupiah whose price is shown before the amount is asked for."""

Choices = Mapping[Amount, Estimate | None]
"""Amounts that are offered, each with what it comes to. None while there is no quote."""


def screen(t: Translator, draft: OrderDraft, minimum: int, choices: Choices) -> Screen:
    """Return the question, with the price of each common amount and a button for it."""
    recipient = format_recipient_line(t, draft) if draft.number else format_method(draft.method)
    asked = t("checkout.amount.ask", recipient=recipient).strip()
    limits = t("checkout.amount.limits", minimum=t.rupiah(minimum))
    text = "\n\n".join(filter(None, (asked, _list_prices(t, draft, choices), limits)))
    return Screen(text, (*_buttons(t, draft, choices), leave_row(t, draft)))


def readings(t: Translator, draft: OrderDraft, text: str, choices: Choices) -> Screen:
    """Return the question which of these amounts the typed text means, with a button for each."""
    if len(choices) == 1:
        asked = t("checkout.amount.is_it", text=quote_input(text), amount=format_amount(t, next(iter(choices))))
    else:
        asked = t("checkout.amount.which", text=quote_input(text))
    return _choice(t, draft, asked, choices)


def dollars(t: Translator, draft: OrderDraft, text: str, choices: Choices, usdc_idr: Decimal) -> Screen:
    """Return the question whether the rupiah that these dollars come to are meant. They are never taken unasked."""
    about = "/".join(format_amount(t, amount) for amount in choices)
    asked = t("checkout.amount.dollars", text=quote_input(text), amount=about, rate=t.rate(usdc_idr))
    return _choice(t, draft, asked, choices)


def show_price(t: Translator, draft: OrderDraft, choices: Choices) -> Html | None:
    """Return the line with the price of an amount, for the questions before the one for the amount."""
    return t("checkout.amount.example", price=prices) if (prices := _list_prices(t, draft, choices)) else None


def _choice(t: Translator, draft: OrderDraft, asked: Html, choices: Choices) -> Screen:
    text = "\n\n".join(filter(None, (asked, _list_prices(t, draft, choices))))
    return Screen(text, (*_buttons(t, draft, choices), leave_row(t, draft)))


def _list_prices(t: Translator, draft: OrderDraft, choices: Choices) -> Html:
    """Return a line for each amount: "Rp500,000 ≈ 31,243 sats", "25,000 sats ≈ Rp400,120"."""
    lines = (
        t(
            "checkout.amount.price",
            amount=format_amount(t, amount),
            price=t.rupiah(worth.idr) if amount.currency == "SAT" else format_price(t, worth.sats, draft.channel),
        )
        for amount, worth in choices.items()
        if worth is not None
    )
    return Html("\n".join(lines))


def _buttons(t: Translator, draft: OrderDraft, choices: Choices) -> Keyboard:
    buttons = [
        Button(format_amount(t, a), data=draft_data(draft, DraftAction.AMOUNT, f"{a.currency}/{a.value}"))
        for a in choices
    ]
    return tuple(tuple(buttons[i : i + COLUMNS]) for i in range(0, len(buttons), COLUMNS))

"""The question for the amount: in rupiah, thousands, millions, sats or bitcoin. An ambiguous amount is asked about."""

from bot.checkout.buttons import DraftAction, draft_data
from bot.checkout.draft import OrderDraft
from bot.checkout.screens.formatting import format_amount, format_recipient_line
from bot.checkout.screens.parts import leave_row
from bot.core.money import Ambiguous, Amount
from bot.infra.i18n import Translator
from bot.infra.telegram.ui.formatting import quote_input
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen

COLUMNS = 2
COMMON = (50_000, 100_000, 200_000, 500_000, 1_000_000, 2_000_000)


def screen(t: Translator, draft: OrderDraft, minimum: int) -> Screen:
    """Return the question, with a button for each common amount."""
    cap = draft.method.cap if draft.method else None
    sums = [Amount("IDR", idr) for idr in COMMON if idr >= minimum and (cap is None or idr <= cap)]
    asked = t("checkout.amount.ask", recipient=format_recipient_line(t, draft))
    text = f"{asked}\n\n{t('checkout.amount.limits', minimum=t.rupiah(minimum))}"
    return Screen(text, (*_choices(t, draft, sums, COLUMNS), leave_row(t, draft)))


def readings(t: Translator, draft: OrderDraft, text: str, ambiguous: Ambiguous) -> Screen:
    """Return the question which reading of the typed text is meant, with a button for each."""
    choices = _choices(t, draft, list(ambiguous.readings), COLUMNS)
    if len(ambiguous.readings) == 1:
        asked = t("checkout.amount.is_it", text=quote_input(text), amount=format_amount(t, ambiguous.readings[0]))
    else:
        asked = t("checkout.amount.which", text=quote_input(text))
    return Screen(asked, (*choices, leave_row(t, draft)))


def _choices(t: Translator, draft: OrderDraft, sums: list[Amount], columns: int) -> Keyboard:
    buttons = [
        Button(format_amount(t, a), data=draft_data(draft, DraftAction.AMOUNT, f"{a.currency}/{a.value}")) for a in sums
    ]
    return tuple(tuple(buttons[i : i + columns]) for i in range(0, len(buttons), columns))

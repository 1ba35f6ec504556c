"""The question for the account or phone number, and the question whether an unusual number is right."""

from bot.checkout.buttons import DraftAction, draft_data
from bot.checkout.draft import OrderDraft
from bot.checkout.screens.parts import leave_row
from bot.core.errors import Remark
from bot.infra.i18n import Translator
from bot.infra.telegram.ui.screen import Button, Screen
from bot.recipients.formatting import format_full_method, format_method
from bot.settlement.model import PayoutMethod


def screen(t: Translator, draft: OrderDraft, method: PayoutMethod) -> Screen:
    """Return the question for the number of this kind of destination."""
    key = "checkout.number.ask_ewallet" if method.kind == "ewallet" else "checkout.number.ask_bank"
    return Screen(t(key, name=format_full_method(method)), (leave_row(t, draft),))


def doubt(t: Translator, draft: OrderDraft, number: str, remark: Remark) -> Screen:
    """Return the question whether an unusual number is right. It can always be confirmed."""
    use = Button(t.plain("checkout.number.use_it"), data=draft_data(draft, DraftAction.NUMBER, number), style="primary")
    text = t("checkout.number.doubt", name=format_method(draft.method), number=number, remark=t.translate(remark))
    return Screen(text, ((use,), leave_row(t, draft)))

"""Ask for the account or phone number, clean it, and ask whether an unusual number is right."""

from collections.abc import Mapping

from bot.checkout.answers import confirm_number, waiting_number, with_known_holder
from bot.checkout.buttons import DraftAction, draft_data
from bot.checkout.draft import OrderDraft
from bot.checkout.screens.parts import leave_row
from bot.checkout.sender import get_recipients
from bot.checkout.steps.handler import TakeAnswer
from bot.core.errors import Rejection, Remark
from bot.infra.i18n import Translator
from bot.infra.telegram.ui.screen import Button, Screen
from bot.recipients.formatting import format_full_method, format_method
from bot.recipients.numbers import clean_number
from bot.settlement.model import PayoutMethod
from bot.users.session import Session


class NumberStep:
    """Ask for the number."""

    @property
    def buttons(self) -> Mapping[DraftAction, TakeAnswer]:
        """Return what takes the answer of each button."""
        return {DraftAction.NUMBER: self._use_anyway}

    async def show(self, session: Session, draft: OrderDraft) -> Screen:
        """Return the question, or the question about an unusual number from a line."""
        if draft.method is None:
            raise Rejection("checkout.destination.gone")
        waiting = waiting_number(draft)
        if waiting is not None and waiting.remark is not None:
            return show_doubt(session.t, draft, waiting.number, waiting.remark)
        return show_question(session.t, draft, draft.method)

    async def take_typed(self, session: Session, draft: OrderDraft, text: str) -> OrderDraft | Screen:
        """Take the typed number, or ask about an unusual one."""
        if draft.method is None:
            raise Rejection("checkout.destination.gone")
        cleaned = clean_number(draft.method, text)
        if cleaned.remark is not None:
            return show_doubt(session.t, draft, cleaned.number, cleaned.remark)
        return await self._with(session, draft, cleaned.number)

    async def _use_anyway(self, session: Session, draft: OrderDraft, number: str) -> OrderDraft:
        """Take an unusual number that the user has confirmed."""
        if draft.method is None:
            raise Rejection("checkout.destination.gone")
        return await self._with(session, draft, number)

    async def _with(self, session: Session, draft: OrderDraft, number: str) -> OrderDraft:
        """Return the draft with the number, and with the holder's name of an earlier order to it."""
        return with_known_holder(confirm_number(draft, number), await get_recipients(session))


def show_question(t: Translator, draft: OrderDraft, method: PayoutMethod) -> Screen:
    """Return the question for the number of this kind of destination."""
    key = "checkout.number.ask_ewallet" if method.kind == "ewallet" else "checkout.number.ask_bank"
    return Screen(t(key, name=format_full_method(method)), (leave_row(t, draft),))


def show_doubt(t: Translator, draft: OrderDraft, number: str, remark: Remark) -> Screen:
    """Return the question whether an unusual number is right. It can always be confirmed."""
    use = Button(t.plain("checkout.number.use_it"), data=draft_data(draft, DraftAction.NUMBER, number), style="primary")
    text = t("checkout.number.doubt", name=format_method(draft.method), number=number, remark=t.translate(remark))
    return Screen(text, ((use,), leave_row(t, draft)))

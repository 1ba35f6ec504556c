"""The account or telephone number: cleaned, shown back, and asked about where it looks unusual."""

from bot.checkout.draft import OrderDraft
from bot.checkout.filling import confirm_number, waiting_number, with_known_holder
from bot.checkout.screens.parts import leave_row
from bot.core.errors import Rejection, Remark
from bot.infra.i18n import Translator
from bot.infra.telegram.ui import callback_data as data
from bot.infra.telegram.ui.screen import Button, Screen
from bot.infra.telegram.ui.session import Session
from bot.recipients.formatting import format_full_method, format_method
from bot.recipients.numbers import clean_number
from bot.settlement.model import PayoutMethod


def screen(t: Translator, draft: OrderDraft, method: PayoutMethod) -> Screen:
    """The question for the number of this kind of destination."""
    key = "number.ask_ewallet" if method.kind == "ewallet" else "number.ask_bank"
    return Screen(t(key, name=format_full_method(method)), (leave_row(t, draft),))


def doubt(t: Translator, draft: OrderDraft, number: str, remark: Remark) -> Screen:
    """An unusual number is a question, never a refusal."""
    use = Button(t.plain("number.use_it"), data=data.for_draft(draft, "use", number), style="primary")
    text = t("number.doubt", name=format_method(draft.method), number=number, remark=t.tell(remark))
    return Screen(text, ((use,), leave_row(t, draft)))


async def show(session: Session, draft: OrderDraft) -> Screen:
    """The question; a number that one line has brought is asked about instead, where it is unusual."""
    if draft.method is None:
        raise Rejection("destination.gone")
    waiting = waiting_number(draft)
    if waiting is not None and waiting.remark is not None:
        return doubt(session.t, draft, waiting.number, waiting.remark)
    return screen(session.t, draft, draft.method)


async def take_typed(session: Session, draft: OrderDraft, text: str) -> OrderDraft | Screen:
    """Take the typed number, or ask about an unusual one."""
    if draft.method is None:
        raise Rejection("destination.gone")
    cleaned = clean_number(draft.method, text)
    if cleaned.remark is not None:
        return doubt(session.t, draft, cleaned.number, cleaned.remark)
    return await _with(session, draft, cleaned.number)


async def use_anyway(session: Session, draft: OrderDraft, number: str) -> OrderDraft:
    """Take an unusual number that the user has confirmed."""
    if draft.method is None:
        raise Rejection("destination.gone")
    return await _with(session, draft, number)


async def _with(session: Session, draft: OrderDraft, number: str) -> OrderDraft:
    """The draft with the number, and with the holder's name of an earlier order to it."""
    return with_known_holder(confirm_number(draft, number), await session.desk.recipients.list_all(session.person.id))

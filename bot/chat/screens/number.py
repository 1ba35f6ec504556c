"""The account or telephone number: cleaned, shown back, and asked about where it looks unusual."""

from dataclasses import replace

from bot.chat import data, words
from bot.chat.desk import Pressed, Said, Visit
from bot.chat.screen import Button, Screen
from bot.chat.screens.parts import leave_row
from bot.domain.draft import OrderDraft, missing, with_number
from bot.domain.errors import Rejection, Remark
from bot.domain.payout import PayoutMethod, clean_number
from bot.i18n import Translator


def screen(t: Translator, draft: OrderDraft, method: PayoutMethod) -> Screen:
    """The question for the number of this kind of destination."""
    key = "number.ask_ewallet" if method.kind == "ewallet" else "number.ask_bank"
    return Screen(t(key, name=words.full_name(method)), (leave_row(t, draft),))


def doubt(t: Translator, draft: OrderDraft, number: str, remark: Remark) -> Screen:
    """An unusual number is a question, never a refusal."""
    use = Button(t.plain("number.use_it"), data=data.for_draft(draft, "use", number), style="primary")
    text = t("number.doubt", name=words.name(draft.method), number=number, remark=t.tell(remark))
    return Screen(text, ((use,), leave_row(t, draft)))


async def show(visit: Visit, draft: OrderDraft) -> Screen:
    """The question."""
    if draft.method is None:
        raise Rejection("destination.gone")
    return screen(visit.t, draft, draft.method)


async def answer(visit: Visit, draft: OrderDraft, said: Said) -> OrderDraft | Screen:
    """A typed number, or the confirmation of an unusual one."""
    if draft.method is None:
        raise Rejection("destination.gone")
    if isinstance(said, Pressed):
        if said.action != "use":
            raise Rejection("stale.button")
        return _with(draft, clean_number(draft.method, said.argument).number)
    cleaned = clean_number(draft.method, said.text)
    if cleaned.remark is not None:
        return doubt(visit.t, draft, cleaned.number, cleaned.remark)
    return _with(draft, cleaned.number)


def _with(draft: OrderDraft, number: str) -> OrderDraft:
    draft = with_number(draft, number)
    return replace(draft, ask=missing(draft))

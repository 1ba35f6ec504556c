"""Filling a draft with what one line said, and with the answers to what it left doubtful."""

from dataclasses import replace

from bot.checkout.draft import OrderDraft, with_method, with_number
from bot.checkout.flow import missing
from bot.checkout.parser.reading import OneLine
from bot.core.errors import Rejection
from bot.recipients.numbers import CleanNumber, clean_number
from bot.settlement.model import PayoutMethod


def apply(draft: OrderDraft, line: OneLine) -> OrderDraft:
    """The draft with all that is sure in `line`, asking for the first thing that is missing.

    A number that waits, for a yes or for its destination, is kept in `doubtful_number`; see `waiting_number`. Readings
    of the sum, candidates and refusals are no part of a draft: the caller shows them.
    """
    number = line.number or line.doubtful_number
    if number is not None:
        draft = replace(_without_recipient(draft), doubtful_number=number)
    if line.holder is not None:
        draft = replace(draft, holder=line.holder, holder_asked=True)
    if line.amount is not None:
        draft = replace(draft, amount=line.amount)
    method = line.method or draft.method
    return take_destination(draft, method) if method is not None else _asking(draft)


def take_destination(draft: OrderDraft, method: PayoutMethod) -> OrderDraft:
    """The draft with this destination. A number that waited for it is taken where it is usual there.

    One that is unusual there waits on, for a yes; one that isn't possible there is dropped, and `refusal` says why.
    With another destination after a number was taken, number and holder are asked anew, as ever.
    """
    waiting = draft.doubtful_number
    if draft.number is not None and method != draft.method:
        draft = _without_recipient(draft)
    draft = with_method(draft, method)
    cleaned = _cleaned(method, waiting)
    if isinstance(cleaned, CleanNumber):
        if cleaned.remark is None:
            return confirm_number(draft, cleaned.number)
        return _asking(replace(draft, number=None, doubtful_number=cleaned.number))
    return _asking(replace(draft, doubtful_number=None))


def confirm_number(draft: OrderDraft, number: str) -> OrderDraft:
    """The draft with the number that the person typed or said yes to.

    A holder who was named before any number is this number's; another number has another holder (`with_number`).

    Raises:
        Rejection: `destination.gone` without a destination; those of `clean_number`.
    """
    if draft.method is None:
        raise Rejection("destination.gone")
    taken = with_number(draft, clean_number(draft.method, number).number)
    if draft.number is None:
        taken = replace(taken, holder=draft.holder, holder_asked=draft.holder_asked)
    return _asking(taken)


def waiting_number(draft: OrderDraft) -> CleanNumber | None:
    """The number that waits for a yes, with the remark to ask about; None where the plain question is to be asked."""
    if draft.method is None or draft.number is not None:
        return None
    cleaned = _cleaned(draft.method, draft.doubtful_number)
    return cleaned if isinstance(cleaned, CleanNumber) else None


def refusal(draft: OrderDraft, method: PayoutMethod) -> Rejection | None:
    """Why the number that waits in `draft` can't go to `method`; to be asked before `take_destination` drops it."""
    cleaned = _cleaned(method, draft.doubtful_number)
    return cleaned if isinstance(cleaned, Rejection) else None


def _cleaned(method: PayoutMethod, number: str | None) -> CleanNumber | Rejection | None:
    if number is None:
        return None
    try:
        return clean_number(method, number)
    except Rejection as refused:
        return refused


def _without_recipient(draft: OrderDraft) -> OrderDraft:
    """The draft without number and holder, who belong together."""
    return replace(draft, number=None, doubtful_number=None, holder=None, holder_asked=False)


def _asking(draft: OrderDraft) -> OrderDraft:
    return replace(draft, ask=missing(draft))

"""Put answers into a draft: from one line, a typed number or destination, a shared contact or a recipient."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from bot.checkout.draft import OrderDraft, Step, with_method, with_number
from bot.checkout.flow import missing
from bot.checkout.parser import OneLine
from bot.core.errors import Rejection
from bot.recipients.holders import clean_holder
from bot.recipients.model import SavedRecipient, find_saved
from bot.recipients.numbers import CleanNumber, clean_contact, clean_number, to_international
from bot.settlement.model import EWALLET, PayoutMethod


def apply_line(draft: OrderDraft, line: OneLine) -> OrderDraft:
    """Return the draft with all that is certain in `line`. It asks for the first missing answer.

    A number that waits for a confirmation or for its destination is kept in `doubtful_number`; see `waiting_number`.
    Readings of the amount, candidates and rejections aren't part of a draft: the caller shows them.
    """
    number = line.number or line.doubtful_number
    if number is not None:
        draft = replace(_without_recipient(draft), doubtful_number=number)
    if line.holder is not None:
        draft = replace(draft, holder=line.holder, holder_asked=True)
    if line.amount is not None:
        draft = replace(draft, amount=line.amount)
    method = line.method or draft.method
    return take_destination(draft, method) if method is not None else _ask_next(draft)


def take_destination(draft: OrderDraft, method: PayoutMethod) -> OrderDraft:
    """Return the draft with this destination, and with a waiting number that is usual there.

    An unusual number waits for a confirmation. An impossible number is dropped: `find_rejection` returns why.
    If the draft has a number for another destination, number and holder are asked again.
    """
    waiting = draft.doubtful_number
    if draft.number is not None and method != draft.method:
        draft = _without_recipient(draft)
    draft = with_method(draft, method)
    cleaned = _try_clean(method, waiting)
    if isinstance(cleaned, CleanNumber):
        if cleaned.remark is None:
            return confirm_number(draft, cleaned.number)
        return _ask_next(replace(draft, number=None, doubtful_number=cleaned.number))
    return _ask_next(replace(draft, doubtful_number=None))


def confirm_number(draft: OrderDraft, number: str) -> OrderDraft:
    """Return the draft with the number that the user typed or confirmed.

    A holder who was named before any number belongs to this number. Another number has another holder (`with_number`).

    Raises:
        Rejection: `checkout.destination.gone` without a destination; those of `clean_number`.
    """
    if draft.method is None:
        raise Rejection("checkout.destination.gone")
    taken = with_number(draft, clean_number(draft.method, number).number)
    if draft.number is None:
        taken = replace(taken, holder=draft.holder, holder_asked=draft.holder_asked)
    return _ask_next(taken)


def waiting_number(draft: OrderDraft) -> CleanNumber | None:
    """Return the number that waits for a confirmation, with the remark to show, or None."""
    if draft.method is None or draft.number is not None:
        return None
    cleaned = _try_clean(draft.method, draft.doubtful_number)
    return cleaned if isinstance(cleaned, CleanNumber) else None


def find_rejection(draft: OrderDraft, method: PayoutMethod) -> Rejection | None:
    """Return why the number that waits in `draft` can't go to `method`, before `take_destination` drops it."""
    cleaned = _try_clean(method, draft.doubtful_number)
    return cleaned if isinstance(cleaned, Rejection) else None


def with_recipient(draft: OrderDraft, recipient: SavedRecipient, method: PayoutMethod) -> OrderDraft:
    """Return the draft for this recipient at their destination of the live list. Known answers aren't asked again."""
    filled = replace(
        draft,
        method=method,
        number=recipient.number,
        doubtful_number=None,
        holder=recipient.holder,
        holder_asked=True,
    )
    return replace(filled, step=missing(filled))


def with_known_holder(draft: OrderDraft, recipients: Iterable[SavedRecipient]) -> OrderDraft:
    """Return the draft with the holder's name of an earlier order to this number, unless the user has named one."""
    known = find_saved(recipients, draft.method, draft.number)
    if draft.holder is not None or known is None or known.holder is None:
        return draft
    filled = replace(draft, holder=known.holder, holder_asked=True)
    return replace(filled, step=missing(filled))


@dataclass(frozen=True, slots=True)
class SharedContact:
    """A contact as it was shared in the chat: its number and its whole name, each "" if it has none."""

    number: str = field(repr=False)
    name: str = field(repr=False)


def read_contact(contact: SharedContact) -> tuple[CleanNumber, str | None]:
    """Return a contact's number, and its name if a bank could print it.

    Raises:
        Rejection: those of `clean_contact`.
    """
    cleaned = clean_contact(contact.number)
    try:
        name = clean_holder(contact.name)
    except Rejection:
        name = None
    return cleaned, name


def wait_for_ewallet(draft: OrderDraft, contact: SharedContact) -> OrderDraft:
    """Return the draft that asks to which e-wallet the contact's number belongs. No bank accepts it in this form.

    Raises:
        Rejection: those of `clean_contact`.
    """
    cleaned, name = read_contact(contact)
    waiting = replace(draft, number=None, doubtful_number=to_international(cleaned.number), method=None)
    return replace(_with_name(waiting, name), step=Step.DESTINATION)


def take_contact(draft: OrderDraft, contact: SharedContact, recipients: Iterable[SavedRecipient]) -> OrderDraft:
    """Return the draft with a contact as the answer to its question.

    A name that was typed or ordered to before is better than the contact's.

    Raises:
        Rejection: the question has another answer, or the contact's number can't be one.
    """
    if draft.step is Step.DESTINATION:
        return wait_for_ewallet(draft, contact)
    if draft.step is Step.HOLDER:
        cleaned, name = read_contact(contact)
        if cleaned.number != draft.number or name is None:
            raise Rejection("checkout.contact.other_number")
        return _with_name(draft, name)
    if draft.step is not Step.NUMBER or draft.method is None:
        raise Rejection("checkout.contact.not_now")
    if draft.method.kind != EWALLET:
        raise Rejection("checkout.contact.at_bank")
    cleaned, name = read_contact(contact)
    if cleaned.remark is not None:
        return replace(_with_name(draft, name), step=Step.NUMBER, doubtful_number=cleaned.number)
    known = with_known_holder(confirm_number(draft, cleaned.number), recipients)
    return known if known.holder is not None else _with_name(known, name)


def _with_name(draft: OrderDraft, name: str | None) -> OrderDraft:
    return _ask_next(replace(draft, holder=name, holder_asked=name is not None))


def _try_clean(method: PayoutMethod, number: str | None) -> CleanNumber | Rejection | None:
    if number is None:
        return None
    try:
        return clean_number(method, number)
    except Rejection as refused:
        return refused


def _without_recipient(draft: OrderDraft) -> OrderDraft:
    """Return the draft without number and holder, which belong together."""
    return replace(draft, number=None, doubtful_number=None, holder=None, holder_asked=False)


def _ask_next(draft: OrderDraft) -> OrderDraft:
    return replace(draft, step=missing(draft))

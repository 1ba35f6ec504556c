"""Take shared contacts: a phone's number is that of an e-wallet, and the contact's name goes with it."""

from dataclasses import dataclass, field, replace

from telegram import Contact

from bot.checkout.answers import confirm_number, with_known_holder
from bot.checkout.draft import OrderDraft, Step
from bot.checkout.flow import missing
from bot.checkout.handlers import DraftHandlers
from bot.checkout.open_draft import DRAFT, is_replayed, open_draft
from bot.checkout.sender import get_recipients
from bot.checkout.service import DraftService
from bot.core.errors import Rejection
from bot.infra.i18n import Html
from bot.infra.telegram.ui.screen import Screen
from bot.recipients.holders import clean_holder
from bot.recipients.numbers import CleanNumber, clean_contact, to_international
from bot.settlement.model import EWALLET
from bot.users.buttons import send_row
from bot.users.session import Session


@dataclass(frozen=True, slots=True)
class SharedContact:
    """A contact's number in the form that is sent, and its name if a bank could print it."""

    cleaned: CleanNumber = field(repr=False)
    name: str | None = field(default=None, repr=False)


class ContactHandlers:
    """Begin drafts with a contact, and take one as an answer."""

    def __init__(self, *, drafts: DraftService, draft_handlers: DraftHandlers) -> None:
        self._drafts = drafts
        self._draft_handlers = draft_handlers

    async def begin(self, session: Session, contact: Contact) -> None:
        """Begin a draft with the contact. It asks for the e-wallet."""
        try:
            shared = read_contact(contact)
        except Rejection as rejection:
            await session.show(Screen(session.format_rejection(rejection), (send_row(session.t),)))
            return
        if not is_replayed(session):
            session[DRAFT] = await self._drafts.begin(
                session.user.id, session.chat_id, session.update_id, lambda draft: _wait_for_ewallet(draft, shared)
            )
            session.notice = _describe(session, shared)
        await self._draft_handlers.show(session)

    async def take(self, session: Session, contact: Contact) -> None:
        """Take the contact as the answer to the open question, or say why it can't be one."""
        await self._draft_handlers.take_answer(session, self._answer(session, open_draft(session), contact))

    async def _answer(self, session: Session, draft: OrderDraft, contact: Contact) -> OrderDraft:
        if draft.step is Step.DESTINATION:
            shared = read_contact(contact)
            filled = _wait_for_ewallet(draft, shared)
        elif draft.step is Step.NUMBER and draft.method is not None:
            if draft.method.kind != EWALLET:
                raise Rejection("checkout.contact.at_bank")
            shared = read_contact(contact)
            filled = await self._with_number(session, draft, shared)
        elif draft.step is Step.HOLDER:
            shared = read_contact(contact)
            if shared.cleaned.number != draft.number or shared.name is None:
                raise Rejection("checkout.contact.other_number")
            filled = _with_name(draft, shared)
        else:
            raise Rejection("checkout.contact.not_now")
        session.notice = _describe(session, shared)
        return filled

    async def _with_number(self, session: Session, draft: OrderDraft, shared: SharedContact) -> OrderDraft:
        """Return the draft with the contact's number. A name that was typed or ordered to before is the better one."""
        if shared.cleaned.remark is not None:
            return replace(_with_name(draft, shared), step=Step.NUMBER, doubtful_number=shared.cleaned.number)
        taken = confirm_number(draft, shared.cleaned.number)
        known = with_known_holder(taken, await get_recipients(session))
        return known if known.holder is not None else _with_name(known, shared)


def read_contact(contact: Contact) -> SharedContact:
    """Return the contact's number and name.

    Raises:
        Rejection: those of `clean_contact`. A name that no bank prints is left out.
    """
    cleaned = clean_contact(contact.phone_number or "")
    try:
        name = clean_holder(" ".join(filter(None, (contact.first_name, contact.last_name))))
    except Rejection:
        name = None
    return SharedContact(cleaned, name)


def _wait_for_ewallet(draft: OrderDraft, shared: SharedContact) -> OrderDraft:
    """Return the draft that asks to which e-wallet the number belongs. No bank accepts it in this form."""
    waiting = replace(draft, number=None, doubtful_number=to_international(shared.cleaned.number), method=None)
    return replace(waiting, holder=shared.name, holder_asked=shared.name is not None, step=Step.DESTINATION)


def _with_name(draft: OrderDraft, shared: SharedContact) -> OrderDraft:
    named = replace(draft, holder=shared.name, holder_asked=shared.name is not None)
    return replace(named, step=missing(named))


def _describe(session: Session, shared: SharedContact) -> Html:
    parts = " · ".join(filter(None, (shared.cleaned.number, shared.name)))
    return session.t("checkout.contact.taken", parts=parts)

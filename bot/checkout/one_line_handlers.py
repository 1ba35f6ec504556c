"""Take orders in one line: show what was understood, and ask only for what is missing or ambiguous.

The line follows `/send`, is a plain message, or is typed in place of an answer. At the review, a sum alone is a line,
too. Nothing is placed without the review and its button.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from bot.checkout import one_line as lines
from bot.checkout.confirmation import with_quote
from bot.checkout.draft import DraftStatus, OrderDraft, RequestTerms, Step, new_draft
from bot.checkout.handlers import DraftHandlers
from bot.checkout.one_line import LineReading
from bot.checkout.open_draft import DRAFT, is_replayed, open_draft
from bot.checkout.parser import OneLine, unknown_person, unsent_note
from bot.checkout.screens.formatting import format_amount
from bot.checkout.sender import get_recipients
from bot.checkout.service import DraftService
from bot.checkout.steps.amount import AmountStep
from bot.checkout.steps.destination import list_methods, show_candidates
from bot.core.errors import Rejection
from bot.core.money import ForeignCurrency
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.formatting import quote_input
from bot.infra.telegram.ui.screen import Screen
from bot.recipients.banks import display_name
from bot.recipients.formatting import format_method
from bot.recipients.model import SavedRecipient, find_by_name, recipient_title
from bot.recipients.numbers import MIN_ACCOUNT_DIGITS
from bot.settlement.catalogue import ServiceCatalogue
from bot.settlement.model import PayoutMethod, ServiceDown, SettlementFailure
from bot.users.buttons import send_row
from bot.users.session import Session

SAID_WHILE_ASKING = frozenset({Step.DESTINATION, Step.NUMBER, Step.HOLDER})
"""The other questions show all that is known themselves."""


class OneLineHandlers:
    """Begin drafts with one line, and fill an open one."""

    def __init__(
        self,
        *,
        catalogue: ServiceCatalogue,
        drafts: DraftService,
        draft_handlers: DraftHandlers,
        amount: AmountStep,
    ) -> None:
        self._catalogue = catalogue
        self._drafts = drafts
        self._draft_handlers = draft_handlers
        self._amount = amount

    async def begin(self, session: Session, text: str, terms: RequestTerms | None = None) -> None:
        """Begin a draft with what the line says, in the place of an open one. With `terms`, it is a payment request.

        A request goes to the user's own account. Names of recipients, and a name without a number, may be the payer's.
        """
        try:
            methods, known = await self._list(session)
        except SettlementFailure:
            screen = Screen(session.t("checkout.one_line.unread"), (send_row(session.t),))
            await session.show(session.with_resume(screen))
            return
        reading = lines.read_order_line(text, methods, known := () if terms else known)
        if terms and not reading.has_number:
            reading = replace(reading, line=replace(reading.line, holder=None))
        notices = []
        if not is_replayed(session):
            before = session[DRAFT]
            has_replaced = before is not None and before.has_answers
            draft = replace(new_draft(chat_id=session.chat_id, user_id=session.user.id, now=session.now), terms=terms)
            filled = await with_quote(self._catalogue, lines.fill_draft(draft, reading, methods, known))
            session[DRAFT] = await self._drafts.begin_with(filled, session.update_id)
            warning = None if terms else await self._draft_handlers.warn_of_limit(session)
            notices = [warning, session.t("checkout.draft.replaced") if has_replaced else None]
        elif open_draft(session).last_update_id != session.update_id:
            await self._draft_handlers.show(session)
            return
        await self._ask(session, text, reading, methods, known, notices=notices)

    async def take_line(self, session: Session, text: str) -> bool:
        """Fill an open draft with a line that is typed in place of an answer.

        Returns False if `text` is only an answer to the open question.
        """
        draft = open_draft(session)
        if draft.status is not DraftStatus.OPEN:
            return False
        try:
            methods, known = await self._list(session)
        except SettlementFailure:
            return False
        reading = lines.read_answer(draft, text, methods, known)
        if reading is None or (draft.step is Step.DESTINATION and _is_a_name(text, methods, known)):
            return False
        filled = replace(lines.fill_draft(draft, reading, methods, known), refusal=None)
        saved = await self._drafts.save(await with_quote(self._catalogue, filled), session.update_id)
        session[DRAFT] = saved or await self._drafts.get(draft.id)
        if saved is None:
            await self._draft_handlers.show(session)
        else:
            await self._ask(session, text, reading, methods, known)
        return True

    async def is_order(self, session: Session, text: str) -> bool:
        """Return whether a plain message outside a draft begins an order."""
        known = await get_recipients(session)
        if not lines.may_be_order(text, known):
            return False
        try:
            methods: Sequence[PayoutMethod] = await list_methods(self._catalogue)
        except SettlementFailure:
            methods = ()
        return lines.is_order(text, methods, known)

    async def _list(self, session: Session) -> tuple[Sequence[PayoutMethod], Sequence[SavedRecipient]]:
        """Return the live list and the saved recipients.

        Raises:
            ServiceDown: the list is empty. Without it, a bank's name would be taken for a holder's name.
        """
        methods = await list_methods(self._catalogue)
        if not methods:
            raise ServiceDown
        return methods, await get_recipients(session)

    async def _ask(
        self,
        session: Session,
        text: str,
        reading: LineReading,
        methods: Sequence[PayoutMethod],
        known: Sequence[SavedRecipient],
        *,
        notices: Sequence[Html | None] = (),
    ) -> None:
        """Show what was understood and what wasn't, and ask the first ambiguous or missing answer."""
        for rejection in reading.line.rejections[-1:]:
            await self._draft_handlers.record_refusal(session, rejection)
        draft, choice, refused = open_draft(session), None, None
        try:
            choice = await self._choose(session, draft, text, reading)
        except Rejection as rejection:
            await self._draft_handlers.record_refusal(session, rejection)
            draft, refused = open_draft(session), session.format_rejection(rejection)
        is_asked = choice is not None and draft.step is Step.AMOUNT
        parts = [
            *notices,
            _format_understood(session.t, draft) if choice is not None or draft.step in SAID_WHILE_ASKING else None,
            *_list_not_taken(session.t, draft, reading, methods, is_asked=is_asked),
            _explain_leftover(session.t, draft, text, reading.line, known),
            refused,
        ]
        session.notice = Html("\n".join(each for each in parts if each)) or None
        if choice is None:
            await self._draft_handlers.show(session)
        else:
            await session.show(choice)

    async def _choose(self, session: Session, draft: OrderDraft, text: str, reading: LineReading) -> Screen | None:
        """Return the choice that the line left open for this question. The step itself asks about an unusual number.

        Raises:
            Rejection: none of the sums that the line can mean is allowed.
        """
        line = reading.line
        if draft.step is Step.DESTINATION and reading.has_choice:
            return show_candidates(session.t, draft, reading.beginning, line.method_candidates, reading.recipients)
        if draft.step is not Step.AMOUNT or not reading.asks_sum:
            return None
        if line.amount_readings:
            return await self._amount.ask_which(session, draft, line.amount_text, line.amount_readings)
        return await self._amount.ask_dollars(session, draft, text)


def _format_understood(t: Translator, draft: OrderDraft) -> Html | None:
    parts = [
        format_amount(t, draft.amount) if draft.amount else None,
        format_method(draft.method),
        draft.number or draft.doubtful_number,
        draft.holder,
    ]
    known = " · ".join(part for part in parts if part)
    return t("checkout.one_line.understood", parts=known) if known else None


def _list_not_taken(
    t: Translator,
    draft: OrderDraft,
    reading: LineReading,
    methods: Sequence[PayoutMethod],
    *,
    is_asked: bool,
) -> Iterator[Html]:
    """Yield what was understood but can't be taken. `is_asked`: the sum is being asked about."""
    line = reading.line
    for rejection in line.rejections:
        if not (is_asked and isinstance(rejection, ForeignCurrency)):
            yield t.translate(rejection)
    if reading.recipient is not None and lines.has_vanished(reading, methods):
        yield t("checkout.recipient.vanished", name=format_method(reading.recipient.method))
    if line.doubtful_holder and not draft.holder_asked:
        yield t("checkout.one_line.holder_unsure", text=quote_input(line.doubtful_holder))
    if line.amount_readings and draft.step is not Step.AMOUNT:
        yield t("checkout.one_line.sum_later", text=quote_input(line.amount_text))


def _explain_leftover(
    t: Translator, draft: OrderDraft, text: str, line: OneLine, known: Sequence[SavedRecipient]
) -> Html | None:
    """Return what becomes of the words that aren't part of an order, or None if nothing is left to say."""
    note, person = unsent_note(text, line.leftover), unknown_person(text, line.leftover)
    if draft.terms is None and _covers(note, line):
        return t("checkout.one_line.no_note", text=quote_input(note))
    if draft.terms is None and _covers(person, line):
        return _explain_person(t, draft, person, known)
    left, is_number_asked = line.leftover, draft.method is not None and not (draft.number or draft.doubtful_number)
    if is_number_asked and len(left) == 1 and left[0].isdecimal() and len(left[0]) < MIN_ACCOUNT_DIGITS:
        return t("checkout.one_line.short_number", text=left[0])
    return t("checkout.one_line.leftover", text=quote_input(" ".join(left))) if left else None


def _explain_person(t: Translator, draft: OrderDraft, person: str, known: Sequence[SavedRecipient]) -> Html | None:
    """Return whether a saved recipient has this name, and that the typed number counts."""
    named, number = find_by_name(known, person), draft.number or draft.doubtful_number
    if number is None:
        return t("checkout.one_line.no_recipient", text=quote_input(person))
    if any(each.number == number for each in named):
        return None
    return t("checkout.one_line.other_number" if named else "checkout.one_line.not_saved", text=quote_input(person))


def _covers(words: str, line: OneLine) -> bool:
    """Return whether these words are all that wasn't understood."""
    return bool(words) and set(line.leftover) <= set(words.split())


def _is_a_name(text: str, methods: Sequence[PayoutMethod], known: Sequence[SavedRecipient]) -> bool:
    """Return whether the whole text is the name of a destination or recipient with digits in it."""
    typed = text.strip().casefold()
    names = (*(recipient_title(each) for each in known), *(name for m in methods for name in (m.name, display_name(m))))
    return typed in {name.casefold() for name in names}

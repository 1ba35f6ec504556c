"""Take orders in one line: show what was understood, and ask only for what is missing or ambiguous.

The line follows `/send`, is a plain message, or is typed in place of an answer. At the review, an amount alone is a
line, too. Nothing is placed without the review and its button.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from bot.checkout import one_line as lines
from bot.checkout.draft import DraftStatus, OrderDraft, Step
from bot.checkout.handlers import DraftHandlers
from bot.checkout.one_line import LineReading
from bot.checkout.open_draft import DOUBT, draft_of, get_recipients, is_replayed, open_draft
from bot.checkout.parser import OneLine, unknown_person, unsent_note
from bot.checkout.screens import format_amount
from bot.checkout.service import DraftService
from bot.checkout.steps.amount import AmountStep
from bot.checkout.steps.recipient import list_methods, show_candidates
from bot.core.errors import Rejection
from bot.core.money import ForeignCurrency
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.reader import quote_input
from bot.infra.telegram.ui.screen import Screen
from bot.recipients.formatting import format_method
from bot.recipients.model import SavedRecipient, find_by_name
from bot.recipients.numbers import MIN_ACCOUNT_DIGITS
from bot.settlement.catalogue import ServiceCatalogue
from bot.settlement.errors import NotUnderstood, SettlementFailure
from bot.settlement.model import PayoutMethod
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

    async def begin(self, session: Session, text: str, request: OrderDraft | None = None) -> None:
        """Begin a draft with what the line says, in the place of an open one. `request` is that of a payment request.

        A request goes to the user's own account. Names of recipients, and a name without a number, may be the payer's.
        """
        try:
            methods, known = await self._list(session)
        except SettlementFailure:
            screen = Screen(session.t("checkout.one_line.unread"), (send_row(session.t),))
            await session.show(session.with_resume(screen))
            return
        known = () if request else known
        reading = lines.read_order_line(text, methods, known)
        if request:
            reading = lines.for_request(reading, text)
        if not is_replayed(session):
            filled = lines.fill_draft(request or draft_of(session), reading, methods, known)
            await self._draft_handlers.begin(session, filled)
        elif open_draft(session).last_update_id != session.update_id:
            await self._draft_handlers.show(session)
            return
        await self._ask(session, text, reading, methods, known)

    async def take_line(self, session: Session, text: str) -> bool:
        """Fill an open draft with a line that is typed in place of an answer.

        Returns False if `text` is only an answer to the open question. A payment request takes a line only in place of
        its first answer, also with the word that asks.
        """
        draft = open_draft(session)
        asks = lines.ASKS.match(text)
        is_taken = asks is None if draft.terms is None else draft.step is Step.DESTINATION
        if draft.status is not DraftStatus.OPEN or not is_taken:
            return False
        text = text[asks.end() :] if asks else text
        try:
            methods, known = await self._list(session)
        except SettlementFailure:
            return False
        known = () if draft.terms else known
        reading = lines.read_answer(draft, text, methods, known)
        if draft.terms and reading is not None:
            reading = lines.for_request(reading, text)
        if reading is None or (draft.step is Step.DESTINATION and lines.is_a_name(text, methods, known)):
            return False
        filled = replace(lines.fill_draft(draft, reading, methods, known), refusal=None)
        if await self._draft_handlers.save(session, filled):
            await self._ask(session, text, reading, methods, known)
        else:
            await self._draft_handlers.show(session)
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

    async def is_part_of_order(self, session: Session, text: str) -> bool:
        """Return whether a plain message outside a draft is an amount or a destination's name, and no whole order."""
        try:
            methods = await list_methods(self._catalogue)
        except SettlementFailure:
            return False
        return lines.ASKS.match(text) is None and lines.is_part_of_order(text, methods, await get_recipients(session))

    async def _list(self, session: Session) -> tuple[Sequence[PayoutMethod], Sequence[SavedRecipient]]:
        """Return the live list and the saved recipients.

        Raises:
            NotUnderstood: the list is empty. Without it, a bank's name would be taken for a holder's name.
        """
        methods = await list_methods(self._catalogue)
        if not methods:
            raise NotUnderstood("the list is empty")
        return methods, await get_recipients(session)

    async def _ask(
        self,
        session: Session,
        text: str,
        reading: LineReading,
        methods: Sequence[PayoutMethod],
        known: Sequence[SavedRecipient],
    ) -> None:
        """Show what was understood and what wasn't, and ask the first ambiguous or missing answer."""
        for rejection in reading.line.rejections[-1:]:
            await self._draft_handlers.record_refusal(session, rejection)
        draft, choice, refused = open_draft(session), None, None
        try:
            choice = await self._choose(session, draft, text, reading)
            await self._draft_handlers.record_refusal(session, session[DOUBT])
        except Rejection as rejection:
            await self._draft_handlers.record_refusal(session, rejection)
            draft, refused = open_draft(session), session.format_rejection(rejection)
        is_asked = choice is not None and draft.step is Step.AMOUNT
        who = "" if choice is not None else _find_unknown(draft, text, reading.line)
        session.add_notice(
            _format_understood(session.t, draft, who, asks_who=choice is None and reading.recipient is None)
            if choice is not None or draft.step in SAID_WHILE_ASKING
            else None,
            *_list_not_taken(session.t, draft, reading, methods, is_asked=is_asked, who=who),
            _explain_leftover(session.t, draft, text, reading.line, known),
            refused,
        )
        if choice is None:
            await self._draft_handlers.show(session)
        else:
            await session.ask(choice)

    async def _choose(self, session: Session, draft: OrderDraft, text: str, reading: LineReading) -> Screen | None:
        """Return the choice that the line left open for this question. The step itself asks about an unusual number.

        Raises:
            Rejection: none of the amounts that the line can mean is allowed.
        """
        line = reading.line
        if draft.step is Step.DESTINATION and reading.has_choice:
            return show_candidates(session.t, draft, reading.beginning, line.method_candidates, reading.recipients)
        if draft.step is not Step.AMOUNT or not reading.asks_amount:
            return None
        if line.amount_readings:
            return await self._amount.ask_which(session, draft, line.amount_text, line.amount_readings)
        return await self._amount.ask_dollars(session, draft, text)


def _find_unknown(draft: OrderDraft, text: str, line: OneLine) -> str:
    """Return who receives the money, if nothing but their name is known of them."""
    if draft.terms or draft.method or draft.number or draft.doubtful_number:
        return ""
    person = unknown_person(text, line.leftover)
    return line.doubtful_holder or (person if _covers(person, line) else "")


def _format_understood(t: Translator, draft: OrderDraft, who: str, *, asks_who: bool) -> Html | None:
    parts = [
        format_amount(t, draft.amount) if draft.amount else None,
        format_method(draft.method),
        draft.number or draft.doubtful_number,
        draft.holder,
    ]
    known = " · ".join(part for part in parts if part)
    if who:
        return Html(t("checkout.one_line.who_is", text=quote_input(who), parts=known).strip())
    if draft.terms is None and draft.amount and known == parts[0] and asks_who:
        return t("checkout.one_line.who_gets", amount=known)
    return t("checkout.one_line.understood", parts=known) if known else None


def _list_not_taken(
    t: Translator,
    draft: OrderDraft,
    reading: LineReading,
    methods: Sequence[PayoutMethod],
    *,
    is_asked: bool,
    who: str,
) -> Iterator[Html]:
    """Yield what was understood but can't be taken. `is_asked`: the amount is being asked about. `who` is asked for."""
    line = reading.line
    for rejection in line.rejections:
        if not (is_asked and isinstance(rejection, ForeignCurrency)):
            yield t.translate(rejection)
    if reading.recipient is not None and lines.has_vanished(reading, methods):
        yield t("checkout.recipient.vanished", name=format_method(reading.recipient.method))
    if line.doubtful_holder and not draft.holder_asked and not who:
        yield t("checkout.one_line.holder_unsure", text=quote_input(line.doubtful_holder))
    if line.amount_readings and draft.step is not Step.AMOUNT:
        yield t("checkout.one_line.amount_later", text=quote_input(line.amount_text))


def _explain_leftover(
    t: Translator, draft: OrderDraft, text: str, line: OneLine, known: Sequence[SavedRecipient]
) -> Html | None:
    """Return what becomes of the words that aren't part of an order, or None if nothing is left to say."""
    note, person = unsent_note(text, line.leftover), unknown_person(text, line.leftover)
    if draft.terms is None and _covers(person, line):
        return _explain_person(t, draft, person, known)
    if draft.terms is None and _covers(note, line):
        return t("checkout.one_line.no_note", text=quote_input(note))
    leftover, is_number_asked = line.leftover, draft.method is not None and not (draft.number or draft.doubtful_number)
    if is_number_asked and len(leftover) == 1 and leftover[0].isdecimal() and len(leftover[0]) < MIN_ACCOUNT_DIGITS:
        return t("checkout.one_line.short_number", text=leftover[0])
    return t("checkout.one_line.leftover", text=quote_input(" ".join(leftover))) if leftover else None


def _explain_person(t: Translator, draft: OrderDraft, person: str, known: Sequence[SavedRecipient]) -> Html | None:
    """Return whether a saved recipient has this name, and that the typed number counts."""
    named, number = find_by_name(known, person), draft.number or draft.doubtful_number
    if number is None and draft.method is None:
        return None  # "Who is …?" was said already
    if number is None:
        return t("checkout.one_line.no_recipient", text=quote_input(person))
    if any(each.number == number for each in named):
        return None
    return t("checkout.one_line.other_number" if named else "checkout.one_line.not_saved", text=quote_input(person))


def _covers(words: str, line: OneLine) -> bool:
    """Return whether these words are all that wasn't understood."""
    return bool(words) and set(line.leftover) <= set(words.split())

"""Take orders in one line: show what was understood, and ask only for what is missing or ambiguous.

The line follows `/send`, is a plain message, or answers the question for the destination. Nothing is placed without the
review.
"""

from collections.abc import Iterator, Sequence

from bot.checkout import one_line as lines
from bot.checkout.draft import DraftStatus, OrderDraft, Step
from bot.checkout.handlers import DraftHandlers
from bot.checkout.one_line import LineReading
from bot.checkout.open_draft import DRAFT, is_replayed, open_draft
from bot.checkout.screens import amount, destination
from bot.checkout.screens.formatting import format_amount
from bot.checkout.service import DraftService
from bot.checkout.steps.destination import list_methods
from bot.core.money import Ambiguous
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.formatting import quote_input
from bot.infra.telegram.ui.screen import Screen
from bot.recipients.banks import display_name
from bot.recipients.formatting import format_method
from bot.recipients.model import SavedRecipient, recipient_title
from bot.recipients.service import RecipientService
from bot.settlement.catalogue import ServiceCatalogue
from bot.settlement.model import PayoutMethod, ServiceDown, SettlementFailure
from bot.users.screens.buttons import send_row
from bot.users.session import Session

SAID_WHILE_ASKING = frozenset({Step.DESTINATION, Step.NUMBER, Step.HOLDER})
"""The other questions show all that is known themselves."""


class OneLineHandlers:
    """Begin drafts with one line, and fill an open one."""

    def __init__(
        self,
        *,
        catalogue: ServiceCatalogue,
        recipients: RecipientService,
        drafts: DraftService,
        draft_handlers: DraftHandlers,
    ) -> None:
        self._catalogue = catalogue
        self._recipients = recipients
        self._drafts = drafts
        self._draft_handlers = draft_handlers

    async def begin(self, session: Session, text: str) -> None:
        """Begin a draft with what the line says, in the place of an open one."""
        try:
            methods, known = await self._list(session)
        except SettlementFailure:
            screen = Screen(session.t("checkout.one_line.unread"), (send_row(session.t),))
            await session.show(session.with_resume(screen))
            return
        reading = lines.read_order_line(text, methods, known)
        notices = []
        if not is_replayed(session):
            before = session[DRAFT]
            has_replaced = before is not None and before.has_answers
            session[DRAFT] = await self._drafts.begin(
                session.user.id,
                session.chat_id,
                session.update_id,
                lambda draft: lines.fill_draft(draft, reading, methods, known),
            )
            warning = await self._draft_handlers.warn_of_limit(session)
            notices = [warning, session.t("checkout.draft.replaced") if has_replaced else None]
        elif open_draft(session).last_update_id != session.update_id:
            await self._draft_handlers.show(session)
            return
        await self._ask(session, reading, methods, notices)

    async def take_line(self, session: Session, text: str) -> bool:
        """Fill an open draft that asks for the destination.

        Returns False if `text` is only a destination's name.
        """
        draft = open_draft(session)
        if draft.step is not Step.DESTINATION or draft.status is not DraftStatus.OPEN:
            return False
        try:
            methods, known = await self._list(session)
        except SettlementFailure:
            return False
        reading = lines.read_order_line(text, methods, known)
        if not reading.says_more or _is_a_name(text, methods, known):
            return False
        saved = await self._drafts.save(lines.fill_draft(draft, reading, methods, known), session.update_id)
        session[DRAFT] = saved or await self._drafts.get(draft.id)
        if saved is None:
            await self._draft_handlers.show(session)
        else:
            await self._ask(session, reading, methods, [])
        return True

    async def is_order(self, session: Session, text: str) -> bool:
        """Return whether a plain message outside a draft begins an order."""
        known = await self._recipients.list_all(session.user.id)
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
        return methods, await self._recipients.list_all(session.user.id)

    async def _ask(
        self, session: Session, reading: LineReading, methods: Sequence[PayoutMethod], notices: Sequence[Html | None]
    ) -> None:
        """Show what was understood and what wasn't, and ask the first ambiguous or missing answer."""
        draft = open_draft(session)
        choice = _choice_screen(session.t, draft, reading)
        parts = [
            *notices,
            _format_understood(session.t, draft) if choice is not None or draft.step in SAID_WHILE_ASKING else None,
            *_list_not_taken(session.t, draft, reading, methods),
        ]
        session.notice = Html("\n".join(each for each in parts if each)) or None
        if choice is None:
            await self._draft_handlers.show(session)
        else:
            await session.show(choice)


def _choice_screen(t: Translator, draft: OrderDraft, reading: LineReading) -> Screen | None:
    """Return the choice that the line left open for this question. The step itself asks about an unusual number."""
    line = reading.line
    if draft.step is Step.DESTINATION and reading.has_choice:
        return destination.candidates(t, draft, reading.beginning, line.method_candidates, reading.recipients)
    if draft.step is Step.AMOUNT and line.amount_readings:
        return amount.readings(t, draft, line.amount_text, Ambiguous(line.amount_readings))
    return None


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
    t: Translator, draft: OrderDraft, reading: LineReading, methods: Sequence[PayoutMethod]
) -> Iterator[Html]:
    line = reading.line
    for rejection in line.rejections:
        yield t.translate(rejection)
    if reading.recipient is not None and lines.has_vanished(reading, methods):
        yield t("checkout.recipient.vanished", name=format_method(reading.recipient.method))
    if line.leftover:
        yield t("checkout.one_line.leftover", text=quote_input(" ".join(line.leftover)))
    if line.doubtful_holder and not draft.holder_asked:
        yield t("checkout.one_line.holder_unsure", text=quote_input(line.doubtful_holder))
    if line.amount_readings and draft.step is not Step.AMOUNT:
        yield t("checkout.one_line.sum_later", text=quote_input(line.amount_text))


def _is_a_name(text: str, methods: Sequence[PayoutMethod], known: Sequence[SavedRecipient]) -> bool:
    """Return whether the whole text is the name of a destination or recipient with digits in it."""
    typed = text.strip().casefold()
    names = (*(recipient_title(each) for each in known), *(name for m in methods for name in (m.name, display_name(m))))
    return typed in {name.casefold() for name in names}

"""Ask for what only a payment request has: a note, how often it can be paid, and until when."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from bot.checkout.buttons import DraftAction
from bot.checkout.draft import OrderDraft, RequestTerms
from bot.checkout.flow import missing
from bot.checkout.steps.handler import OutOfDate, TakeAnswer
from bot.core.datetime_parsing import read_moment
from bot.core.errors import Rejection
from bot.infra.telegram.ui.screen import Screen
from bot.payment_requests.screens import ask as screens
from bot.payment_requests.wording import read_note
from bot.users.session import Session

DAYS_OFFERED: Final = frozenset(map(str, screens.DAYS))


class NoteStep:
    """Ask for a note that payers read."""

    @property
    def buttons(self) -> Mapping[DraftAction, TakeAnswer]:
        """Return what takes the answer of each button."""
        return {DraftAction.SKIP: self._skip}

    async def show(self, session: Session, draft: OrderDraft) -> Screen:
        """Return the question."""
        return screens.ask_note(session.t, draft)

    async def take_typed(self, _: Session, draft: OrderDraft, text: str) -> OrderDraft:
        """Take the typed note. Raises the `Rejection`s of `read_note`."""
        return with_terms(draft, note=read_note(text), note_asked=True)

    async def _skip(self, _: Session, draft: OrderDraft, __: str) -> OrderDraft:
        """Go on without a note."""
        return with_terms(draft, note=None, note_asked=True)


class UsesStep:
    """Ask whether the request can be paid once or many times."""

    @property
    def buttons(self) -> Mapping[DraftAction, TakeAnswer]:
        """Return what takes the answer of each button."""
        return {DraftAction.USES: self._choose}

    async def show(self, session: Session, draft: OrderDraft) -> Screen:
        """Return the question."""
        return screens.ask_uses(session.t, draft)

    async def take_typed(self, _: Session, __: OrderDraft, ___: str) -> OrderDraft:
        """Point to the buttons."""
        raise Rejection("payment_requests.uses.press")

    async def _choose(self, session: Session, draft: OrderDraft, argument: str) -> OrderDraft:
        """Take how often it can be paid. The first review comes below the answers that were typed."""
        if argument not in {screens.ONCE, screens.MANY}:
            raise OutOfDate
        if draft.terms is None or draft.terms.is_reusable is None:
            session.message_id = None
        return with_terms(draft, is_reusable=argument == screens.MANY)


class EndStep:
    """Ask until when the request can be paid."""

    @property
    def buttons(self) -> Mapping[DraftAction, TakeAnswer]:
        """Return what takes the answer of each button."""
        return {DraftAction.END: self._choose}

    async def show(self, session: Session, draft: OrderDraft) -> Screen:
        """Return the question."""
        return screens.ask_end(session.t, draft)

    async def take_typed(self, session: Session, draft: OrderDraft, text: str) -> OrderDraft:
        """Take a typed day and time. Raises the `Rejection`s of `read_moment`."""
        return with_terms(draft, ends_at=read_moment(text, session.now, session.zone))

    async def _choose(self, session: Session, draft: OrderDraft, days: str) -> OrderDraft:
        """Take one of the ends on offer."""
        return with_terms(draft, ends_at=end_after(days, session.now))


def end_after(days: str, now: datetime) -> datetime | None:
    """Return the end that a button offers, or None for no end.

    Raises:
        OutOfDate: no button offers it.
    """
    if days not in DAYS_OFFERED:
        raise OutOfDate
    return now + timedelta(days=int(days)) if int(days) else None


def with_terms(draft: OrderDraft, **changes: object) -> OrderDraft:
    """Return the draft with other terms. It asks for what is missing next."""
    changed = replace(draft, terms=replace(draft.terms or RequestTerms(), **changes))  # type: ignore[arg-type]
    return replace(changed, step=missing(changed))

"""Ask for the account or phone number, clean it, and ask whether an unusual number is right."""

from collections.abc import Mapping

from bot.checkout.answers import confirm_number, waiting_number, with_known_holder
from bot.checkout.buttons import DraftAction
from bot.checkout.draft import OrderDraft
from bot.checkout.screens import number as screens
from bot.checkout.steps.handler import TakeAnswer
from bot.core.errors import Rejection
from bot.infra.telegram.ui.screen import Screen
from bot.recipients.numbers import clean_number
from bot.recipients.service import RecipientService
from bot.users.session import Session


class NumberStep:
    """Ask for the number."""

    def __init__(self, *, recipients: RecipientService) -> None:
        self._recipients = recipients

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
            return screens.doubt(session.t, draft, waiting.number, waiting.remark)
        return screens.screen(session.t, draft, draft.method)

    async def take_typed(self, session: Session, draft: OrderDraft, text: str) -> OrderDraft | Screen:
        """Take the typed number, or ask about an unusual one."""
        if draft.method is None:
            raise Rejection("checkout.destination.gone")
        cleaned = clean_number(draft.method, text)
        if cleaned.remark is not None:
            return screens.doubt(session.t, draft, cleaned.number, cleaned.remark)
        return await self._with(session, draft, cleaned.number)

    async def _use_anyway(self, session: Session, draft: OrderDraft, number: str) -> OrderDraft:
        """Take an unusual number that the user has confirmed."""
        if draft.method is None:
            raise Rejection("checkout.destination.gone")
        return await self._with(session, draft, number)

    async def _with(self, session: Session, draft: OrderDraft, number: str) -> OrderDraft:
        """Return the draft with the number, and with the holder's name of an earlier order to it."""
        return with_known_holder(confirm_number(draft, number), await self._recipients.list_all(session.user.id))

"""The review of a payment request: what payers will see, and the asker's consent."""

from collections.abc import Mapping
from dataclasses import replace

from bot.checkout.buttons import DraftAction
from bot.checkout.draft import OrderDraft, Step
from bot.checkout.flow import REQUEST_EDITS
from bot.checkout.open_draft import DRAFT
from bot.checkout.service import DraftService
from bot.checkout.steps.handler import OutOfDate, TakeAnswer
from bot.core.errors import Rejection
from bot.infra.telegram.ui.screen import Screen
from bot.payment_requests.screens import ask as screens
from bot.payment_requests.service import PaymentRequestService
from bot.payment_requests.steps.amount import RequestAmountStep
from bot.payment_requests.steps.holder import RequestHolderStep
from bot.users.session import Session


class RequestReviewStep:
    """Show the review, and make the request that is confirmed."""

    def __init__(
        self,
        *,
        drafts: DraftService,
        requests: PaymentRequestService,
        holder: RequestHolderStep,
        amount: RequestAmountStep,
    ) -> None:
        self._drafts = drafts
        self._requests = requests
        self._holder = holder
        self._amount = amount

    @property
    def buttons(self) -> Mapping[DraftAction, TakeAnswer]:
        """Return what takes the answer of each button."""
        return {
            DraftAction.CHANGE: self._ask_what_to_change,
            DraftAction.EDIT: self._edit,
            DraftAction.CONFIRM: self._confirm,
        }

    async def show(self, session: Session, draft: OrderDraft) -> Screen:
        """Return the review. If nobody can ask in a name that was known before, ask for another one.

        Raises:
            AmountRejected: a payer couldn't pay the sum of a line.
        """
        try:
            await self._holder.check(draft.holder or "")
        except Rejection as rejection:
            return await self._ask_name(session, draft, rejection)
        if draft.amount is not None:  # of a line
            await self._amount.take_amount(session, draft, draft.amount)
        return screens.show_review(session.reader, draft)

    async def take_typed(self, _: Session, __: OrderDraft, ___: str) -> OrderDraft:
        """Point to the buttons."""
        raise Rejection("checkout.review.press")

    async def _ask_name(self, session: Session, draft: OrderDraft, rejection: Rejection) -> Screen:
        session.notice = session.format_rejection(rejection)
        unnamed = replace(draft, holder=None, holder_asked=False, step=Step.HOLDER)
        saved = await self._drafts.save(unnamed, session.update_id)
        if saved is None:
            raise OutOfDate
        session[DRAFT] = saved
        return await self._holder.show(session, saved)

    async def _ask_what_to_change(self, session: Session, draft: OrderDraft, _: str) -> Screen:
        """Offer the answers that can be changed. The draft stays at its review."""
        return screens.show_changes(session.t, draft)

    async def _edit(self, _: Session, draft: OrderDraft, name: str) -> OrderDraft:
        """Go to the question whose answer the user wants to change."""
        if name not in REQUEST_EDITS:
            raise OutOfDate
        return replace(draft, step=REQUEST_EDITS[name])

    async def _confirm(self, session: Session, draft: OrderDraft, _: str) -> OrderDraft | Screen:
        """Make the request. Its card is a message of its own.

        Raises:
            Rejection: the user has too many open requests, or the end has passed.
        """
        await self._holder.check(draft.holder or "")
        request = await self._requests.create(replace(draft, message_id=session.message_id))
        if request is None:
            raise OutOfDate
        return screens.show_confirmed(session.t, request)

"""Show a question, give its answer to the step that asked, and show the next question.

A button of a question that was answered, or of an order that was placed, explains itself and leads back to the open
question.
"""

from collections.abc import Awaitable, Mapping
from dataclasses import replace
from typing import Final

from bot.checkout.buttons import DraftAction, DraftButton
from bot.checkout.confirmation import with_quote
from bot.checkout.draft import DraftStatus, OrderDraft, Step, without_method
from bot.checkout.flow import step_back
from bot.checkout.open_draft import DRAFT, open_draft
from bot.checkout.screens import draft as screens
from bot.checkout.screens.formatting import text_key
from bot.checkout.sender import get_placed
from bot.checkout.service import DraftService
from bot.checkout.steps.handler import OutOfDate, StepHandler
from bot.checkout.steps.review import CONFIRMED, ReviewStep
from bot.core.errors import Rejection
from bot.core.money import AmountRejected
from bot.infra.db.database import Database
from bot.infra.feature import Features
from bot.infra.i18n import Html
from bot.infra.telegram.ui.formatting import format_time
from bot.infra.telegram.ui.screen import Screen
from bot.orders.limits import LimitReached, TooManyOrders
from bot.orders.placement.service import OrderService
from bot.orders.repository import OrderRepository
from bot.orders.rules import DestinationClosed
from bot.orders.status_messages import StatusMessages
from bot.settlement.model import SettlementFailure
from bot.users.buttons import send_row
from bot.users.session import Session

STALE = "users.stale.button"

COMMON: Final = frozenset({DraftAction.BACK, DraftAction.CANCEL, DraftAction.SHOW})
"""The buttons that every question has."""


class DraftHandlers:
    """Show the question that a draft waits for, and take its answers."""

    def __init__(
        self,
        *,
        database: Database,
        drafts: DraftService,
        orders: OrderService,
        status_messages: StatusMessages,
        review: ReviewStep,
        steps: Mapping[Step, StepHandler],
        features: Features,
    ) -> None:
        self._database = database
        self._drafts = drafts
        self._orders = orders
        self._status_messages = status_messages
        self._review = review
        self._steps = steps
        self._features = features

    def actions_of(self, draft: OrderDraft) -> frozenset[DraftAction]:
        """Return what the buttons of a draft's question can do."""
        return frozenset((*self._step_of(draft).buttons, *COMMON))

    def has_button(self, session: Session, action: DraftAction) -> bool:
        """Return whether the open question has a button for this, other than the ones that all questions share."""
        return action in self._step_of(open_draft(session)).buttons

    def _step_of(self, draft: OrderDraft) -> StepHandler:
        """Return the handler of a draft's question. Payment requests have some of their own."""
        if draft.terms is not None:
            for feature in self._features:
                own: StepHandler | None = feature.request_steps.get(draft.step)
                if own is not None:
                    return own
        return self._steps[draft.step]

    async def show(self, session: Session, *, in_question: bool = False) -> None:
        """Show the question that the draft waits for. `in_question` is as in `Session.show`.

        The review is always a message of its own, so that it isn't above what was typed.
        """
        draft = open_draft(session)
        await session.acknowledge()
        if draft.status is not DraftStatus.OPEN:
            await self.explain_old_button(session, draft.id)
            return
        try:
            self._orders.rules.check_open(draft.method)
            screen = await self._step_of(draft).show(session, draft)
            await session.show(screen, in_question=in_question and draft.step is not Step.REVIEW)
            await self._stop_waiting(draft)
        except Rejection as rejection:
            await self._reject(session, rejection)
        except SettlementFailure:
            await self._show_service_down(session)

    async def show_after_outage(self, session: Session, draft: OrderDraft) -> None:
        """Show the question again in the message that said that the service can't be reached. Nothing is ordered.

        If the user has gone on to another message, that one stays the newest, with its button back to the draft.
        """
        if draft.message_id != session.chat.question_message_id:
            await self._stop_waiting(draft)
            return
        session[DRAFT], session.message_id = draft, draft.message_id
        try:
            screen = await self._step_of(draft).show(session, draft)
        except SettlementFailure:
            return  # it still waits
        except Rejection as rejection:
            await self._stop_waiting(draft)
            await self._reject(session, rejection)
            return
        back = session.t("checkout.service.back")
        session.notice = Html("\n".join(filter(None, (back, session.notice))))
        await session.show(screen)
        await self._stop_waiting(draft)

    async def take_typed(self, session: Session, text: str) -> None:
        """Pass typed text to the handler of the open question."""
        draft = open_draft(session)
        await self.take_answer(session, self._step_of(draft).take_typed(session, draft, text))

    async def take_button(self, session: Session, button: DraftButton) -> None:
        """Handle a button of the open question: its own button, or one that all questions share."""
        draft = open_draft(session)
        match button.action:
            case DraftAction.BACK:
                await self._save(session, step_back(draft))
            case DraftAction.CANCEL:
                await self.leave(session, draft)
            case DraftAction.SHOW:
                await self.show(session)
            case action:
                answer = self._step_of(draft).buttons[action]
                await self.take_answer(session, answer(session, draft, button.argument))
                confirmed = session[CONFIRMED]
                # While the request runs, there is no outcome that the review could have been written over.
                if confirmed is not None and not self._orders.submission.is_submitting(confirmed.reference):
                    await self._status_messages.show_outcome(session, confirmed)

    async def take_answer(self, session: Session, answer: Awaitable[OrderDraft | Screen]) -> None:
        """Save the draft with an answer and ask the next question, or show the question to ask first.

        `answer` may raise `Rejection` and `SettlementFailure`. Then the reason is shown with the same question.
        """
        try:
            result = await answer
        except Rejection as rejection:
            await self._reject(session, rejection)
        except SettlementFailure:
            await self._show_service_down(session)
        else:
            if isinstance(result, Screen):
                await session.show(result)
            else:
                await self._save(session, replace(result, refusal=None), in_question=True)

    async def leave(self, session: Session, draft: OrderDraft) -> None:
        """Cancel the draft."""
        await self._drafts.cancel(draft, session.update_id)
        await session.show(screens.cancelled(session.t, draft))

    async def show_late(self, session: Session) -> None:
        """Say that a message came too late for its question, and show the open question."""
        session.notice = session.t("users.chat.late")
        # Saved with this update's id, so that the next message is taken whatever its id is.
        await self._save(session, open_draft(session))

    async def explain_old_button(self, session: Session, draft_id: str) -> None:
        """Explain a button of a draft that is no longer open, and offer a way on."""
        draft = await self._drafts.get(draft_id)
        is_own = draft is not None and draft.chat_id == session.chat_id
        if draft is None or not is_own:
            await self.explain(session, STALE)
        elif draft.status is DraftStatus.PLACED:
            await self._show_placed(session, draft)
        elif draft.status is DraftStatus.EXPIRED and session[DRAFT] is None:
            await session.acknowledge(session.t.plain(text_key(draft, "checkout.stale.expired")))
            await session.show_below(screens.expired(session.t, draft))
        else:
            is_cancelled = draft.status is DraftStatus.CANCELLED
            await self.explain(session, text_key(draft, "checkout.stale.cancelled") if is_cancelled else STALE)

    async def explain(self, session: Session, key: str) -> None:
        """Answer a press of a button that no longer works, and show the question that is open, or how to begin."""
        await session.acknowledge(session.t.plain(key))
        session.message_id = None
        draft = session[DRAFT]
        if draft is not None and draft.status is DraftStatus.OPEN:
            await self.show(session)
        else:
            await session.show(Screen(session.t(key), (send_row(session.t),)))

    async def record_refusal(self, session: Session, rejection: Rejection) -> None:
        """Record for support why an answer to the open question was refused. An old button is no answer."""
        draft = session[DRAFT]
        if draft is not None and draft.status is DraftStatus.OPEN and not isinstance(rejection, OutOfDate):
            session[DRAFT] = await self._drafts.record_refusal(draft, rejection)

    async def warn_of_limit(self, session: Session) -> Html | None:
        """Return the warning for a user who can't order anything now, or None."""
        try:
            self._orders.check_user(await get_placed(session))
        except LimitReached as reached:
            again = format_time(session.t, reached.again, session.now, session.zone)
            return session.t("checkout.limits.foretold", again=again)
        except Rejection:
            return None
        return None

    def add_resume_button(self, session: Session, screen: Screen) -> Screen:
        """Return the screen with a button back to the open question, if an answer of it is known."""
        draft = session[DRAFT]
        return screen if draft is None or not draft.has_answers else screens.with_resume(session.t, screen, draft)

    def is_open(self, session: Session) -> bool:
        """Return whether a question is open."""
        return session[DRAFT] is not None

    async def show_question(self, session: Session) -> bool:
        """Show the question that is open again, and return whether there is one."""
        if session[DRAFT] is None:
            return False
        await self.show(session)
        return True

    async def report_damage(self, session: Session) -> None:
        """Report that the open draft can't be read, and close it."""
        await session.show_below(screens.damaged(session.t))
        await self._drafts.close_damaged(session.chat_id)

    async def _show_service_down(self, session: Session) -> None:
        """Say that the service can't be reached. The question returns to this message when it can be again."""
        await self.record_refusal(session, Rejection("checkout.service.down"))
        draft = open_draft(session)
        await session.show(screens.service_down(session.t, draft))
        message_id = session.chat.question_message_id
        if message_id is not None and draft.status is DraftStatus.OPEN:
            await self._drafts.wait_for_service(draft, message_id)

    async def _stop_waiting(self, draft: OrderDraft) -> None:
        if draft.message_id is not None:
            await self._drafts.stop_waiting(draft)

    async def _save(self, session: Session, draft: OrderDraft, *, in_question: bool = False) -> None:
        """Save an answer and ask the next question. If the draft has changed since, show it as it is now."""
        saved = await self._drafts.save(await with_quote(self._orders.catalogue, draft), session.update_id)
        session[DRAFT] = saved or await self._drafts.get(draft.id)
        await self.show(session, in_question=in_question)

    async def _reject(self, session: Session, rejection: Rejection) -> None:
        """Report the reason and ask the same question again.

        If the amount no longer fits, ask for the amount. If the destination takes no orders, ask for another one.
        """
        await self.record_refusal(session, rejection)
        draft = open_draft(session)
        if isinstance(rejection, TooManyOrders):
            await session.show(screens.limit_reached(session.t, draft, session.format_rejection(rejection)))
            return
        session.notice = Html("\n".join(filter(None, (session.notice, session.format_rejection(rejection)))))
        if isinstance(rejection, DestinationClosed):
            await self._save(session, without_method(draft))
            return
        if isinstance(rejection, AmountRejected) and draft.step is Step.REVIEW:
            await self._save(session, replace(draft, step=Step.AMOUNT))
            return
        if draft.step is Step.REVIEW:
            session.message_id = None
        try:
            await session.show(await self._step_of(draft).show(session, draft))
        except Rejection:
            await self._save(session, replace(draft, step=Step.DESTINATION))
        except SettlementFailure:
            await self._show_service_down(session)

    async def _show_placed(self, session: Session, draft: OrderDraft) -> None:
        """Show what a confirmed draft has become."""
        if draft.terms is None:
            await self._show_order(session, draft)
            return
        for feature in self._features:
            if feature.show_placed_request is not None:
                await feature.show_placed_request(session, draft)
                return
        await self.explain(session, STALE)

    async def _show_order(self, session: Session, draft: OrderDraft) -> None:
        """Show the order of a draft. A second tap on Confirm changes nothing; an older button shows its status."""
        await session.acknowledge(session.t.plain("checkout.stale.placed"))
        async with self._database.reading() as tx:
            order = await OrderRepository(tx).of_draft(draft.id)
        if order is not None and session.message_id == draft.message_id:
            await session.edit_message(await self._review.build_confirmed_screen(session, order))
            await self._status_messages.show_outcome(session, order)
        elif order is not None:
            await session.send_message(self._status_messages.build_screen(session, order))

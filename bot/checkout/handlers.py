"""Show a question, give its answer to the step that asked, and show the next question.

A button of a question that was answered, or of an order that was placed, explains itself and leads back to the open
question. Edits of answers aren't read, so what was understood first still counts.
"""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from telegram import Update

from bot.checkout import screens
from bot.checkout.buttons import DraftAction, DraftButton
from bot.checkout.draft import DraftStatus, OrderDraft, Step, without_method
from bot.checkout.flow import step_back
from bot.checkout.open_draft import DOUBT, DRAFT, USER_ORDERS, find_last_order, get_user_orders, open_draft
from bot.checkout.screens import text_key
from bot.checkout.service import DraftService, with_quote
from bot.checkout.steps import OutOfDate, StepHandler
from bot.checkout.steps.review import CONFIRMED
from bot.core.errors import Rejection, Remark
from bot.core.money import AmountRejected
from bot.infra.db.database import Database
from bot.infra.i18n import Html
from bot.infra.telegram.ui.reader import format_time
from bot.infra.telegram.ui.screen import Screen
from bot.orders.limits import LimitReached, TooManyOrders
from bot.orders.placement.service import OrderService
from bot.orders.repository import OrderRepository
from bot.orders.rules import DestinationClosed
from bot.orders.status_handlers import StatusMessages
from bot.settlement.errors import SettlementFailure
from bot.users.buttons import send_row
from bot.users.questions import get_open_question
from bot.users.session import Session

STALE = "users.stale.button"

COMMON: Final = frozenset({DraftAction.BACK, DraftAction.CANCEL, DraftAction.SHOW})
"""The buttons that every question has."""

ShowResult = Callable[[Session, OrderDraft], Awaitable[object]]


class DraftHandlers:
    """Show the question that a draft waits for, and take its answers."""

    def __init__(
        self,
        *,
        database: Database,
        drafts: DraftService,
        orders: OrderService,
        status_messages: StatusMessages,
        steps: Mapping[Step, StepHandler],
    ) -> None:
        self._database = database
        self._drafts = drafts
        self._orders = orders
        self._status_messages = status_messages
        self._steps = steps
        self._request_steps: Mapping[Step, StepHandler] = {}
        self._show_request: ShowResult = self._show_order

    def add_requests(self, steps: Mapping[Step, StepHandler], show_request: ShowResult) -> None:
        """Ask also for what a payment request needs. The feature that makes them calls it once, when it is built.

        Args:
            steps: the questions that an order doesn't have, or that differ.
            show_request: shows the payment request that a draft has become.
        """
        self._request_steps, self._show_request = steps, show_request

    def actions_of(self, draft: OrderDraft) -> frozenset[DraftAction]:
        """Return what the buttons of a draft's question can do."""
        return frozenset((*self._step_of(draft).buttons, *COMMON))

    def _step_of(self, draft: OrderDraft) -> StepHandler:
        """Return the handler of a draft's question. Payment requests have some of their own."""
        own = self._request_steps.get(draft.step) if draft.terms is not None else None
        return own or self._steps[draft.step]

    async def begin(self, session: Session, draft: OrderDraft, *, keeps_way: bool = False) -> None:
        """Begin this draft in the place of an open one. Say that answers were replaced, or that nothing can be ordered.

        The review says the latter itself. The way to pay is that of the last order to the recipient, unless the draft
        keeps its own.
        """
        replaced = session[DRAFT]
        if not keeps_way:
            draft = await self._with_last_way(session, None, draft)
        session[DRAFT] = await self._drafts.begin(await with_quote(self._orders.catalogue, draft), session.update_id)
        warning = await self._warn_of_limit(session) if draft.terms is None and draft.step is not Step.REVIEW else None
        has_replaced = replaced is not None and replaced.has_answers
        session.add_notice(warning, session.t("checkout.draft.replaced") if has_replaced else None)

    async def show(self, session: Session) -> None:
        """Show the question that the draft waits for."""
        draft = open_draft(session)
        await session.acknowledge()
        if draft.status is not DraftStatus.OPEN:
            await self.explain_old_button(session, draft.id)
            return
        try:
            self._orders.rules.check_open(draft.method)
            await session.ask(await self._step_of(draft).show(session, draft))
            await self._stop_waiting(draft)
        except Rejection as rejection:
            await self._reject(session, rejection)
        except SettlementFailure:
            await self._show_service_down(session)

    async def show_after_outage(self, session: Session, draft: OrderDraft) -> None:
        """Show the question again in the message that said that the service can't be reached. Nothing is ordered.

        If the user has gone on to another message, the question comes below it. While they are asked for something
        else that they type, it waits.
        """
        if get_open_question(session) is not None:
            return
        session[DRAFT] = draft
        session.message_id = draft.message_id if draft.message_id == session.chat.question_message_id else None
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
        await session.ask(screen)
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
                await self.record_refusal(session, session[DOUBT])
                # What a confirmed draft has become stays.
                await session.show(result, can_go=session[DRAFT] is not None)
            else:
                await self._save(session, replace(result, refusal=None))

    async def leave(self, session: Session, draft: OrderDraft) -> None:
        """Cancel the draft."""
        await self._drafts.cancel(draft, session.update_id)
        session[DRAFT] = None
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
            await self._show_result(session, draft)
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

    async def record_refusal(self, session: Session, why: Rejection | Remark | None) -> None:
        """Record for support why an answer to the open question was refused or doubted. An old button is no answer."""
        draft = session[DRAFT]
        if why and draft is not None and draft.status is DraftStatus.OPEN and not isinstance(why, OutOfDate):
            session[DRAFT] = await self._drafts.record_refusal(draft, why)

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
        session[USER_ORDERS] = None  # another feature may have changed them
        await self.show(session)
        return True

    async def report_damage(self, session: Session) -> None:
        """Report that the open draft can't be read, and close it."""
        await session.show_below(screens.damaged(session.t))
        await self._drafts.close_damaged(session.chat_id)

    async def _warn_of_limit(self, session: Session) -> Html | None:
        """Return the warning for a user who can't order anything now, or None."""
        try:
            self._orders.check_user(await get_user_orders(session))
        except LimitReached as reached:
            again = format_time(session.t, reached.again, session.now, session.zone)
            return session.t("checkout.limits.foretold", again=again)
        except Rejection:
            return None
        return None

    async def _show_service_down(self, session: Session) -> None:
        """Say that the service can't be reached. The question returns to this message when it can be again."""
        await self.record_refusal(session, Rejection("checkout.service.down"))
        draft = open_draft(session)
        await session.ask(screens.service_down(session.t, draft))
        message_id = session.chat.question_message_id
        if message_id is not None and draft.status is DraftStatus.OPEN:
            await self._drafts.wait_for_service(draft, message_id)

    async def _stop_waiting(self, draft: OrderDraft) -> None:
        if draft.message_id is not None:
            await self._drafts.stop_waiting(draft)

    async def save(self, session: Session, draft: OrderDraft) -> bool:
        """Save an answer. If the draft has changed since it was read, load it as it is now and return False."""
        draft = await self._with_last_way(session, session[DRAFT], draft)
        saved = await self._drafts.save(await with_quote(self._orders.catalogue, draft), session.update_id)
        session[DRAFT] = saved or await self._drafts.get(draft.id)
        return saved is not None

    async def _save(self, session: Session, draft: OrderDraft) -> None:
        """Save an answer and ask the next question. If the draft has changed since, show it as it is now."""
        await self.save(session, draft)
        await self.show(session)

    async def _with_last_way(self, session: Session, before: OrderDraft | None, draft: OrderDraft) -> OrderDraft:
        """Return the draft with the way to pay of the last order to its recipient, if the recipient is another one."""
        if before is not None and (before.method, before.number) == (draft.method, draft.number):
            return draft
        last = await find_last_order(session, draft)
        return draft if last is None else replace(draft, channel=last.channel)

    async def _reject(self, session: Session, rejection: Rejection) -> None:
        """Report the reason and ask the same question again.

        If the amount no longer fits, ask for the amount. If the destination takes no orders, ask for another one.
        """
        await self.record_refusal(session, rejection)
        draft = open_draft(session)
        if isinstance(rejection, TooManyOrders):
            reason = session.format_rejection(rejection)
            await session.show(screens.limit_reached(session.reader, draft, reason, rejection.unpaid))
            return
        session.add_notice(session.format_rejection(rejection))
        if isinstance(rejection, DestinationClosed):
            await self._save(session, without_method(draft))
            return
        if isinstance(rejection, AmountRejected) and draft.step is Step.REVIEW:
            await self._save(session, replace(draft, step=Step.AMOUNT))
            return
        if draft.step is Step.REVIEW:
            session.message_id = None
        try:
            await session.ask(await self._step_of(draft).show(session, draft))
        except Rejection:
            await self._save(session, replace(draft, step=Step.DESTINATION))
        except SettlementFailure:
            await self._show_service_down(session)

    async def _show_result(self, session: Session, draft: OrderDraft) -> None:
        """Show what a confirmed draft has become."""
        await (self._show_order if draft.terms is None else self._show_request)(session, draft)

    async def _show_order(self, session: Session, draft: OrderDraft) -> None:
        """Show the order of a draft. A second tap on Confirm changes nothing; an older button shows its status."""
        await session.acknowledge(session.t.plain("checkout.stale.placed"))
        async with self._database.reading() as tx:
            order = await OrderRepository(tx).of_draft(draft.id)
        if order is not None and session.message_id == draft.message_id:
            await self._status_messages.show_outcome(session, order)
        elif order is not None:
            await session.send_message(self._status_messages.build_screen(session, order))


MAX_CHATS: Final = 10_000


class _Answer(NamedTuple):
    message_id: int
    text: str
    draft_id: str | None
    """The draft that it answered. None if it answered another question."""
    screen: int | None
    """The message that was shown for it."""


class EditedAnswers:
    """Explain edits of the newest text of a private chat that answered its draft or another question.

    These texts are only in memory. After a restart, an edit gets no explanation.
    """

    def __init__(self) -> None:
        self._newest: OrderedDict[int, _Answer] = OrderedDict()

    async def remember(self, session: Session) -> None:
        """Remember the text of an update that was handled, if it was an answer."""
        typed, draft = session.typed, session[DRAFT]
        draft_id = draft.id if draft is not None and draft.last_update_id == session.update_id else None
        if typed is None or typed.text is None or (draft_id is None and not session.is_answered):
            return
        shown = session.chat.question_message_id
        self._newest[session.chat_id] = _Answer(typed.message_id, typed.text, draft_id, shown)
        self._newest.move_to_end(session.chat_id)
        if len(self._newest) > MAX_CHATS:
            self._newest.popitem(last=False)

    async def take_edit(self, session: Session, update: Update) -> bool:
        """Say once that an edit isn't read, and show what still counts. Return False for any other update.

        Support takes edits of messages in tickets before. Live locations and previews change no text.
        """
        message, known, draft = update.edited_message, self._newest.get(session.chat_id), session[DRAFT]
        if message is None or not session.is_private:
            return False
        if known is None or message.message_id != known.message_id or message.text in {None, known.text}:
            return True
        del self._newest[session.chat_id]
        if draft is not None and draft.id == known.draft_id:
            session.notice = session.t("checkout.chat.edited")
            await session.show_question()
        elif known.draft_id is None and session.chat.question_message_id == known.screen:
            await session.send_message(Screen(session.t("checkout.chat.edited_above")))
        return True

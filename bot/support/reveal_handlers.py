"""Handle the buttons that show a full recipient to a support agent.

The button works in any chat of support. The question for the reason and the recipient come in the agent's private
chat. Each step checks again whether the agent may see the recipient.
"""

from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from typing import Final

from bot.core.errors import Rejection
from bot.infra.telegram.outbound.sender import Delivered, Messenger, Unreachable
from bot.infra.telegram.ui.routes import Routes
from bot.infra.telegram.ui.screen import Screen
from bot.support.buttons import RevealAction, RevealButton
from bot.support.model import Reason, read_reason
from bot.support.reveals import RevealService
from bot.support.screens import reveals as screens
from bot.support.session import StaffSession, StaffSessions
from bot.users import questions
from bot.users.model import User
from bot.users.questions import OpenQuestion
from bot.users.session import Session

REASON: Final = "reveal"
ASKED_AT: Final = "@"
"""Separates an order's reference from the time at which its question with buttons was asked."""

LONGEST_PAUSE: Final = timedelta(minutes=5)
"""A later text isn't taken for the reason, unless typing it was chosen."""

_Action = Callable[[StaffSession, str, str], Awaitable[None]]


class RevealHandlers:
    """Ask why a full recipient is needed, show it, and hide it again."""

    def __init__(self, *, sessions: StaffSessions, messenger: Messenger, reveals: RevealService) -> None:
        self._sessions = sessions
        self._messenger = messenger
        self._reveals = reveals

    def routes(self) -> Routes[StaffSession]:
        """Return the buttons."""
        routes = self._sessions.routes()
        actions: Mapping[RevealAction, _Action] = {
            RevealAction.ASK: self._ask,
            RevealAction.FOR_REASON: self._show_for,
            RevealAction.TYPE_REASON: self._ask_for_reason,
            RevealAction.HIDE: self._hide,
        }
        routes.add_actions(RevealButton, self.reveal_button, actions)
        return routes

    def answers(self) -> Mapping[str, questions.AnswerHandler]:
        """Return the handlers of typed answers, by question."""
        return {REASON: questions.accept_text(self.reason_typed)}

    async def reveal_button(self, staff: StaffSession, button: RevealButton, act: _Action) -> None:
        """Handle a button about a full recipient. In a group, only the first button works: `ASK`."""
        if button.action is not RevealAction.ASK and not staff.is_private:
            await staff.toast("support.staff.gone", alert=True)
            return
        try:
            await act(staff, button.order, button.argument)
        except Rejection as rejection:
            await self._refuse(staff.session, rejection)

    async def reason_typed(self, session: Session, reference: str, text: str) -> None:
        """Show the recipient for a typed reason. If its author is no longer an agent, end the question.

        A text long after the question with the buttons may be about something else, so it is asked again.
        """
        reference, _, asked_at = reference.partition(ASKED_AT)
        try:
            order = await self._reveals.find_order(session.user.id, reference)
        except Rejection:
            await session.save_user(questions.mark_answered(session))
            await session.show_start()
            return
        if asked_at and session.now.timestamp() - int(asked_at) > LONGEST_PAUSE.total_seconds():
            await questions.ask(session, REASON, screens.ask_typed_reason(session.t, order), reference)
            return
        try:
            reason = read_reason(text)
        except Rejection as rejection:
            session.notice = session.format_rejection(rejection)
            await session.show(screens.ask_typed_reason(session.t, order))
            return
        try:
            await self._reveal(session, reference, reason, answered=questions.mark_answered(session))
        except Rejection as rejection:
            await session.save_user(session.user)
            await self._refuse(session, rejection)

    async def _ask(self, staff: StaffSession, reference: str, _: str) -> None:
        """Ask for the reason, in the private chat."""
        session = staff.session
        order = await self._reveals.find_order(staff.user.id, reference)
        await session.acknowledge(None if staff.is_private else session.t.plain("support.reveal.look_in_private"))
        # The reason can be typed instead of pressed.
        asked = OpenQuestion(REASON, f"{reference}{ASKED_AT}{int(session.now.timestamp())}")
        await questions.save_question_of(session, staff.user.id, asked)
        screen = screens.ask_reason(session.t, order)
        sent = await self._messenger.send_text(staff.user.id, screen.text, screen.keyboard, priority="talk")
        if isinstance(sent, Unreachable):
            await staff.say(screens.explain_unreachable(staff.t, self._messenger.username))
        elif not isinstance(sent, Delivered):
            await staff.say(Screen(staff.t("support.reveal.not_asked")))

    async def _show_for(self, staff: StaffSession, reference: str, reason: str) -> None:
        """Show the recipient for one of the usual reasons."""
        if reason not in set(Reason):
            await staff.toast("support.staff.gone", alert=True)
            return
        await staff.session.acknowledge()
        await self._reveal(staff.session, reference, reason, question=staff.message_id)
        if staff.message_id is not None:
            await self._messenger.delete(staff.chat_id, staff.message_id, priority="talk")

    async def _ask_for_reason(self, staff: StaffSession, reference: str, _: str) -> None:
        """Ask to type another reason, in place of the buttons."""
        order = await self._reveals.find_order(staff.user.id, reference)
        await staff.session.acknowledge()
        await questions.ask(staff.session, REASON, screens.ask_typed_reason(staff.session.t, order), reference)

    async def _hide(self, staff: StaffSession, _: str, reveal_id: str) -> None:
        has_hidden = await self._reveals.hide(staff.user.id, reveal_id)
        await staff.session.acknowledge(None if has_hidden else staff.session.t.plain("support.staff.gone"))

    async def _reveal(
        self,
        session: Session,
        reference: str,
        reason: str,
        *,
        question: int | None = None,
        answered: User | None = None,
    ) -> None:
        is_new = await self._reveals.reveal(session.user.id, reference, reason, question=question, answered=answered)
        if not is_new:
            await session.send_message(Screen(session.t("support.reveal.shown_already")))
            if answered is not None:
                await session.save_user(answered)

    async def _refuse(self, session: Session, rejection: Rejection) -> None:
        """Explain a rejection: in an alert after a press, or else in a message in the private chat."""
        if session.query_id is not None:
            await session.acknowledge(session.t.plain(rejection.key, **rejection.arguments), alert=True)
        else:
            await session.send_message(Screen(session.format_rejection(rejection)))

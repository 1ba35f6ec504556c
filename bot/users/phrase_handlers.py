"""Handle `/phrase` and its buttons, also in the middle of a conversation.

The phrase is stored with the user. Only the user sees it: here, on invoices and on receipts.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from bot.core.errors import Rejection
from bot.infra.telegram.ui.router import Menu, Routes
from bot.infra.telegram.ui.screen import Screen
from bot.users import questions
from bot.users.buttons import PhraseAction, PhraseButton
from bot.users.phrase import clean_phrase, find_suggestion_text
from bot.users.screens import phrase
from bot.users.session import Session
from bot.users.suggestions import suggest_phrase

QUESTION: Final = "phrase"


class PhraseHandlers:
    """Show, suggest and change the phrase."""

    def routes(self) -> Routes[Session]:
        """Return the command and the buttons."""
        routes = Routes[Session]()
        routes.add_command("phrase", self.show_phrase, menu={Menu.EVERYONE: 90})
        routes.add_button(PhraseButton, self.phrase_button)
        return routes

    def answers(self) -> Mapping[str, questions.AnswerHandler]:
        """Return the handler of the typed answer to each question."""
        return {QUESTION: questions.accept_text(self.phrase_typed)}

    async def show_phrase(self, session: Session, _: str) -> None:
        """Show the user's phrase, or suggest one."""
        await session.show_below(session.with_resume(await self._screen(session)))

    async def phrase_button(self, session: Session, button: PhraseButton) -> None:
        """Do the action of a button of the phrase."""
        await session.acknowledge()
        if button.action is PhraseAction.OWN:
            await questions.ask(session, QUESTION, phrase.ask_phrase(session.t))
        elif button.action is PhraseAction.USE:
            await self._use(session, find_suggestion_text(button.code))
        else:
            is_new = button.action is PhraseAction.NEW
            another = await self._offer(session, is_new=True) if is_new else await self._screen(session)
            await session.show(session.with_resume(another))

    async def phrase_typed(self, session: Session, _: str, text: str) -> None:
        """Save the typed phrase. If it can't be used, say why and ask again."""
        try:
            chosen = clean_phrase(text)
        except Rejection as rejection:
            session.notice = session.t.translate(rejection)
            await session.show(phrase.ask_phrase(session.t))
            return
        questions.mark_answered(session)
        await self._save(session, chosen)

    async def _use(self, session: Session, chosen: str | None) -> None:
        if chosen is None:
            await session.explain("users.stale.button")
        else:
            await self._save(session, chosen)

    async def _save(self, session: Session, chosen: str) -> None:
        await session.save_user(replace(session.user, phrase=chosen, suggested_phrase=None))
        await session.show(session.with_resume(phrase.confirm_saved(session.t, chosen)))

    async def _screen(self, session: Session) -> Screen:
        """Return the user's phrase, or a suggestion for a user without one."""
        if session.user.phrase is None:
            return await self._offer(session)
        return phrase.show_phrase(session.t, session.user.phrase)

    async def _offer(self, session: Session, *, is_new: bool = False) -> Screen:
        suggestion = await suggest_phrase(session, is_new=is_new)
        return phrase.offer_suggestion(session.t, suggestion, has_one=session.user.phrase is not None)

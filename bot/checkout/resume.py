"""The way back to the draft that is open, for features that a user opens in the middle of it."""

from dataclasses import replace
from typing import Final

from bot.checkout.open_draft import DRAFT
from bot.checkout.screens.parts import has_answers
from bot.checkout.steps import explain, show_draft
from bot.infra.telegram.ui import callback_data as data
from bot.infra.telegram.ui.screen import Button, Screen
from bot.infra.telegram.ui.session import ConversationHooks, Session


def add_resume_button(session: Session, screen: Screen) -> Screen:
    """Return `screen` with a button back to the draft in place of the one for a new order, if a draft has answers."""
    draft = session[DRAFT]
    if draft is None or not has_answers(draft):
        return screen
    resume = Button(session.t.plain("draft.continue"), data=data.for_draft(draft, "show"), style="primary")
    rows = tuple(row for row in screen.keyboard if not any(button.data == data.NEW for button in row))
    return replace(screen, keyboard=((resume,), *rows))


async def show_question(session: Session) -> bool:
    """Show the question that is open again, and return whether there is one."""
    if session[DRAFT] is None:
        return False
    await show_draft(session)
    return True


def is_open(session: Session) -> bool:
    """Return whether a draft is open."""
    return session[DRAFT] is not None


HOOKS: Final = ConversationHooks(
    add_resume_button=add_resume_button, explain=explain, show_question=show_question, is_open=is_open
)

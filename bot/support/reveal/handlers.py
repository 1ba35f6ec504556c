"""Seeing a full recipient: asked for from anywhere, shown only where nobody else reads along.

The question and the recipient come in the private chat of whoever pressed, and each step looks anew whether they may.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from bot.core.errors import Rejection
from bot.infra.telegram.outbound.sender import Delivered, Unreachable
from bot.infra.telegram.ui import questions
from bot.infra.telegram.ui.screen import Screen
from bot.infra.telegram.ui.session import Session
from bot.support.reveal import screens
from bot.support.reveal.buttons import RevealAction, RevealButton
from bot.support.reveal.rules import Reason, read_reason
from bot.support.staff.session import StaffSession, staff_routes
from bot.users.model import Person
from bot.users.repository import UserRepository
from bot.users.screens import start

REASON: Final = "reveal"

routes = staff_routes()


@routes.button(RevealButton)
async def reveal_button(staff: StaffSession, button: RevealButton) -> None:
    """Do what a button about a full recipient says; in a group, only ask."""
    if button.action is not RevealAction.ASK and not staff.is_private:
        await staff.toast("staff.gone", alert=True)
        return
    try:
        await ACTIONS[button.action](staff, button.order, button.argument)
    except Rejection as rejection:
        await _refuse(staff.session, rejection)


async def _ask(staff: StaffSession, reference: str, _: str) -> None:
    """Ask why, in private."""
    desk, session = staff.desk, staff.session
    order = await desk.revealing.order(staff.person.id, reference)
    await session.acknowledge(None if staff.is_private else session.t.plain("reveal.look_in_private"))
    screen = screens.asking(session.t, order)
    sent = await desk.messenger.send_text(staff.person.id, screen.text, screen.keyboard, lane="talk")
    if isinstance(sent, Unreachable):
        await staff.say(screens.unreachable(staff.t, desk.messenger.username))
    elif not isinstance(sent, Delivered):
        await staff.say(Screen(staff.t("reveal.not_asked")))


async def _for(staff: StaffSession, reference: str, reason: str) -> None:
    """One of the usual reasons."""
    if reason not in set(Reason):
        await staff.toast("staff.gone", alert=True)
        return
    await staff.session.acknowledge()
    await _reveal(staff.session, reference, reason, question=staff.message_id)
    if staff.message_id is not None:
        await staff.desk.messenger.delete(staff.chat_id, staff.message_id, lane="talk")


async def _type(staff: StaffSession, reference: str, _: str) -> None:
    """Another reason: it takes the place of the buttons."""
    order = await staff.desk.revealing.order(staff.person.id, reference)
    await staff.session.acknowledge()
    await questions.ask(staff.session, REASON, screens.typing(staff.session.t, order), reference)


async def _hide(staff: StaffSession, _: str, reveal_id: str) -> None:
    has_hidden = await staff.desk.revealing.hide(staff.person.id, reveal_id)
    await staff.session.acknowledge(None if has_hidden else staff.session.t.plain("staff.gone"))


async def reason_typed(session: Session, reference: str, text: str) -> None:
    """A reason in words. Whoever is no supporter any more has been asked in vain."""
    try:
        order = await session.desk.revealing.order(session.person.id, reference)
    except Rejection:
        await _keep(session, questions.answered(session))
        await session.show(session.with_resume(await start.show(session)))
        return
    try:
        reason = read_reason(text)
    except Rejection as rejection:
        session.notice = session.reason(rejection)
        await session.show(screens.typing(session.t, order))
        return
    try:
        await _reveal(session, reference, reason, answered=questions.answered(session))
    except Rejection as rejection:
        await _keep(session, session.person)
        await _refuse(session, rejection)


async def _reveal(
    session: Session, reference: str, reason: str, *, question: int | None = None, answered: Person | None = None
) -> None:
    is_new = await session.desk.revealing.reveal(
        session.person.id, reference, reason, question=question, answered=answered
    )
    if not is_new:
        await session.post(Screen(session.t("reveal.shown_already")))
        if answered is not None:
            await _keep(session, answered)


async def _refuse(session: Session, rejection: Rejection) -> None:
    """Over the screen, where a press waits for its answer; else in words of its own, in private."""
    if session.query_id is not None:
        await session.acknowledge(session.t.plain(rejection.key, **rejection.arguments), alert=True)
    else:
        await session.post(Screen(session.reason(rejection)))


async def _keep(session: Session, person: Person) -> None:
    async with session.desk.store.transaction() as tx:
        await UserRepository(tx).save(person)


ACTIONS: Mapping[RevealAction, Callable[[StaffSession, str, str], Awaitable[None]]] = {
    RevealAction.ASK: _ask,
    RevealAction.FOR_REASON: _for,
    RevealAction.TYPE_REASON: _type,
    RevealAction.HIDE: _hide,
}
"""What a button does. All but the question are for the private chat alone."""

"""Saved answers: kept in private (`/answers`), used in a ticket after a look at what its person will read.

The preview's message is what the answer is made of: a second tap, and a crash behind the first, send nothing twice.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from telegram import Message

from bot.core.errors import Rejection
from bot.core.text import plain
from bot.infra.i18n import LOCALES
from bot.infra.telegram.outbound.truncate import visible_units
from bot.infra.telegram.ui import questions
from bot.infra.telegram.ui.session import Session
from bot.support.saved_replies import screens
from bot.support.saved_replies.buttons import SavedReplyAction, SavedReplyButton, WriteSavedReplyButton
from bot.support.saved_replies.model import LONGEST, SavedReply, read_name, read_text
from bot.support.staff.session import StaffSession, rejection_alerts, staff_routes
from bot.users.repository import UserRepository
from bot.users.screens import start

NAME: Final = "sa_name"
TEXT: Final = "sa_text"

Act = Callable[[StaffSession, str], Awaitable[None]]

routes = staff_routes()


@routes.command("answers")
async def saved_replies(staff: StaffSession, _: str) -> None:
    """List the saved replies: to read and change them in private, or only their names in a group."""
    answers = await staff.desk.saved_answers.all()
    if staff.is_private:
        await staff.say(screens.overview(staff.t, answers))
    else:
        await staff.say(screens.in_group(staff.t, answers, staff.desk.messenger.username))


@routes.button(SavedReplyButton)
async def saved_reply_button(staff: StaffSession, button: SavedReplyButton) -> None:
    """Do what a button of the list says, in private."""
    async with rejection_alerts(staff):
        _check_private(staff)
        await KEEPING[button.action](staff, button.name)


@routes.button(WriteSavedReplyButton)
async def write_button(staff: StaffSession, button: WriteSavedReplyButton) -> None:
    """Ask for the text of a saved reply in one language, in private."""
    async with rejection_alerts(staff):
        _check_private(staff)
        await _known(staff, button.name)
        await staff.session.acknowledge()
        await _ask_text(staff.session, button.name, button.locale)


def _check_private(staff: StaffSession) -> None:
    if not staff.is_private:
        raise Rejection("staff.gone")


async def _list(staff: StaffSession, _: str) -> None:
    await staff.session.acknowledge()
    await staff.update(screens.overview(staff.t, await staff.desk.saved_answers.all()))


async def _show(staff: StaffSession, name: str) -> None:
    answer = await staff.desk.saved_answers.get(name)
    if answer is None:
        await _list(staff, "")
        return
    await staff.session.acknowledge()
    await staff.update(screens.one(staff.t, answer))


async def _add(staff: StaffSession, _: str) -> None:
    await staff.session.acknowledge()
    await questions.ask(staff.session, NAME, screens.name(staff.t))


async def _ask_to_delete(staff: StaffSession, name: str) -> None:
    await _known(staff, name)
    await staff.session.acknowledge()
    await staff.update(screens.deleting(staff.t, name))


async def _delete(staff: StaffSession, name: str) -> None:
    if not await staff.desk.saved_answers.delete(name, staff.person.id):
        raise Rejection("staff.gone")
    await _list(staff, "")


async def _known(staff: StaffSession, name: str) -> SavedReply:
    answer = await staff.desk.saved_answers.get(name)
    if answer is None:
        raise Rejection("staff.gone")
    return answer


async def name_typed(session: Session, _: str, typed: str) -> None:
    """What a new one is called; its texts are asked for next."""
    if not await _is_supporter(session):
        return
    try:
        name = read_name(typed)
        await session.desk.saved_answers.check_new(name)
    except Rejection as rejection:
        session.notice = session.reason(rejection)
        await session.show(screens.name(session.t))
        return
    await _ask_next_text(session, name, session.desk.default_locale)


async def text_sent(session: Session, argument: str, message: Message) -> None:
    """A text in one language; where there is none in the other yet, that is asked for next."""
    if not await _is_supporter(session):
        return
    name, _separator, locale = argument.partition(":")
    try:
        template = read_text(_written(message))
    except Rejection as rejection:
        session.notice = session.reason(rejection)
        await session.show(screens.text(session.t, name, locale))
        return
    answer = await session.desk.saved_answers.write(name, locale, template, questions.answered(session))
    missing = [each for each in LOCALES if each not in answer.texts]
    if missing:
        await _ask_next_text(session, name, missing[0])
    else:
        await session.show(screens.one(session.t, answer))


async def _ask_next_text(session: Session, name: str, locale: str) -> None:
    # Answered first: a crash behind this must not take the same message for the answer to the next question.
    questions.answered(session)
    await _ask_text(session, name, locale)


async def _ask_text(session: Session, name: str, locale: str) -> None:
    await questions.ask(session, TEXT, screens.text(session.t, name, locale), f"{name}:{locale}")


async def _is_supporter(session: Session) -> bool:
    """Whoever is none any more has been asked in vain."""
    if session.person.id in session.desk.support_room.supporters:
        return True
    async with session.desk.store.transaction() as tx:
        await UserRepository(tx).save(questions.answered(session))
    await session.show(session.with_resume(await start.show(session)))
    return False


def _written(message: Message) -> str:
    """The text with its formatting. Raises `Rejection` for anything else (pictures aren't kept), and for too much."""
    if not plain(message.text or ""):
        raise Rejection("answers.only_text")
    over = visible_units(message.text_html) - LONGEST
    if over > 0:
        raise Rejection("answers.too_long", over=over)
    return message.text_html


KEEPING: Mapping[SavedReplyAction, Act] = {
    SavedReplyAction.LIST: _list,
    SavedReplyAction.SHOW: _show,
    SavedReplyAction.ADD: _add,
    SavedReplyAction.ASK_TO_DELETE: _ask_to_delete,
    SavedReplyAction.DELETE: _delete,
}
"""What a button of the list does; in private alone."""

WHOLE: Final = {TEXT: text_sent}
"""What takes more than words."""

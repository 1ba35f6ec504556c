"""Saved answers: kept in private (`/answers`), used in a ticket after a look at what its person will read.

The preview's message is what the answer is made of: a second tap, and a crash behind the first, send nothing twice.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from telegram import Message, Update

from bot.core.errors import Rejection
from bot.core.text import plain
from bot.infra.i18n import LOCALES
from bot.infra.telegram.outbound.truncate import visible_units
from bot.infra.telegram.ui import questions
from bot.infra.telegram.ui.handling import Context, Handler
from bot.infra.telegram.ui.session import Session
from bot.support.saved_replies import screens
from bot.support.saved_replies import send_handlers as answering
from bot.support.saved_replies.model import LONGEST, SavedReply, read_name, read_text
from bot.support.staff import callback_data as data
from bot.support.staff.session import StaffSession, command, press
from bot.support.ticket import PREFIX
from bot.users.repository import UserRepository
from bot.users.screens import start

NAME: Final = "sa_name"
TEXT: Final = "sa_text"

Act = Callable[[StaffSession, str], Awaitable[None]]


def handlers() -> list[Handler]:
    """The command and the buttons."""
    return [command("answers", _answers), press(data.SAVED_ANSWER_PATTERN, _pressed)]


async def _answers(staff: StaffSession, _: Update, __: Context) -> None:
    answers = await staff.desk.saved_answers.all()
    if staff.is_private:
        await staff.say(screens.overview(staff.t, answers))
    else:
        await staff.say(screens.in_group(staff.t, answers, staff.desk.messenger.username))


async def _pressed(staff: StaffSession, update: Update, _: Context) -> None:
    query = update.callback_query
    action, argument = data.read_saved_answer_press((query.data or "") if query else "")
    is_of_ticket = argument.startswith(PREFIX)
    act = (answering.ACTIONS if is_of_ticket else KEEPING).get(action)
    if act is None or not (is_of_ticket or staff.is_private):
        await staff.toast("staff.gone", alert=True)
        return
    try:
        await act(staff, argument)
    except Rejection as rejection:
        await staff.toast(rejection.key, alert=True, **rejection.arguments)


async def _list(staff: StaffSession, _: str) -> None:
    await staff.visit.acknowledge()
    await staff.update(screens.overview(staff.t, await staff.desk.saved_answers.all()))


async def _show(staff: StaffSession, name: str) -> None:
    answer = await staff.desk.saved_answers.get(name)
    if answer is None:
        await _list(staff, "")
        return
    await staff.visit.acknowledge()
    await staff.update(screens.one(staff.t, answer))


async def _add(staff: StaffSession, _: str) -> None:
    await staff.visit.acknowledge()
    await questions.ask(staff.visit, NAME, screens.name(staff.t))


async def _text(staff: StaffSession, argument: str) -> None:
    name, _, locale = argument.partition(":")
    await _known(staff, name)
    if locale not in LOCALES:
        raise Rejection("staff.gone")
    await staff.visit.acknowledge()
    await questions.ask(staff.visit, TEXT, screens.text(staff.t, name, locale), argument)


async def _ask_to_delete(staff: StaffSession, name: str) -> None:
    await _known(staff, name)
    await staff.visit.acknowledge()
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


async def name_typed(visit: Session, _: str, typed: str) -> None:
    """What a new one is called; its texts are asked for next."""
    if not await _is_supporter(visit):
        return
    try:
        name = read_name(typed)
        await visit.desk.saved_answers.check_new(name)
    except Rejection as rejection:
        visit.notice = visit.reason(rejection)
        await visit.show(screens.name(visit.t))
        return
    await _ask_text(visit, name, visit.desk.default_locale)


async def text_sent(visit: Session, argument: str, message: Message) -> None:
    """A text in one language; where there is none in the other yet, that is asked for next."""
    if not await _is_supporter(visit):
        return
    name, _separator, locale = argument.partition(":")
    try:
        template = read_text(_written(message))
    except Rejection as rejection:
        visit.notice = visit.reason(rejection)
        await visit.show(screens.text(visit.t, name, locale))
        return
    answer = await visit.desk.saved_answers.write(name, locale, template, questions.answered(visit))
    missing = [each for each in LOCALES if each not in answer.texts]
    if missing:
        await _ask_text(visit, name, missing[0])
    else:
        await visit.show(screens.one(visit.t, answer))


async def _ask_text(visit: Session, name: str, locale: str) -> None:
    # Answered first: a crash behind this must not take the same message for the answer to the next question.
    questions.answered(visit)
    await questions.ask(visit, TEXT, screens.text(visit.t, name, locale), f"{name}:{locale}")


async def _is_supporter(visit: Session) -> bool:
    """Whoever is none any more has been asked in vain."""
    if visit.person.id in visit.desk.support_room.supporters:
        return True
    async with visit.desk.store.transaction() as tx:
        await UserRepository(tx).save(questions.answered(visit))
    await visit.show(visit.with_resume(await start.show(visit)))
    return False


def _written(message: Message) -> str:
    """The text with its formatting. Raises `Rejection` for anything else (pictures aren't kept), and for too much."""
    if not plain(message.text or ""):
        raise Rejection("answers.only_text")
    over = visible_units(message.text_html) - LONGEST
    if over > 0:
        raise Rejection("answers.too_long", over=over)
    return message.text_html


KEEPING: Mapping[str, Act] = {
    "list": _list,
    "show": _show,
    "add": _add,
    "text": _text,
    "ask": _ask_to_delete,
    "del": _delete,
}
"""What a button of the list does; in private alone."""

WHOLE: Final = {TEXT: text_sent}
"""What takes more than words."""

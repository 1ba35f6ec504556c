"""Support looks a person up: by id, by @name, by a message of theirs that was forwarded, or by their ticket."""

from telegram import Message, MessageOriginHiddenUser, MessageOriginUser, Update
from telegram.ext import ApplicationHandlerStop, MessageHandler, filters

from bot.infra.telegram.ui.handling import PRIVATE, Context, Handler
from bot.infra.telegram.ui.screen import Screen
from bot.support.lookup.pages import show, ticket_at
from bot.support.lookup.screens import user as screens
from bot.support.lookup.service import read_person_id
from bot.support.staff.session import StaffSession, open_staff_session, staff_routes

PICTURES = filters.PHOTO | filters.Document.ALL
"""A forwarded picture may be a receipt, which everybody may have checked."""

routes = staff_routes()


def handlers() -> list[Handler]:
    """Return what takes messages that are forwarded to the bot."""
    return [MessageHandler(PRIVATE & filters.FORWARDED & ~filters.COMMAND & ~PICTURES, _forwarded)]


async def show_person(staff: StaffSession, person_id: str) -> bool:
    """A person's page; whether there is such a person."""
    known = read_person_id(person_id)
    return known is not None and await _show(staff, known)


@routes.command("person")
async def person(staff: StaffSession, typed: str) -> None:
    """Show the person whose id or name was typed; without any, who wrote what the command answers."""
    wish, message = "".join(typed.split()), staff.message
    if wish:
        await _show_called(staff, wish)
        return
    answered = message.reply_to_message if message is not None else None
    if answered is not None and answered.forward_origin is not None:
        await _show_author(staff, answered)
    elif (ticket := await ticket_at(staff, message)) is not None:
        await _show_or_say(staff, ticket.person_id)
    else:
        await show(staff, Screen(staff.t("lookup.how_person")))


async def _forwarded(update: Update, _: Context) -> None:
    """A message that somebody else wrote, sent on to the bot in private; not where it answers a question."""
    staff, message = await open_staff_session(update), update.effective_message
    if staff is None or message is None or staff.session.is_in_conversation or staff.person.awaits:
        return
    await _show_author(staff, message)
    raise ApplicationHandlerStop


async def _show_called(staff: StaffSession, wish: str) -> None:
    ids = await staff.desk.lookups.people_called(wish)
    if len(ids) > 1:
        await show(staff, screens.several(staff.t, ids))
    elif ids:
        await _show_or_say(staff, ids[0])
    else:
        await show(staff, Screen(staff.t("lookup.nobody_called")))


async def _show_author(staff: StaffSession, message: Message) -> None:
    origin = message.forward_origin
    if isinstance(origin, MessageOriginUser) and not origin.sender_user.is_bot:
        await _show_or_say(staff, origin.sender_user.id)
    else:
        is_hidden = isinstance(origin, MessageOriginHiddenUser)
        await show(staff, Screen(staff.t("lookup.hidden" if is_hidden else "lookup.by_no_person")))


async def _show_or_say(staff: StaffSession, person_id: int) -> None:
    if not await _show(staff, person_id):
        await show(staff, Screen(staff.t("lookup.nobody", person=str(person_id))))


async def _show(staff: StaffSession, person_id: int) -> bool:
    desk = staff.desk
    about = await desk.lookups.look_at_person(staff.person.id, person_id)
    if about is None:
        return False
    await show(staff, screens.screen(staff.t, about, desk.clock.now(), staff.session.zone, desk.default_locale))
    return True

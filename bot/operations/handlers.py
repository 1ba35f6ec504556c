"""What operators do about alarms: `/status`, and the buttons under it and under what they were told."""

from collections.abc import Awaitable, Callable, Mapping

from bot.infra.telegram.ui.router import Audience, Routes
from bot.infra.telegram.ui.screen import Screen
from bot.infra.telegram.ui.session import Session
from bot.operations.screens import status as operator_status
from bot.orders.screens import status
from bot.staff.alarm_model import AlarmKind
from bot.staff.alarm_rendering import orders_of
from bot.staff.alarm_repository import AlarmRepository
from bot.staff.buttons import AlarmAction, AlarmButton
from bot.staff.screens import alarms

KINDS = {str(kind): kind for kind in AlarmKind}


routes = Routes[Session](Audience.OPERATORS)
"""The buttons; the command is everybody's, and shows operators more."""


async def show_status(session: Session) -> Screen:
    """All at a glance for an operator, one's own orders for everybody else."""
    if not session.is_operator:
        return await status.show(session)
    glance = await session.desk.watching.glance()
    orders = await orders_of(session.desk.store, glance.alarms)
    return operator_status.screen(session.t, glance, orders, session.desk.clock.now(), session.zone)


@routes.button(AlarmButton)
async def alarm_button(session: Session, button: AlarmButton) -> None:
    """Do what a button of an alarm says."""
    if not await ACTIONS[button.action](session, button.kind, button.subject):
        await session.explain("stale.button")


async def _status(session: Session, _: str = "", __: str = "") -> bool:
    """Anew in its own place; asked for from a reminder, which is to stay, as a message of its own."""
    await session.acknowledge()
    if not session.desk.prompts.is_current(session.chat_id, session.message_id):
        session.message_id = None
    await session.show(session.with_resume(await show_status(session)))
    return True


async def _mine(session: Session, _: str, __: str) -> bool:
    await session.acknowledge()
    await session.show(session.with_resume(await status.show(session)))
    return True


async def _done(session: Session, kind: str, subject: str) -> bool:
    """Under the alarm's own message: its button has done its work."""
    if not await _settle(session, kind, subject):
        return False
    if session.message_id is not None:
        await session.desk.messenger.edit_keyboard(session.chat_id, session.message_id, (), lane="talk")
    return True


async def _tick(session: Session, kind: str, subject: str) -> bool:
    """Under the status, which is brought up to date."""
    return await _settle(session, kind, subject) and await _status(session)


async def _list(session: Session, kind: str, subject: str) -> bool:
    """Under a reminder, of which the rest is left."""
    if not await _settle(session, kind, subject):
        return False
    async with session.desk.store.reading() as tx:
        raised = await AlarmRepository(tx).open()
    orders, now = await orders_of(session.desk.store, raised), session.desk.clock.now()
    left = alarms.reminder(session.t, raised, orders, now, session.zone) if raised else alarms.none_left(session.t)
    await session.update(left)
    return True


async def _settle(session: Session, kind: str, subject: str) -> bool:
    """Whether there is such an alarm at all; a second tap, and one after another operator's, find it over already."""
    known = KINDS.get(kind)
    if known is None:
        return False
    settled = await session.desk.watching.settle(known, subject, session.person.id)
    await session.acknowledge(session.t.plain("alarm.noted" if settled else "alarm.over_already"))
    return True


ACTIONS: Mapping[AlarmAction, Callable[[Session, str, str], Awaitable[bool]]] = {
    AlarmAction.STATUS: _status,
    AlarmAction.MINE: _mine,
    AlarmAction.DONE: _done,
    AlarmAction.TICK: _tick,
    AlarmAction.LIST: _list,
}
"""What a button does; whether there was such a thing."""

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


async def show_status(visit: Session) -> Screen:
    """All at a glance for an operator, one's own orders for everybody else."""
    if not visit.is_operator:
        return await status.show(visit)
    glance = await visit.desk.watching.glance()
    orders = await orders_of(visit.desk.store, glance.alarms)
    return operator_status.screen(visit.t, glance, orders, visit.desk.clock.now(), visit.zone)


@routes.button(AlarmButton)
async def alarm_button(visit: Session, button: AlarmButton) -> None:
    """Do what a button of an alarm says."""
    if not await ACTIONS[button.action](visit, button.kind, button.subject):
        await visit.explain("stale.button")


async def _status(visit: Session, _: str = "", __: str = "") -> bool:
    """Anew in its own place; asked for from a reminder, which is to stay, as a message of its own."""
    await visit.acknowledge()
    if not visit.desk.prompts.is_current(visit.chat_id, visit.message_id):
        visit.message_id = None
    await visit.show(visit.with_resume(await show_status(visit)))
    return True


async def _mine(visit: Session, _: str, __: str) -> bool:
    await visit.acknowledge()
    await visit.show(visit.with_resume(await status.show(visit)))
    return True


async def _done(visit: Session, kind: str, subject: str) -> bool:
    """Under the alarm's own message: its button has done its work."""
    if not await _settle(visit, kind, subject):
        return False
    if visit.message_id is not None:
        await visit.desk.messenger.edit_keyboard(visit.chat_id, visit.message_id, (), lane="talk")
    return True


async def _tick(visit: Session, kind: str, subject: str) -> bool:
    """Under the status, which is brought up to date."""
    return await _settle(visit, kind, subject) and await _status(visit)


async def _list(visit: Session, kind: str, subject: str) -> bool:
    """Under a reminder, of which the rest is left."""
    if not await _settle(visit, kind, subject):
        return False
    async with visit.desk.store.reading() as tx:
        raised = await AlarmRepository(tx).open()
    orders, now = await orders_of(visit.desk.store, raised), visit.desk.clock.now()
    left = alarms.reminder(visit.t, raised, orders, now, visit.zone) if raised else alarms.none_left(visit.t)
    await visit.update(left)
    return True


async def _settle(visit: Session, kind: str, subject: str) -> bool:
    """Whether there is such an alarm at all; a second tap, and one after another operator's, find it over already."""
    known = KINDS.get(kind)
    if known is None:
        return False
    settled = await visit.desk.watching.settle(known, subject, visit.person.id)
    await visit.acknowledge(visit.t.plain("alarm.noted" if settled else "alarm.over_already"))
    return True


ACTIONS: Mapping[AlarmAction, Callable[[Session, str, str], Awaitable[bool]]] = {
    AlarmAction.STATUS: _status,
    AlarmAction.MINE: _mine,
    AlarmAction.DONE: _done,
    AlarmAction.TICK: _tick,
    AlarmAction.LIST: _list,
}
"""What a button does; whether there was such a thing."""

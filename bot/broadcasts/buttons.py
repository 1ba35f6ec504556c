"""Buttons under a broadcast that has begun: pause, resume, stop, and send to those of whom nobody knows.

Whoever presses second does nothing: what a button asks for is only done in the state that it was shown for.
"""

from collections.abc import Awaitable, Callable, Mapping

from telegram import Update
from telegram.ext import ApplicationHandlerStop, CallbackQueryHandler

from bot.broadcasts.screens import progress as broadcast_progress
from bot.checkout.steps import way_on
from bot.infra.telegram.ui import callback_data as data
from bot.infra.telegram.ui.handling import Context, Handler
from bot.infra.telegram.ui.session import SESSION, Session


def handlers() -> list[Handler]:
    """The buttons."""
    return [CallbackQueryHandler(_pressed, pattern=data.DELIVERY_PATTERN)]


async def _pressed(update: Update, _: Context) -> None:
    visit = SESSION.get()
    query = update.callback_query
    broadcast_id, action = data.read_delivery_press((query.data or "") if query else "")
    act = ACTIONS.get(action)
    if act is None or not visit.is_operator or not await _carry_out(visit, broadcast_id, act):
        await way_on(visit, "stale.button")
    raise ApplicationHandlerStop


async def _carry_out(visit: Session, broadcast_id: str, act: "Act") -> bool:
    """Do it and show how it stands; False where there is no such broadcast under way."""
    if await visit.desk.delivering.progress(broadcast_id) is None:
        return False
    has_done = await act(visit, broadcast_id)
    progress = await visit.desk.delivering.progress(broadcast_id)
    if progress is None:
        return False
    await visit.acknowledge(None if has_done else visit.t.plain("delivery.has_changed"))
    await visit.update(broadcast_progress.screen(visit.t, progress, visit.zone))
    return True


async def _show(_: Session, __: str) -> bool:
    return True


async def _pause(visit: Session, broadcast_id: str) -> bool:
    return await visit.desk.delivering.pause(broadcast_id, visit.person.id) is not None


async def _resume(visit: Session, broadcast_id: str) -> bool:
    return await visit.desk.delivering.resume(broadcast_id, visit.person.id) is not None


async def _stop(visit: Session, broadcast_id: str) -> bool:
    return await visit.desk.delivering.stop(broadcast_id, visit.person.id) is not None


async def _again(visit: Session, broadcast_id: str) -> bool:
    return await visit.desk.delivering.again(broadcast_id, visit.person.id) > 0


Act = Callable[[Session, str], Awaitable[bool]]
ACTIONS: Mapping[str, Act] = {"show": _show, "pause": _pause, "resume": _resume, "stop": _stop, "again": _again}
"""What a button does; whether it was still to be done."""

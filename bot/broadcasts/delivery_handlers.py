"""Buttons under a broadcast that has begun: pause, resume, stop, and send to those of whom nobody knows.

Whoever presses second does nothing: what a button asks for is only done in the state that it was shown for.
"""

from collections.abc import Awaitable, Callable, Mapping

from bot.broadcasts.buttons import DeliveryAction, DeliveryButton
from bot.broadcasts.screens import progress as broadcast_progress
from bot.infra.telegram.ui.router import Audience, Routes
from bot.infra.telegram.ui.session import Session

routes = Routes[Session](Audience.OPERATORS)


@routes.button(DeliveryButton)
async def delivery_button(visit: Session, button: DeliveryButton) -> None:
    """Do what a button of a broadcast that has started says."""
    if not await _carry_out(visit, button.broadcast_id, ACTIONS[button.action]):
        await visit.explain("stale.button")


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
ACTIONS: Mapping[DeliveryAction, Act] = {
    DeliveryAction.SHOW: _show,
    DeliveryAction.PAUSE: _pause,
    DeliveryAction.RESUME: _resume,
    DeliveryAction.STOP: _stop,
    DeliveryAction.AGAIN: _again,
}
"""What a button does; whether it was still to be done."""

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
async def delivery_button(session: Session, button: DeliveryButton) -> None:
    """Do what a button of a broadcast that has started says."""
    if not await _carry_out(session, button.broadcast_id, ACTIONS[button.action]):
        await session.explain("stale.button")


async def _carry_out(session: Session, broadcast_id: str, act: "Act") -> bool:
    """Do it and show how it stands; False where there is no such broadcast under way."""
    if await session.desk.delivering.progress(broadcast_id) is None:
        return False
    has_done = await act(session, broadcast_id)
    progress = await session.desk.delivering.progress(broadcast_id)
    if progress is None:
        return False
    await session.acknowledge(None if has_done else session.t.plain("delivery.has_changed"))
    await session.update(broadcast_progress.screen(session.t, progress, session.zone))
    return True


async def _show(_: Session, __: str) -> bool:
    return True


async def _pause(session: Session, broadcast_id: str) -> bool:
    return await session.desk.delivering.pause(broadcast_id, session.person.id) is not None


async def _resume(session: Session, broadcast_id: str) -> bool:
    return await session.desk.delivering.resume(broadcast_id, session.person.id) is not None


async def _stop(session: Session, broadcast_id: str) -> bool:
    return await session.desk.delivering.stop(broadcast_id, session.person.id) is not None


async def _again(session: Session, broadcast_id: str) -> bool:
    return await session.desk.delivering.again(broadcast_id, session.person.id) > 0


Act = Callable[[Session, str], Awaitable[bool]]
ACTIONS: Mapping[DeliveryAction, Act] = {
    DeliveryAction.SHOW: _show,
    DeliveryAction.PAUSE: _pause,
    DeliveryAction.RESUME: _resume,
    DeliveryAction.STOP: _stop,
    DeliveryAction.AGAIN: _again,
}
"""What a button does; whether it was still to be done."""

"""Buttons of a started broadcast: pause, resume, stop, and retry deliveries with an unknown result.

A second press does nothing, because each action needs the status in which its button was shown.
"""

from collections.abc import Awaitable, Callable, Mapping

from bot.broadcasts.buttons import DeliveryAction, DeliveryButton
from bot.broadcasts.deliveries import DeliveryService
from bot.broadcasts.screens import progress as progress_screens
from bot.infra.telegram.ui.router import Audience, Routes
from bot.users.session import Session

_Action = Callable[[Session, str], Awaitable[bool]]
"""Returns False if the status no longer allows the action."""


class DeliveryHandlers:
    """Let operators follow, pause, resume and stop a started broadcast."""

    def __init__(self, *, deliveries: DeliveryService) -> None:
        self._deliveries = deliveries

    def routes(self) -> Routes[Session]:
        """Return the buttons."""
        routes = Routes[Session](Audience.OPERATORS)
        actions: Mapping[DeliveryAction, _Action] = {
            DeliveryAction.SHOW: self._show,
            DeliveryAction.PAUSE: self._pause,
            DeliveryAction.RESUME: self._resume,
            DeliveryAction.STOP: self._stop,
            DeliveryAction.RETRY_UNKNOWN: self._retry_unknown,
        }
        routes.add_actions(DeliveryButton, self.delivery_button, actions)
        return routes

    async def delivery_button(self, session: Session, button: DeliveryButton, act: _Action) -> None:
        """Run the action of a button of a started broadcast, and show the progress."""
        if not await self._act_and_show(session, button.broadcast_id, act):
            await session.explain("users.stale.button")

    async def _act_and_show(self, session: Session, broadcast_id: str, act: _Action) -> bool:
        """Run an action and show the progress. Return False if the broadcast doesn't exist or hasn't started."""
        if await self._deliveries.get_progress(broadcast_id) is None:
            return False
        was_done = await act(session, broadcast_id)
        progress = await self._deliveries.get_progress(broadcast_id)
        if progress is None:
            return False
        await session.acknowledge(None if was_done else session.t.plain("broadcasts.delivery.has_changed"))
        await session.edit_message(progress_screens.show_progress(session.t, progress, session.zone))
        return True

    async def _show(self, _: Session, __: str) -> bool:
        return True

    async def _pause(self, session: Session, broadcast_id: str) -> bool:
        return await self._deliveries.pause(broadcast_id, session.user.id) is not None

    async def _resume(self, session: Session, broadcast_id: str) -> bool:
        return await self._deliveries.resume(broadcast_id, session.user.id) is not None

    async def _stop(self, session: Session, broadcast_id: str) -> bool:
        return await self._deliveries.stop(broadcast_id, session.user.id) is not None

    async def _retry_unknown(self, session: Session, broadcast_id: str) -> bool:
        return await self._deliveries.retry_unknown(broadcast_id, session.user.id) > 0

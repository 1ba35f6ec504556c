"""Workers that start due broadcasts, resume interrupted ones, and show their progress."""

import asyncio

from bot.broadcasts.deliveries import DeliveryService
from bot.broadcasts.messages import LiveMessages
from bot.broadcasts.run import Progress
from bot.broadcasts.service import BroadcastService

EDIT_SECONDS = 3.0
"""Seconds between two edits of a live message. Telegram allows one message a second in a chat, and the operator uses
the same chat."""

CHECK_SECONDS = 1.0
IDLE_SECONDS = 5.0


class BroadcastWorker:
    """Start due broadcasts, and resume those that should be running."""

    def __init__(self, broadcasts: BroadcastService, deliveries: DeliveryService) -> None:
        self._broadcasts = broadcasts
        self._deliveries = deliveries

    async def tick(self) -> float:
        """Start and resume broadcasts, and return the seconds until the next tick."""
        if not await self._broadcasts.is_any_open():
            return CHECK_SECONDS
        for broadcast in await self._broadcasts.collect_due():
            ready = await self._broadcasts.prepare(broadcast)
            if ready is not None:
                await self._deliveries.begin(ready)
        await self._deliveries.resume_runs()
        return CHECK_SECONDS


class LiveMessageWorker:
    """Keep the live messages up to date. This worker has its own loop, because Telegram may delay it."""

    def __init__(self, deliveries: DeliveryService, live_messages: LiveMessages) -> None:
        self._deliveries = deliveries
        self._live_messages = live_messages
        self._to_show: set[str] = set()
        self._shown: dict[str, tuple[float, Progress]] = {}

    async def recover(self) -> None:
        """Repair what the last leader left unfinished. Call this before the first tick of any worker.

        Forget what this process has shown, since another one may have led meanwhile.
        """
        self._shown.clear()
        self._to_show.update(await self._deliveries.recover())

    async def tick(self) -> float:
        """Show what has changed, and return the seconds until the next tick."""
        self._to_show.update(await self._deliveries.pop_changed())
        for broadcast_id in sorted(self._to_show):
            progress = await self._deliveries.get_progress(broadcast_id)
            if progress is None or (self._is_due(progress) and await self._show(progress) and progress.is_final):
                self._to_show.discard(broadcast_id)
                self._shown.pop(broadcast_id, None)
        return EDIT_SECONDS if self._to_show else IDLE_SECONDS

    def _is_due(self, progress: Progress) -> bool:
        """Return whether to show the progress now. A change of the status is shown immediately."""
        if progress.broadcast.id not in self._shown:
            return True
        at, shown = self._shown[progress.broadcast.id]
        if progress.broadcast.status is not shown.broadcast.status or progress.is_final:
            return True
        return progress != shown and _now() - at >= EDIT_SECONDS * 0.9

    async def _show(self, progress: Progress) -> bool:
        """Show the progress. Return whether it is shown."""
        broadcast = progress.broadcast
        message_id = await self._live_messages.show(progress)
        if message_id is None:
            return False
        if message_id and message_id != broadcast.message_id:
            await self._deliveries.save_live_message(broadcast.id, message_id)
        self._shown[broadcast.id] = _now(), progress
        return True


def _now() -> float:
    return asyncio.get_running_loop().time()

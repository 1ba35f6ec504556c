"""Begins the broadcasts whose time has come, keeps those running that should, and shows how far they are."""

import asyncio
from typing import Protocol

from bot.broadcasts.deliveries import DeliveryService
from bot.broadcasts.model import Broadcast
from bot.broadcasts.run import Progress

SHOW_SECONDS = 3.0
"""Between two edits of a live message: a chat bears one message a second, and its operator talks to us there, too."""

SHORTEST_WAIT, LONGEST_WAIT = 1.0, 5.0


class Plans(Protocol):
    """What is to begin when."""

    async def due(self) -> tuple[Broadcast, ...]:
        """Those whose time has come."""
        ...

    async def begin_checks(self, broadcast: Broadcast) -> Broadcast | None:
        """The broadcast as it may begin now, with its quote; None where it waits."""
        ...


class Shows(Protocol):
    """Where operators see how far a broadcast is."""

    async def show(self, progress: Progress) -> int | None:
        """Show it: the id of the message that does now, 0 where nobody will see it, None where it's to be repeated."""
        ...


class BroadcastWorker:
    """One `tick` begins what is due and takes up what should be running."""

    def __init__(self, plans: Plans, delivering: DeliveryService) -> None:
        self._plans = plans
        self._delivering = delivering

    async def tick(self) -> float:
        """Do it; in how many seconds to look again."""
        for broadcast in await self._plans.due():
            ready = await self._plans.begin_checks(broadcast)
            if ready is not None:
                await self._delivering.begin(ready)
        await self._delivering.take_up()
        return SHORTEST_WAIT


class LiveProgress:
    """One `tick` brings the live messages up to date. A loop of its own: Telegram may keep it waiting."""

    def __init__(self, delivering: DeliveryService, shows: Shows) -> None:
        self._delivering = delivering
        self._shows = shows
        self._to_show: set[str] = set()
        self._shown: dict[str, tuple[float, Progress]] = {}

    async def recover(self) -> None:
        """What the last process left half done is put right. To be called before the first tick of anything."""
        self._to_show.update(await self._delivering.recover())

    async def tick(self) -> float:
        """Show what has changed; in how many seconds to look again."""
        self._to_show.update(await self._delivering.to_show())
        for broadcast_id in sorted(self._to_show):
            progress = await self._delivering.progress(broadcast_id)
            if progress is None or (self._is_due(progress) and await self._show(progress) and progress.is_final):
                self._to_show.discard(broadcast_id)
                self._shown.pop(broadcast_id, None)
        return SHOW_SECONDS if self._to_show else LONGEST_WAIT

    def _is_due(self, progress: Progress) -> bool:
        """Whether there's something new, and it's time for it; a change of the state itself is shown at once."""
        if progress.broadcast.id not in self._shown:
            return True
        at, shown = self._shown[progress.broadcast.id]
        if progress.broadcast.status is not shown.broadcast.status or progress.is_final:
            return True
        return progress != shown and _now() - at >= SHOW_SECONDS * 0.9

    async def _show(self, progress: Progress) -> bool:
        broadcast = progress.broadcast
        message_id = await self._shows.show(progress)
        if message_id is None:
            return False
        if message_id and message_id != broadcast.message_id:
            await self._delivering.showed(broadcast.id, message_id)
        self._shown[broadcast.id] = _now(), progress
        return True


def _now() -> float:
    return asyncio.get_running_loop().time()

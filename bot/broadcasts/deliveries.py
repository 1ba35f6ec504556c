"""Broadcasts that have begun: paused, resumed, stopped, and resumed automatically after a crash.

What was decided is in the broadcast's row, and its run reads it in each of its transactions: of two operators who
press at once, one has done it and the other sees the status.
"""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

import structlog

from bot.broadcasts.audit import RETRIED, record_decision
from bot.broadcasts.delivery_repository import DeliveryRepository
from bot.broadcasts.model import Broadcast, BroadcastSender, BroadcastStatus, DeliveryStatus
from bot.broadcasts.repository import BroadcastRepository
from bot.broadcasts.run import BroadcastRun, Progress
from bot.core.clock import Clock
from bot.core.shutdown import finish_tasks
from bot.infra.db.database import Database

log = structlog.get_logger(__name__)

RUNNING, PAUSED, STOPPED, DONE = (
    BroadcastStatus.RUNNING,
    BroadcastStatus.PAUSED,
    BroadcastStatus.STOPPED,
    BroadcastStatus.DONE,
)
UNKNOWN = DeliveryStatus.UNKNOWN
SAVE_ATTEMPTS = 5
"""Attempts at a save that others get ahead of; a broadcast's row changes a few times in all."""

MAX_RECOVERED = 20
"""Broadcasts that are looked at after a crash."""


class DeliveryService:
    """The use cases of a broadcast that has begun.

    Args:
        store: has broadcasts and their deliveries.
        clock: the time.
        sender: sends one delivery.
        default_locale: what users read whose language the bot doesn't speak.
        per_second: the expected deliveries a second.
        on_change: called when the progress of a broadcast has changed.
    """

    def __init__(
        self,
        *,
        store: Database,
        clock: Clock,
        sender: BroadcastSender,
        default_locale: str,
        per_second: float,
        on_change: Callable[[], None] = lambda: None,
    ) -> None:
        self._store, self._clock, self._sender = store, clock, sender
        self._default_locale = default_locale
        self._per_second = per_second
        self._on_change = on_change
        self._runs: dict[str, tuple[BroadcastRun, asyncio.Task[None]]] = {}
        self._changed: set[str] = set()
        self._is_closing = False

    @property
    def is_busy(self) -> bool:
        """Return whether this process is delivering anything."""
        return bool(self._runs)

    async def begin(self, broadcast: Broadcast) -> Broadcast | None:
        """Save who it goes to, and start its run; None where the broadcast was changed since it was read."""
        now = self._clock.now()
        async with self._store.transaction() as tx:
            begun = await BroadcastRepository(tx).save(replace(broadcast, status=RUNNING, started_at=now))
            if begun is None:
                return None
            size = await DeliveryRepository(tx).create(begun, self._default_locale, now)
        log.info("broadcast_started", broadcast=begun.id, size=size)
        self._start(begun)
        return begun

    async def pause(self, broadcast_id: str, by: int) -> Broadcast | None:
        """Pause it; None where it isn't running."""
        return await self._change(broadcast_id, {RUNNING}, by=by, status=PAUSED)

    async def resume(self, broadcast_id: str, by: int) -> Broadcast | None:
        """Continue it; None where it isn't paused after its beginning."""
        return await self._change(broadcast_id, {PAUSED}, by=by, status=RUNNING)

    async def stop(self, broadcast_id: str, by: int) -> Broadcast | None:
        """End it early; None where it has ended or hasn't begun."""
        stopped = await self._change(broadcast_id, {RUNNING, PAUSED}, by=by, status=STOPPED)
        if stopped is not None and broadcast_id not in self._runs:
            await self._end(broadcast_id)
        return stopped

    async def retry_unknown(self, broadcast_id: str, by: int) -> int:
        """Send it again to the readers whose result is unknown, and return how many they are."""
        async with self._store.transaction() as tx:
            broadcast = await BroadcastRepository(tx).get(broadcast_id)
            counts = await DeliveryRepository(tx).counts(broadcast_id)
            if broadcast is None or broadcast.status not in {RUNNING, PAUSED, DONE} or UNKNOWN not in counts:
                return 0
            if broadcast.status is DONE:
                reopened = replace(broadcast, status=RUNNING, ended_at=None, report=None)
                if await BroadcastRepository(tx).save(reopened) is None:
                    return 0
            count = await DeliveryRepository(tx).retry_unknown(broadcast_id)
            await record_decision(tx, by, broadcast_id, RETRIED, self._clock.now())
        self._changed.add(broadcast_id)
        self._on_change()
        return count

    async def get_progress(self, broadcast_id: str) -> Progress | None:
        """Return how far a broadcast is; None where it hasn't begun."""
        if broadcast_id in self._runs:
            return self._runs[broadcast_id][0].progress
        async with self._store.reading() as tx:
            broadcast = await BroadcastRepository(tx).get(broadcast_id)
            if broadcast is None or broadcast.started_at is None:
                return None
            counts = await DeliveryRepository(tx).counts(broadcast_id)
        if broadcast.report is not None:
            counts = {DeliveryStatus(name): count for name, count in broadcast.report.items()}
        return Progress(broadcast, counts)

    async def pop_changed(self) -> frozenset[str]:
        """Return the ids of those that haven't ended, and of those that began and ended since the last call."""
        found = frozenset(self._changed).union(each.id for each in await self.find_unfinished())
        self._changed -= found
        return found

    async def find_unfinished(self) -> tuple[Broadcast, ...]:
        """Return those that have begun and not ended."""
        async with self._store.reading() as tx:
            found = await BroadcastRepository(tx).in_progress()
        return tuple(each for each in found if each.started_at is not None)

    async def save_live_message(self, broadcast_id: str, message_id: int) -> None:
        """Save which message shows the progress."""
        await self._change(broadcast_id, BroadcastStatus, message_id=message_id)

    async def resume_runs(self) -> None:
        """Start the runs that should be running, such as those that a crash has interrupted."""
        for broadcast in await self.find_unfinished():
            if broadcast.status is RUNNING:
                self._start(broadcast)

    async def recover(self) -> tuple[str, ...]:
        """Mark what a crash has left in the middle of a request as unknown, before anything is resumed.

        Return the ids of those that ended recently: their live message may not show that.
        """
        async with self._store.transaction() as tx:
            found = await BroadcastRepository(tx).newest(MAX_RECOVERED)
            begun = [each for each in found if each.started_at is not None]
            for broadcast in begun:
                await DeliveryRepository(tx).mark_interrupted(broadcast.id)
        for broadcast in begun:
            if broadcast.status is STOPPED and broadcast.ended_at is None:
                await self._end(broadcast.id)
        return tuple(each.id for each in begun if each.status in {STOPPED, DONE})

    async def wait_until_idle(self) -> None:
        """Wait until nothing is being delivered."""
        while self._runs:
            await asyncio.wait([task for _, task in self._runs.values()])

    async def close(self, within: float) -> None:
        """Start no more requests, and wait up to `within` seconds for those made; the other results are unknown."""
        self._is_closing = True
        for run, _ in self._runs.values():
            run.stop_claiming()
        await finish_tasks(lambda: [task for _, task in self._runs.values()], within)

    def _start(self, broadcast: Broadcast) -> None:
        if self._is_closing or broadcast.id in self._runs:
            return
        self._changed.add(broadcast.id)
        run = BroadcastRun(self._store, self._sender, self._clock, broadcast, self._per_second)
        task = asyncio.create_task(self._run(broadcast.id, run), name=f"broadcast-{broadcast.id}")
        self._runs[broadcast.id] = run, task
        task.add_done_callback(partial(self._on_run_ended, broadcast.id))

    async def _run(self, broadcast_id: str, run: BroadcastRun) -> None:
        await run.run()
        await self._end(broadcast_id)

    async def _end(self, broadcast_id: str) -> None:
        """Save the report, where nothing is left to do. An operator who resumes it at this moment keeps it open."""
        for _ in range(SAVE_ATTEMPTS):
            async with self._store.transaction() as tx:
                broadcast = await BroadcastRepository(tx).get(broadcast_id)
                if broadcast is None or broadcast.ended_at is not None:
                    return
                counts = await DeliveryRepository(tx).counts(broadcast_id)
                is_complete = not {DeliveryStatus.WAITING, DeliveryStatus.SENDING} & counts.keys()
                if not (broadcast.status is STOPPED or (broadcast.status is RUNNING and is_complete)):
                    return
                status = DONE if broadcast.status is RUNNING else STOPPED
                report = {str(each): count for each, count in counts.items()}
                ended = replace(broadcast, status=status, ended_at=self._clock.now(), report=report)
                if await BroadcastRepository(tx).save(ended) is not None:
                    log.info("broadcast_ended", broadcast=broadcast_id, status=str(status), **report)
                    return

    def _on_run_ended(self, broadcast_id: str, task: asyncio.Task[None]) -> None:
        self._runs.pop(broadcast_id, None)
        if not task.cancelled() and (error := task.exception()):
            # The worker resumes it at its next look.
            log.error("broadcast_batch_failed", broadcast=broadcast_id, error=type(error).__name__)
        self._on_change()

    async def _change(
        self, broadcast_id: str, allowed: Iterable[BroadcastStatus], *, by: int | None = None, **changes: object
    ) -> Broadcast | None:
        """Save changes. `by` is the operator who decided them; what no operator decided isn't shown either."""
        for _ in range(SAVE_ATTEMPTS):
            async with self._store.transaction() as tx:
                broadcast = await BroadcastRepository(tx).get(broadcast_id)
                if broadcast is None or broadcast.started_at is None or broadcast.status not in allowed:
                    return None
                changed = await BroadcastRepository(tx).save(replace(broadcast, **changes))  # type: ignore[arg-type]  # its fields
                if changed is not None and by is not None:
                    await record_decision(tx, by, broadcast_id, str(changed.status), self._clock.now())
            if changed is not None:
                self._update_run(changed, is_shown=by is not None)
                return changed
        return None

    def _update_run(self, broadcast: Broadcast, *, is_shown: bool) -> None:
        if broadcast.status is RUNNING:
            self._start(broadcast)
        if broadcast.id in self._runs:
            self._runs[broadcast.id][0].update(broadcast)
        if is_shown:
            self._on_change()

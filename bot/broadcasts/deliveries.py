"""Started broadcasts: pause, resume and stop them, and resume them automatically after a crash.

The broadcast's row holds the operators' decision. The run reads the row in each of its transactions. If two operators
press at once, only the first press has an effect, and the second operator sees the current status.

Operators can press in any process, but only the leader runs broadcasts. So a press only changes the row. The leader's
worker starts and ends runs by the rows (`resume_runs`).
"""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

import structlog

from bot.broadcasts.delivery_repository import DeliveryRepository
from bot.broadcasts.model import RETRIED, Broadcast, BroadcastSender, BroadcastStatus, DeliveryStatus, record_decision
from bot.broadcasts.repository import BroadcastRepository
from bot.broadcasts.run import BroadcastRun, Progress
from bot.core.shutdown import finish_tasks
from bot.infra.feature import Infra

log = structlog.get_logger(__name__)

RUNNING, PAUSED, STOPPED, DONE = (
    BroadcastStatus.RUNNING,
    BroadcastStatus.PAUSED,
    BroadcastStatus.STOPPED,
    BroadcastStatus.DONE,
)
UNKNOWN = DeliveryStatus.UNKNOWN
SAVE_ATTEMPTS = 5
"""How often a save is attempted. Another save can come first, but a broadcast's row changes only a few times."""

MAX_RECOVERED = 20
"""How many of the newest broadcasts to check after a crash."""


class DeliveryService:
    """Start, pause, resume, stop and retry broadcasts.

    Args:
        infra: the database with broadcasts and their deliveries, and the time.
        sender: sends one delivery.
        per_second: the expected deliveries a second.
        on_change: is called when the progress of a broadcast has changed.
        on_decision: is called when an operator has decided something that `resume_runs` carries out.
    """

    def __init__(
        self,
        infra: Infra,
        *,
        sender: BroadcastSender,
        per_second: float,
        on_change: Callable[[], None] = lambda: None,
        on_decision: Callable[[], None] = lambda: None,
    ) -> None:
        self._database, self._clock, self._sender = infra.database, infra.clock, sender
        self._per_second = per_second
        self._on_change = on_change
        self._on_decision = on_decision
        self._runs: dict[str, tuple[BroadcastRun, asyncio.Task[None]]] = {}
        self._changed: set[str] = set()
        self._is_closing = False

    @property
    def is_busy(self) -> bool:
        """Whether this process is delivering a broadcast."""
        return bool(self._runs)

    async def begin(self, broadcast: Broadcast) -> Broadcast | None:
        """Save who gets the broadcast, and start its run.

        Return None if the broadcast has changed since it was read.
        """
        now = self._clock.now()
        async with self._database.transaction() as tx:
            begun = await BroadcastRepository(tx).save(replace(broadcast, status=RUNNING, started_at=now))
            if begun is None:
                return None
            size = await DeliveryRepository(tx).create(begun, now)
        log.info("broadcast_started", broadcast=begun.id, size=size)
        self._start(begun)
        return begun

    async def pause(self, broadcast_id: str, by: int) -> Broadcast | None:
        """Pause a broadcast. Return None if it isn't running."""
        return await self._change(broadcast_id, {RUNNING}, by=by, status=PAUSED)

    async def resume(self, broadcast_id: str, by: int) -> Broadcast | None:
        """Resume a broadcast. Return None if it isn't paused, or was never started."""
        return await self._change(broadcast_id, {PAUSED}, by=by, status=RUNNING)

    async def stop(self, broadcast_id: str, by: int) -> Broadcast | None:
        """Stop a broadcast early. Return None if it isn't running or paused, or was never started."""
        return await self._change(broadcast_id, {RUNNING, PAUSED}, by=by, status=STOPPED)

    async def retry_unknown(self, broadcast_id: str, by: int) -> int:
        """Send the broadcast again to the readers whose result is unknown, and return how many they are."""
        async with self._database.transaction() as tx:
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
        self._on_decision()
        return count

    async def get_progress(self, broadcast_id: str) -> Progress | None:
        """Return the progress of a broadcast; None if it hasn't started."""
        if broadcast_id in self._runs:
            return self._runs[broadcast_id][0].progress
        async with self._database.reading() as tx:
            broadcast = await BroadcastRepository(tx).get(broadcast_id)
            if broadcast is None or broadcast.started_at is None:
                return None
            counts = await DeliveryRepository(tx).counts(broadcast_id)
        if broadcast.report is not None:
            counts = {DeliveryStatus(name): count for name, count in broadcast.report.items()}
        return Progress(broadcast, counts)

    async def pop_changed(self) -> frozenset[str]:
        """Return the ids of broadcasts in progress, and of those that started and ended since the last call."""
        found = frozenset(self._changed).union(each.id for each in await self.find_unfinished())
        self._changed -= found
        return found

    async def find_unfinished(self) -> tuple[Broadcast, ...]:
        """Return the broadcasts that have started and not ended."""
        async with self._database.reading() as tx:
            found = await BroadcastRepository(tx).in_progress()
        return tuple(each for each in found if each.started_at is not None)

    async def save_live_message(self, broadcast_id: str, message_id: int) -> None:
        """Save the id of the message that shows the progress."""
        await self._change(broadcast_id, BroadcastStatus, message_id=message_id)

    async def resume_runs(self) -> None:
        """Start the runs that should be running, and end those that were stopped. Only the leader calls this.

        An earlier leader can have left runs, and operators can decide in any process.
        """
        async with self._database.reading() as tx:
            in_progress = await BroadcastRepository(tx).in_progress()
            stopped = await BroadcastRepository(tx).stopped_early()
        for broadcast in in_progress:
            if broadcast.started_at is not None and broadcast.status is RUNNING:
                self._start(broadcast)
        for broadcast in stopped:
            if broadcast.id not in self._runs:
                await self._end(broadcast.id)

    async def recover(self) -> tuple[str, ...]:
        """Mark deliveries that were interrupted during their request as unknown. Call this before `resume_runs`.

        The process calls it whenever it becomes the leader: the deliveries are those of a leader before it. Return the
        ids of broadcasts that ended recently, because their live message may be out of date.
        """
        self._is_closing = False
        async with self._database.transaction() as tx:
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
        """Start no more requests until `recover`, and wait up to `within` seconds for the current ones.

        The result of a request that takes longer is unknown.
        """
        self._is_closing = True
        for run, _ in self._runs.values():
            run.stop_claiming()
        await finish_tasks(lambda: [task for _, task in self._runs.values()], within)

    def _start(self, broadcast: Broadcast) -> None:
        if self._is_closing or broadcast.id in self._runs:
            return
        self._changed.add(broadcast.id)
        run = BroadcastRun(self._database, self._sender, self._clock, broadcast, self._per_second)
        task = asyncio.create_task(self._run(broadcast.id, run), name=f"broadcast-{broadcast.id}")
        self._runs[broadcast.id] = run, task
        task.add_done_callback(partial(self._on_run_ended, broadcast.id))

    async def _run(self, broadcast_id: str, run: BroadcastRun) -> None:
        await run.run()
        await self._end(broadcast_id)

    async def _end(self, broadcast_id: str) -> None:
        """Save the report if no delivery is left. A broadcast that an operator resumes at this moment stays open."""
        for _ in range(SAVE_ATTEMPTS):
            async with self._database.transaction() as tx:
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
                    tx.on_commit.append(partial(self._show_end, broadcast_id))
                    return

    def _show_end(self, broadcast_id: str) -> None:
        self._changed.add(broadcast_id)
        self._on_change()

    def _on_run_ended(self, broadcast_id: str, task: asyncio.Task[None]) -> None:
        self._runs.pop(broadcast_id, None)
        if not task.cancelled() and (error := task.exception()):
            # The worker resumes the broadcast at its next tick.
            log.error("broadcast_batch_failed", broadcast=broadcast_id, error=type(error).__name__)
        self._on_change()

    async def _change(
        self, broadcast_id: str, allowed: Iterable[BroadcastStatus], *, by: int | None = None, **changes: object
    ) -> Broadcast | None:
        """Save changes of a broadcast.

        `by` is the operator who decided them. A change without `by` doesn't update the live message.
        """
        for _ in range(SAVE_ATTEMPTS):
            async with self._database.transaction() as tx:
                broadcast = await BroadcastRepository(tx).get(broadcast_id)
                if broadcast is None or broadcast.started_at is None or broadcast.status not in allowed:
                    return None
                changed = await BroadcastRepository(tx).save(replace(broadcast, **changes))  # type: ignore[arg-type]  # its fields
                if changed is not None and by is not None:
                    await record_decision(tx, by, broadcast_id, str(changed.status), self._clock.now())
            if changed is not None:
                if broadcast_id in self._runs:
                    self._runs[broadcast_id][0].update(changed)
                if by is not None:
                    self._on_change()
                    self._on_decision()
                return changed
        return None

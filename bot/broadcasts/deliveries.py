"""Broadcasts on their way: begun, paused, resumed, stopped; taken up again by themselves after a crash.

What was decided stands in the broadcast's row, and the rounds that deliver look at it in each of their transactions:
of two operators who press at once one has done it, and the other sees how it stands.
"""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

import structlog

from bot.broadcasts.audit import RETRIED, record_decision
from bot.broadcasts.delivery_repository import DeliveryRepository
from bot.broadcasts.model import Broadcast, BroadcastStatus, Courier, DeliveryStatus
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
SAVES = 5
"""Tries at a save that others get ahead of; a broadcast's row changes a few times in all."""

LATELY_ENDED = 20


class DeliveryService:
    """The use cases of a broadcast that has begun.

    Args:
        store: holds broadcasts and the ledger.
        clock: the time.
        courier: sends one delivery.
        default_locale: what those read whose language we don't speak.
        per_second: deliveries a second that are hoped for.
        on_change: called when there is something new to tell the operators.
    """

    def __init__(
        self,
        *,
        store: Database,
        clock: Clock,
        courier: Courier,
        default_locale: str,
        per_second: float,
        on_change: Callable[[], None] = lambda: None,
    ) -> None:
        self._store, self._clock, self._courier = store, clock, courier
        self._default_locale = default_locale
        self._per_second = per_second
        self._on_change = on_change
        self._rounds: dict[str, tuple[BroadcastRun, asyncio.Task[None]]] = {}
        self._to_show: set[str] = set()
        self._closing = False

    @property
    def is_busy(self) -> bool:
        """Whether anything is being delivered by this process."""
        return bool(self._rounds)

    async def begin(self, broadcast: Broadcast) -> Broadcast | None:
        """Write the ledger, and let it run; None where the broadcast was changed since it was read."""
        now = self._clock.now()
        async with self._store.transaction() as tx:
            begun = await BroadcastRepository(tx).save(replace(broadcast, status=RUNNING, started_at=now))
            if begun is None:
                return None
            size = await DeliveryRepository(tx).snapshot(begun, self._default_locale, now)
        log.info("broadcast_started", broadcast=begun.id, size=size)
        self._start(begun)
        return begun

    async def pause(self, broadcast_id: str, by: int) -> Broadcast | None:
        """Stop for the time being; None where it isn't running."""
        return await self._change(broadcast_id, {RUNNING}, by=by, status=PAUSED)

    async def resume(self, broadcast_id: str, by: int) -> Broadcast | None:
        """Go on; None where it isn't paused in its middle."""
        return await self._change(broadcast_id, {PAUSED}, by=by, status=RUNNING)

    async def stop(self, broadcast_id: str, by: int) -> Broadcast | None:
        """End it where it is; None where it has ended or hasn't begun."""
        stopped = await self._change(broadcast_id, {RUNNING, PAUSED}, by=by, status=STOPPED)
        if stopped is not None and broadcast_id not in self._rounds:
            await self._end(broadcast_id)
        return stopped

    async def retry_unknown(self, broadcast_id: str, by: int) -> int:
        """Send to those of whom it isn't known whether it reached them; how many they are."""
        async with self._store.transaction() as tx:
            broadcast = await BroadcastRepository(tx).get(broadcast_id)
            counts = await DeliveryRepository(tx).counts(broadcast_id)
            if broadcast is None or broadcast.status not in {RUNNING, PAUSED, DONE} or UNKNOWN not in counts:
                return 0
            if broadcast.status is DONE:
                reopened = replace(broadcast, status=RUNNING, ended_at=None, report=None)
                if await BroadcastRepository(tx).save(reopened) is None:
                    return 0
            count = await DeliveryRepository(tx).again(broadcast_id)
            await record_decision(tx, by, broadcast_id, RETRIED, self._clock.now())
        self._to_show.add(broadcast_id)
        self._on_change()
        return count

    async def progress(self, broadcast_id: str) -> Progress | None:
        """How far a broadcast is that has begun."""
        if broadcast_id in self._rounds:
            return self._rounds[broadcast_id][0].progress
        async with self._store.reading() as tx:
            broadcast = await BroadcastRepository(tx).get(broadcast_id)
            if broadcast is None or broadcast.started_at is None:
                return None
            counts = await DeliveryRepository(tx).counts(broadcast_id)
        if broadcast.report is not None:
            counts = {DeliveryStatus(name): count for name, count in broadcast.report.items()}
        return Progress(broadcast, counts)

    async def to_show(self) -> frozenset[str]:
        """The ids of those that have begun and not come to their end, or have done both since this was asked last."""
        found = frozenset(self._to_show).union(each.id for each in await self.unended())
        self._to_show -= found
        return found

    async def unended(self) -> tuple[Broadcast, ...]:
        """Those that have begun and not come to their end."""
        async with self._store.reading() as tx:
            found = await BroadcastRepository(tx).under_way()
        return tuple(each for each in found if each.started_at is not None)

    async def showed(self, broadcast_id: str, message_id: int) -> None:
        """Keep which message is the live one."""
        await self._change(broadcast_id, BroadcastStatus, message_id=message_id)

    async def take_up(self) -> None:
        """Let everything run that should: what a crash has interrupted, too."""
        for broadcast in await self.unended():
            if broadcast.status is RUNNING:
                self._start(broadcast)

    async def recover(self) -> tuple[str, ...]:
        """After a crash: what it has left in the middle of a request is unknown; the ids of those lately ended.

        Of these the live message may not show their end. To be called before anything is taken up.
        """
        async with self._store.transaction() as tx:
            found = await BroadcastRepository(tx).newest(LATELY_ENDED)
            begun = [each for each in found if each.started_at is not None]
            for broadcast in begun:
                await DeliveryRepository(tx).lost(broadcast.id)
        for broadcast in begun:
            if broadcast.status is STOPPED and broadcast.ended_at is None:
                await self._end(broadcast.id)
        return tuple(each.id for each in begun if each.status in {STOPPED, DONE})

    async def settle(self) -> None:
        """Wait until nothing is being delivered."""
        while self._rounds:
            await asyncio.wait([task for _, task in self._rounds.values()])

    async def close(self, within: float) -> None:
        """Begin nothing more, and give what has left `within` seconds for its answer; the rest is unknown."""
        self._closing = True
        for under_way, _ in self._rounds.values():
            under_way.hold()
        await finish_tasks(lambda: [task for _, task in self._rounds.values()], within)

    def _start(self, broadcast: Broadcast) -> None:
        if self._closing or broadcast.id in self._rounds:
            return
        self._to_show.add(broadcast.id)
        made = BroadcastRun(self._store, self._courier, self._clock, broadcast, self._per_second)
        task = asyncio.create_task(self._carry_out(broadcast.id, made), name=f"broadcast-{broadcast.id}")
        self._rounds[broadcast.id] = made, task
        task.add_done_callback(partial(self._ended, broadcast.id))

    async def _carry_out(self, broadcast_id: str, made: BroadcastRun) -> None:
        await made.run()
        await self._end(broadcast_id)

    async def _end(self, broadcast_id: str) -> None:
        """Write the report, where nothing is left to do. Whoever resumes it in this moment keeps it open."""
        for _ in range(SAVES):
            async with self._store.transaction() as tx:
                broadcast = await BroadcastRepository(tx).get(broadcast_id)
                if broadcast is None or broadcast.ended_at is not None:
                    return
                counts = await DeliveryRepository(tx).counts(broadcast_id)
                is_through = not {DeliveryStatus.WAITING, DeliveryStatus.SENDING} & counts.keys()
                if not (broadcast.status is STOPPED or (broadcast.status is RUNNING and is_through)):
                    return
                status = DONE if broadcast.status is RUNNING else STOPPED
                report = {str(each): count for each, count in counts.items()}
                ended = replace(broadcast, status=status, ended_at=self._clock.now(), report=report)
                if await BroadcastRepository(tx).save(ended) is not None:
                    log.info("broadcast_ended", broadcast=broadcast_id, status=str(status), **report)
                    return

    def _ended(self, broadcast_id: str, task: asyncio.Task[None]) -> None:
        self._rounds.pop(broadcast_id, None)
        if not task.cancelled() and (error := task.exception()):
            # It is taken up again by the worker's next look.
            log.error("broadcast_batch_failed", broadcast=broadcast_id, error=type(error).__name__)
        self._on_change()

    async def _change(
        self, broadcast_id: str, allowed: Iterable[BroadcastStatus], *, by: int | None = None, **changes: object
    ) -> Broadcast | None:
        """`by` is the operator who wishes it; what nobody wished isn't shown either."""
        for _ in range(SAVES):
            async with self._store.transaction() as tx:
                broadcast = await BroadcastRepository(tx).get(broadcast_id)
                if broadcast is None or broadcast.started_at is None or broadcast.status not in allowed:
                    return None
                changed = await BroadcastRepository(tx).save(replace(broadcast, **changes))  # type: ignore[arg-type]  # its fields
                if changed is not None and by is not None:
                    await record_decision(tx, by, broadcast_id, str(changed.status), self._clock.now())
            if changed is not None:
                self._look(changed, quietly=by is None)
                return changed
        return None

    def _look(self, broadcast: Broadcast, *, quietly: bool) -> None:
        if broadcast.status is RUNNING:
            self._start(broadcast)
        if broadcast.id in self._rounds:
            self._rounds[broadcast.id][0].look(broadcast)
        if not quietly:
            self._on_change()

"""Looking after the bot and the service it lives by: what is wrong becomes an alarm, what is right again ends it."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal

import structlog

from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.infra.outbox.model import Backlog
from bot.infra.outbox.repository import OutboxRepository
from bot.settlement.catalogue import ServiceCatalogue
from bot.settlement.health import Health, has_shrunk
from bot.settlement.model import SettlementFailure, SlowDown
from bot.staff.alarm_model import RESOLVABLE_ALARMS, Alarm, AlarmKind
from bot.staff.alarm_repository import AlarmRepository
from bot.staff.alarm_subjects import Subjects
from bot.staff.alarms import Alarms, Finding

log = structlog.get_logger(__name__)

PROBE_PAUSE = timedelta(seconds=60)
PROBE_PAUSE_WHEN_FAILING = timedelta(seconds=5)
"""After so long without a call of anybody's, the service is asked for its list, to hear whether it answers."""

RECENTLY = timedelta(days=1)
MAX_PROBE_PAUSE = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthSummary:
    """All that is watched over, as it stands now. None is "not known yet"."""

    alarms: tuple[Alarm, ...]
    is_key_accepted: bool | None
    is_service_up: bool | None
    methods: int | None
    backlog: Backlog
    raised_recently: int


class Monitor:
    """`backlog_after`: how long notifications may wait; `shrink_percent`: how much shorter the methods may become."""

    def __init__(
        self,
        *,
        store: Database,
        clock: Clock,
        health: Health,
        alarms: Alarms,
        catalogue: ServiceCatalogue,
        backlog_after: timedelta = timedelta(seconds=60),
        shrink_percent: Decimal = Decimal(50),
    ) -> None:
        self._store = store
        self._clock = clock
        self._health = health
        self._alarms = alarms
        self._catalogue = catalogue
        self._backlog_after = backlog_after
        self._shrink_percent = shrink_percent
        self._paused_until = clock.now()

    async def check_service(self) -> int:
        """Raise and clear by what was heard of the service; how many notifications that brought."""
        return await self._alarms.record_findings(await self._get_service_findings())

    async def check_all(self, poller_silent_since: datetime | None = None) -> int:
        """Raise and clear by all there is to see, and remind of what goes on; how many notifications that brought."""
        silent = _build_finding(AlarmKind.POLLER_SILENT, poller_silent_since)
        count = await self._alarms.record_findings(
            [*await self._get_service_findings(), await self._get_outbox_finding(), self._get_rows_finding(), silent]
        )
        return count + await self._alarms.remind()

    async def probe(self) -> None:
        """Ask the service for something, where nobody else has asked it for a while."""
        now = self._clock.now()
        calls = self._health.calls
        pause = PROBE_PAUSE_WHEN_FAILING if calls.failing_since else PROBE_PAUSE
        if now < max(calls.last_call_at + pause, self._paused_until):
            return
        try:
            await self._catalogue.methods(fresh=True)
        except SlowDown as slow:
            self._paused_until = now + min(timedelta(seconds=slow.retry_after or 0) + pause, MAX_PROBE_PAUSE)
        except SettlementFailure as failure:
            log.info("health_probe_failed", error=type(failure).__name__)

    async def resolve(self, kind: AlarmKind, subject: str, by: int) -> bool:
        """An operator says that an alarm is seen to; False where it is over, or nobody's word can end it."""
        if kind is AlarmKind.METHODS_SHRUNK and self._health.methods:
            self._health.accept_methods()
        elif kind not in RESOLVABLE_ALARMS:
            return False
        return await self._alarms.resolve(kind, subject, by)

    async def summary(self) -> HealthSummary:
        """All at once, for whom asks."""
        now = self._clock.now()
        async with self._store.reading() as tx:
            alarms, backlog = await AlarmRepository(tx).open(), await OutboxRepository(tx).get_backlog(now)
            recent = await AlarmRepository(tx).since(now - RECENTLY)
        is_down = self._health.calls.are_failing
        return HealthSummary(
            alarms=alarms,
            is_key_accepted=self._health.is_key_accepted,
            is_service_up=None if is_down is None else not is_down,
            methods=self._health.methods,
            backlog=backlog,
            raised_recently=len(recent),
        )

    async def load_subjects(self, alarms: Iterable[Alarm]) -> Subjects:
        """Return what the alarms that one message shows are about."""
        return await self._alarms.load_subjects(alarms)

    def _get_rows_finding(self) -> Finding:
        """Rows that don't open, by table and key: they hold up nothing, and somebody has to find out why."""
        rows = sorted(self._store.unreadable_rows())
        return Finding(AlarmKind.ROW_UNREADABLE, bool(rows), {"count": len(rows), "rows": ", ".join(rows[:5])})

    async def _get_service_findings(self) -> list[Finding]:
        found = []
        if (is_taken := self._health.is_key_accepted) is not None:
            found.append(Finding(AlarmKind.KEY_REFUSED, not is_taken))
        if (is_down := self._health.calls.are_failing) is not None:
            found.append(self._get_answers_finding(is_down=is_down))
        if (methods := self._health.methods) is not None:
            found.append(await self._get_methods_finding(methods))
        return found

    def _get_answers_finding(self, *, is_down: bool) -> Finding:
        """Either nothing is answered, or all but what people came for."""
        if is_down:
            return _build_finding(AlarmKind.SERVICE_DOWN, self._health.calls.failing_since)
        found = _build_finding(AlarmKind.SERVICE_DOWN, self._health.orders_failing_since)
        return replace(found, facts={**found.facts, "orders": True}) if found.is_wrong else found

    async def _get_methods_finding(self, now: int) -> Finding:
        """A list that has shrunk stays so, after a restart and after a day, until it grows or is accepted."""
        kind = AlarmKind.METHODS_SHRUNK
        raised = next((alarm for alarm in await self._alarms.open() if alarm.kind is kind), None)
        before = int(str(raised.facts["before"])) if raised else self._health.max_methods
        return Finding(kind, has_shrunk(before, now, self._shrink_percent), {"before": before, "now": now})

    async def _get_outbox_finding(self) -> Finding:
        async with self._store.reading() as tx:
            backlog = await OutboxRepository(tx).get_backlog(self._clock.now() - self._backlog_after)
        found = _build_finding(AlarmKind.OUTBOX_BACKLOG, backlog.since)
        return replace(found, facts={**found.facts, "count": backlog.count}) if found.is_wrong else found


def _build_finding(kind: AlarmKind, since: datetime | None) -> Finding:
    """Wrong since then; None is right."""
    return Finding(kind, is_wrong=since is not None, facts={"since": since.isoformat()} if since else {})

"""Monitor the bot and the settlement service: raise an alarm for each problem, and clear it when it is over."""

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
from bot.staff.alarms import AlarmService, Finding

log = structlog.get_logger(__name__)

PROBE_PAUSE = timedelta(seconds=60)
PROBE_PAUSE_WHEN_FAILING = timedelta(seconds=5)
"""After so long without any request, the monitor asks the service for its list, to learn whether it answers."""

RECENTLY = timedelta(days=1)
MAX_PROBE_PAUSE = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthSummary:
    """The current state of everything that is monitored. None means that it isn't known yet."""

    alarms: tuple[Alarm, ...]
    is_key_accepted: bool | None
    is_service_up: bool | None
    methods: int | None
    backlog: Backlog
    raised_recently: int


class Monitor:
    """Turn the state of the bot and of the service into alarms.

    `backlog_after` is how long notifications can wait. `shrink_percent` is how much shorter the list of payout methods
    can become.
    """

    def __init__(
        self,
        *,
        store: Database,
        clock: Clock,
        health: Health,
        alarms: AlarmService,
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
        """Raise and clear alarms about the service. Return how many were raised or cleared."""
        return await self._alarms.record_findings(await self._get_service_findings())

    async def check_all(self, poller_silent_since: datetime | None = None) -> int:
        """Raise and clear all alarms, and remind of those that last.

        Return how many were raised or cleared, plus one if operators were reminded.
        """
        silent = _build_finding(AlarmKind.POLLER_SILENT, poller_silent_since)
        count = await self._alarms.record_findings(
            [*await self._get_service_findings(), await self._get_outbox_finding(), self._get_rows_finding(), silent]
        )
        return count + await self._alarms.remind()

    async def probe(self) -> None:
        """Send a request to the service if there was no other request for a while."""
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
        """Resolve an alarm for the operator `by`. Return False if it is over, or operators can't resolve it."""
        if kind is AlarmKind.METHODS_SHRUNK and self._health.methods:
            self._health.accept_methods()
        elif kind not in RESOLVABLE_ALARMS:
            return False
        return await self._alarms.resolve(kind, subject, by)

    async def summary(self) -> HealthSummary:
        """Return the current state of everything that is monitored."""
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
        """Return the subjects of the alarms that one message shows."""
        return await self._alarms.load_subjects(alarms)

    def _get_rows_finding(self) -> Finding:
        """Return the rows that can't be decrypted or read, by table and key. An operator has to find the reason."""
        rows = sorted(self._store.unreadable_rows())
        return Finding(AlarmKind.ROW_UNREADABLE, bool(rows), {"count": len(rows), "rows": ", ".join(rows[:5])})

    async def _get_service_findings(self) -> list[Finding]:
        found = []
        if (is_accepted := self._health.is_key_accepted) is not None:
            found.append(Finding(AlarmKind.KEY_REFUSED, not is_accepted))
        if (is_down := self._health.calls.are_failing) is not None:
            found.append(self._get_answers_finding(is_down=is_down))
        if (methods := self._health.methods) is not None:
            found.append(await self._get_methods_finding(methods))
        return found

    def _get_answers_finding(self, *, is_down: bool) -> Finding:
        """Return whether the service doesn't answer at all, or answers but creates no orders."""
        if is_down:
            return _build_finding(AlarmKind.SERVICE_DOWN, self._health.calls.failing_since)
        found = _build_finding(AlarmKind.SERVICE_DOWN, self._health.orders_failing_since)
        return replace(found, facts={**found.facts, "orders": True}) if found.is_wrong else found

    async def _get_methods_finding(self, now: int) -> Finding:
        """Return whether the list of payout methods has shrunk.

        The alarm lasts until the list grows or an operator accepts it, also after a restart.
        """
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
    """Return a finding about a problem since that time. None means that there is no problem."""
    return Finding(kind, is_wrong=since is not None, facts={"since": since.isoformat()} if since else {})

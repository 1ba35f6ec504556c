"""Monitor the bot and the settlement service: raise an alarm for each problem, and clear it when it is over."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import takewhile

import structlog

from bot.infra.feature import Infra
from bot.infra.outbox.model import Backlog
from bot.infra.outbox.repository import OutboxRepository
from bot.orders.destinations.health import DestinationHealthService
from bot.orders.destinations.model import DestinationHealth, Trouble
from bot.orders.repository import MissedOrderRepository, OrderRepository
from bot.orders.tracking.poller import Poller
from bot.payment_requests.repository import ReportRepository
from bot.recipients.formatting import format_method
from bot.settlement.access import SettlementAccess
from bot.settlement.errors import SettlementFailure, SlowDown
from bot.settlement.health import FAILURES, has_shrunk
from bot.settlement.model import PayoutMethod
from bot.staff.alarms import AlarmService, Finding
from bot.staff.model import DESTINATION_ALARMS, ORDER_ALARMS, RESOLVABLE_ALARMS, Alarm, AlarmKind, OnHandled
from bot.staff.outcomes import Outcome
from bot.staff.repository import AlarmRepository

log = structlog.get_logger(__name__)

CHECK_INTERVAL = timedelta(seconds=5)
MAX_MISSED_CHECKS = 3
"""If more checks than this are missing, this whole process stood still. Then the poller isn't late."""

PROBE_SECONDS = 1.0
PROBE_PAUSE = timedelta(seconds=60)
PROBE_PAUSE_WHEN_FAILING = timedelta(seconds=5)
"""After so long without any request, the monitor asks the service for its list, to learn whether it answers."""

LIST_PAUSE = timedelta(minutes=10)
"""How often the monitor reads the list of payout methods if nobody else does in this process."""

MINUTE = timedelta(minutes=1)
RECENTLY = timedelta(days=1)
ORDERS_COUNT_FOR = timedelta(hours=1)
"""Failed orders older than this are ignored. If nobody orders for a while, they no longer show the service's state."""

MAX_RESULTS = 100

REPORT_ROWS_EVERY = timedelta(minutes=1)
ROWS_REPORTED_WITHIN = timedelta(minutes=3)
"""An alarm about unreadable rows ends when no process has reported any for so long."""

MAX_ROWS, MAX_ROWS_IN_ALARM, ROWS_SHOWN = 50, 500, 5
MAX_PROBE_PAUSE = timedelta(hours=1)


Alarms = Sequence[Alarm]
"""The open alarms, read once for a check."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationRules:
    """The settings of operations."""

    operator_ids: frozenset[int] = frozenset()
    backlog_after: timedelta = timedelta(seconds=60)
    """How long notifications can wait without an alarm."""

    shrink_percent: Decimal = Decimal(50)
    """How much of the list of payout methods may disappear without an alarm."""

    poller_silence: timedelta = timedelta(seconds=60)
    """How much later than announced the poller may be."""

    overdue_after: timedelta = timedelta(minutes=30)
    """How long after its payment an order that hasn't ended counts as overdue in the metrics."""

    heartbeat_url: str = ""
    """A secret address that is called once a minute while the bot works. Empty means none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthSummary:
    """The current state of everything that is monitored. None means that it isn't known yet."""

    alarms: tuple[Alarm, ...]
    is_key_accepted: bool | None
    is_service_up: bool | None
    methods: int | None
    backlog: Backlog
    raised_recently: int
    not_removed: int = 0
    """Invoices that can't be removed because their users have blocked the bot. They are no alarm."""

    reported: int = 0
    """Payment requests that were reported, and that no operator has looked at since."""


class Monitor:
    """Turn the state of the bot and of the service into alarms."""

    def __init__(
        self,
        infra: Infra,
        access: SettlementAccess,
        *,
        alarms: AlarmService,
        on_handled: OnHandled,
        destinations: DestinationHealthService,
        poller: Poller,
        rules: OperationRules,
    ) -> None:
        self._database = infra.database
        self._clock = infra.clock
        self._health = access.health
        self._catalogue = access.catalogue
        self._alarms = alarms
        self._on_handled = on_handled
        self._destinations = destinations
        self._poller = poller
        self._rules = rules
        self._silence_counts_from = self._checked_at = self._paused_until = infra.clock.now()
        self.find_second_poller: Callable[[], datetime | None] = lambda: None
        """Returns since when another program has received the bot's updates. `bot/process.py` sets it."""

    async def check(self) -> float:
        """Raise and clear all alarms, and remind of those that last. Return the seconds until the next time."""
        now = self._clock.now()
        if now - self._checked_at > MAX_MISSED_CHECKS * CHECK_INTERVAL:
            self._silence_counts_from = now
        self._checked_at = now
        async with self._database.reading() as tx:
            alarms = await AlarmRepository(tx).find_open()
            backlog = await OutboxRepository(tx).get_backlog(now - self._rules.backlog_after)
        findings = [
            *await self._get_service_findings(alarms),
            _describe_backlog(backlog),
            _build_finding(AlarmKind.POLLER_SILENT, self._find_poller_silent_since(now)),
            _build_finding(AlarmKind.SECOND_POLLER, self.find_second_poller()),
            await self._get_rights_finding(),
            *await self._get_destination_findings(alarms),
            *self._find_over_rows(alarms),
        ]
        await self._alarms.record_findings(findings, alarms)
        await self._alarms.remind()
        return CHECK_INTERVAL.total_seconds()

    def _find_poller_silent_since(self, now: datetime) -> datetime | None:
        expected = max(self._poller.expected_at, self._silence_counts_from)
        return expected if now - expected > self._rules.poller_silence else None

    async def probe(self) -> float:
        """Read the list of payout methods if there was no other request for a while, or no list for long.

        Return the seconds until the next time. It has a loop of its own, so that a request without an answer doesn't
        delay the alarm about that.
        """
        now = self._clock.now()
        calls = self._health.calls
        pause = PROBE_PAUSE_WHEN_FAILING if calls.failing_since else PROBE_PAUSE
        due_at = min(calls.last_call_at + pause, self._health.methods_read_at + LIST_PAUSE)
        if now < max(due_at, self._paused_until):
            return PROBE_SECONDS
        try:
            await self._catalogue.methods(fresh=True)
        except SlowDown as slow:
            self._paused_until = now + min(timedelta(seconds=slow.retry_after or 0) + pause, MAX_PROBE_PAUSE)
        except SettlementFailure as failure:
            log.info("health_probe_failed", error=type(failure).__name__)
        return PROBE_SECONDS

    async def resolve(self, kind: AlarmKind, subject: str, by: int, outcome: Outcome | None = None) -> bool:
        """Resolve an alarm for the operator `by`. Return False if it is over, or operators can't resolve it."""
        if kind is AlarmKind.METHODS_SHRUNK:
            raised = _find(await self._alarms.find_open(), AlarmKind.METHODS_SHRUNK)
            if raised is None or not raised.facts["now"]:
                return False
        elif kind not in RESOLVABLE_ALARMS:
            return False
        return await self._alarms.resolve(kind, subject, by, outcome, self._on_handled)

    async def reopen(self, kind: AlarmKind, subject: str, by: int) -> Alarm | None:
        """Undo that an operator resolved an alarm about an order. Return None if that can't be undone."""
        if kind not in ORDER_ALARMS:
            return None
        return await self._alarms.reopen(kind, subject, by, self._on_handled)

    async def begin_to_lead(self) -> None:
        """Forget what this process knew when it led before. The poller's silence counts from now."""
        self._silence_counts_from = self._checked_at = self._paused_until = self._clock.now()

    async def summary(self) -> HealthSummary:
        """Return the current state of everything that is monitored."""
        now = self._clock.now()
        async with self._database.reading() as tx:
            alarms, backlog = await AlarmRepository(tx).find_open(), await OutboxRepository(tx).get_backlog(now)
            recent = await AlarmRepository(tx).find_since(now - RECENTLY)
            not_removed = await MissedOrderRepository(tx).count_not_removed()
            reported = await ReportRepository(tx).count_unseen_requests()
        is_down = self._health.calls.are_failing
        return HealthSummary(
            alarms=alarms,
            is_key_accepted=self._health.is_key_accepted,
            is_service_up=None if is_down is None else not is_down,
            methods=self._health.methods,
            backlog=backlog,
            raised_recently=len(recent),
            not_removed=not_removed,
            reported=reported,
        )

    async def report_rows(self) -> float:
        """Report the rows that this process can't read, and return the seconds until the next time.

        Every process calls this. An operator has to find the reason. The alarms name the rows of all processes.
        """
        own, now = set(sorted(self._database.unreadable_rows())[:MAX_ROWS]), self._clock.now()
        if not own:
            return CHECK_INTERVAL.total_seconds()
        alarms = await self._alarms.find_open()
        alarm = _find(alarms, AlarmKind.ROW_UNREADABLE)
        known = set[str](alarm.facts.get("all_rows", ())) if alarm else set[str]()  # type: ignore[call-overload]  # JSON
        is_known = own <= known or len(known) >= MAX_ROWS_IN_ALARM
        if alarm is not None and is_known and now - _reported_at(alarm) < REPORT_ROWS_EVERY:
            return CHECK_INTERVAL.total_seconds()
        rows = sorted(own | known)[:MAX_ROWS_IN_ALARM]
        facts = {
            "count": len(rows),
            "rows": ", ".join(rows[:ROWS_SHOWN]),
            "all_rows": rows,
            "reported_at": now.isoformat(),
        }
        await self._alarms.record_findings([Finding(AlarmKind.ROW_UNREADABLE, is_wrong=True, facts=facts)], alarms)
        return CHECK_INTERVAL.total_seconds()

    def _find_over_rows(self, alarms: Alarms) -> list[Finding]:
        """Return that the alarm is over if no process has reported a row lately."""
        alarm, since = _find(alarms, AlarmKind.ROW_UNREADABLE), self._clock.now() - ROWS_REPORTED_WITHIN
        return [Finding(alarm.kind, is_wrong=False)] if alarm and _reported_at(alarm) <= since else []

    async def _get_service_findings(self, alarms: Alarms) -> list[Finding]:
        found = []
        if (is_accepted := self._health.is_key_accepted) is not None:
            found.append(Finding(AlarmKind.KEY_REFUSED, not is_accepted))
        if (is_down := self._health.calls.are_failing) is not None:
            found.append(await self._get_answers_finding(alarms, is_down=is_down))
        if (methods := self._health.methods) is not None:
            found.append(await self._get_methods_finding(alarms, methods))
        return found

    async def _get_answers_finding(self, alarms: Alarms, *, is_down: bool) -> Finding:
        """Return whether the service doesn't answer at all, or answers but creates no orders."""
        if is_down:
            return _build_finding(AlarmKind.SERVICE_DOWN, self._health.calls.failing_since)
        found = _build_finding(AlarmKind.SERVICE_DOWN, await self._find_orders_failing_since(alarms))
        return replace(found, facts={**found.facts, "orders": True}) if found.is_wrong else found

    async def _find_orders_failing_since(self, alarms: Alarms) -> datetime | None:
        """Return since when the creation of every order has failed, in any process, or None. Other calls may succeed.

        Orders from before our key was accepted again don't count: they have an alarm of their own.
        """
        now = self._clock.now()
        if self._health.is_key_accepted is False or _find(alarms, AlarmKind.KEY_REFUSED):
            return None
        async with self._database.reading() as tx:
            recent = await AlarmRepository(tx).find_since(now - RECENTLY)
            ended = [each.cleared_at for each in recent if each.kind is AlarmKind.KEY_REFUSED and each.cleared_at]
            results = await OrderRepository(tx).newest_results(max((now - RECENTLY, *ended)), MAX_RESULTS)
        failed_at = [each.created_at for each in takewhile(lambda each: not each.is_answered, results)]
        if len(failed_at) < FAILURES or now - failed_at[0] >= ORDERS_COUNT_FOR:
            return None
        return failed_at[-1] if failed_at[0] - failed_at[-1] >= self._health.tolerance else None

    async def _get_methods_finding(self, alarms: Alarms, now: int) -> Finding:
        """Return whether the list of payout methods has shrunk.

        The alarm lasts until the list grows or an operator accepts it in any process, also after a restart.
        """
        raised = _find(alarms, AlarmKind.METHODS_SHRUNK)
        before = int(str(raised.facts["before"])) if raised else self._health.find_max_methods(since=None)
        if raised is None and has_shrunk(before, now, self._rules.shrink_percent):
            accepted = await self._find_accepted_methods()
            if accepted is not None:
                counted = self._health.find_max_methods(accepted.cleared_at)
                before = max(counted, int(str(accepted.facts["now"])))
        is_wrong = has_shrunk(before, now, self._rules.shrink_percent)
        return Finding(AlarmKind.METHODS_SHRUNK, is_wrong, {"before": before, "now": now})

    async def _find_accepted_methods(self) -> Alarm | None:
        """Return the last alarm that an operator ended by accepting a shorter list."""
        since = self._clock.now() - RECENTLY
        async with self._database.reading() as tx:
            resolved = await AlarmRepository(tx).resolved_by_hand(AlarmKind.METHODS_SHRUNK, since)
        return max(resolved, key=lambda alarm: alarm.cleared_at or alarm.raised_at, default=None)

    async def _get_destination_findings(self, alarms: Alarms) -> list[Finding]:
        """Return which destinations can't be read, or are slow or failing while others aren't, and which no longer."""
        health, listed = await self._destinations.get(), self._catalogue.listed
        found = [_describe_unread(method) for method in listed if method.unread]
        unknown = set() if listed else {AlarmKind.DESTINATION_UNCLEAR}
        if health is None:
            unknown |= {AlarmKind.DESTINATION_SLOW, AlarmKind.DESTINATION_FAILING}
        else:
            found += [
                Finding(kind, is_wrong=True, facts=_describe_trouble(each, trouble), subject=key)
                for key, each in health.by_key.items()
                for kind, trouble in (
                    (AlarmKind.DESTINATION_SLOW, each.slow),
                    (AlarmKind.DESTINATION_FAILING, each.failing),
                )
                if trouble is not None and trouble.is_alone
            ]
        wrong = {(finding.kind, finding.subject) for finding in found}
        over = [
            Finding(alarm.kind, is_wrong=False, subject=alarm.subject)
            for alarm in alarms
            if alarm.kind in DESTINATION_ALARMS - unknown and (alarm.kind, alarm.subject) not in wrong
        ]
        return [*found, *over]

    async def _get_rights_finding(self) -> Finding:
        table = await self._database.find_forbidden_table()
        return Finding(AlarmKind.RIGHT_MISSING, table is not None, {"table": table} if table else {})


def _find(alarms: Alarms, kind: AlarmKind) -> Alarm | None:
    return next((alarm for alarm in alarms if alarm.kind is kind and not alarm.subject), None)


def _describe_backlog(backlog: Backlog) -> Finding:
    found = _build_finding(AlarmKind.OUTBOX_BACKLOG, backlog.since)
    return replace(found, facts={**found.facts, "count": backlog.count}) if found.is_wrong else found


def _describe_unread(method: PayoutMethod) -> Finding:
    """Return the finding about a listed destination that can't be read: one for each destination and text."""
    facts = {"destination": format_method(method), "complaint": method.unread}
    subject = replace(method, name=f"{method.name}\x00{method.unread}").key()
    return Finding(AlarmKind.DESTINATION_UNCLEAR, is_wrong=True, facts=facts, subject=subject)


def _describe_trouble(each: DestinationHealth, trouble: Trouble) -> dict[str, object]:
    """Return the facts of an alarm about a destination. Lengths are in minutes, rounded as for senders."""
    facts: dict[str, object] = {
        "destination": format_method(each.method),
        "since": trouble.since.isoformat(),
        "hits": trouble.hits,
        "count": trouble.count,
    }
    if trouble.length is not None:
        facts["minutes"] = trouble.length // MINUTE if trouble.is_longer else -(-trouble.length // MINUTE)
        facts["longer"] = trouble.is_longer
    if each.usual.times is not None:
        facts["usual"] = max(-(-each.usual.times.usual.median.value // MINUTE), 1)
    return facts


def _reported_at(alarm: Alarm) -> datetime:
    """Return when a process last reported an unreadable row."""
    reported_at = alarm.facts.get("reported_at")
    return datetime.fromisoformat(str(reported_at)) if reported_at else alarm.raised_at


def _build_finding(kind: AlarmKind, since: datetime | None) -> Finding:
    """Return a finding about a problem since that time. None means that there is no problem."""
    return Finding(kind, is_wrong=since is not None, facts={"since": since.isoformat()} if since else {})

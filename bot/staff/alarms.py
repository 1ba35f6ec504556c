"""Alarms to operators: raised once, repeated while the problem lasts, and cleared.

An alarm is a row. It is raised and cleared in the transaction that queues the message about that. So a restart doesn't
repeat an alarm, and its end is always reported.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

import structlog

from bot.infra.db.transaction import Transaction
from bot.infra.feature import Infra
from bot.infra.outbox.model import format_subject
from bot.infra.outbox.repository import OutboxRepository
from bot.staff.alarm_model import ORDER_ALARMS, Alarm, AlarmKind
from bot.staff.alarm_repository import BY_HAND, AlarmRepository
from bot.staff.alarm_subjects import AlarmSubjects, Subjects
from bot.staff.audit import record_audit
from bot.staff.model import AuditAction
from bot.staff.notifications import AlarmNotification, alarm_notifications, reminder_notifications
from bot.staff.rules import StaffRules

log = structlog.get_logger(__name__)

SPECIAL_KINDS: Final[Mapping[AlarmKind, tuple[AlarmNotification, AlarmNotification]]] = {
    AlarmKind.KEY_REFUSED: (AlarmNotification.KEY_REFUSED, AlarmNotification.KEY_WORKS)
}
"""Alarms with their own kinds of notification: for their start and for their end."""

DEFAULT_KINDS: Final = (AlarmNotification.RAISED, AlarmNotification.CLEARED)

MAX_REMINDER_PAUSE: Final = timedelta(days=1)
REMIND_AFTER_START: Final = timedelta(minutes=1)
"""No reminders are sent for so long after a start, because the problems must be checked again first.

The same holds for a process that becomes the leader.
"""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check of one thing found. `facts` are JSON values, in which personal data is masked.

    `subject` distinguishes two alarms of a kind.
    """

    kind: AlarmKind
    is_wrong: bool
    facts: Mapping[str, object] = field(default_factory=dict)
    subject: str = ""


class AlarmService:
    """Raise alarms, remind operators of them, and clear them."""

    def __init__(self, infra: Infra, rules: StaffRules) -> None:
        self._database = infra.database
        self._clock = infra.clock
        self._operators = rules.operator_ids
        self._remind_after = rules.remind_after
        self._subjects = AlarmSubjects(infra.features)
        self._since: datetime | None = None

    async def open(self) -> tuple[Alarm, ...]:
        """Return the open alarms, oldest first."""
        async with self._database.reading() as tx:
            return await AlarmRepository(tx).open()

    async def begin_to_lead(self) -> None:
        """Send no reminder for a while, because this process must check the problems again first."""
        self._since = None

    async def load_subjects(self, alarms: Iterable[Alarm]) -> Subjects:
        """Return the subjects of the alarms that one message shows."""
        async with self._database.reading() as tx:
            return await self._subjects.load_all(tx, alarms)

    async def record_findings(self, findings: Iterable[Finding], alarms: Iterable[Alarm]) -> int:
        """Raise alarms for new problems and clear those that are over. Return how many were raised or cleared.

        `alarms` are the open ones.
        """
        known = {(alarm.kind, alarm.subject): alarm for alarm in alarms}
        return sum(
            [await self._record_finding(finding, known.get((finding.kind, finding.subject))) for finding in findings]
        )

    async def remind(self) -> bool:
        """Remind operators of all open alarms if one of them is due. Return whether they were reminded."""
        now = self._clock.now()
        self._since = self._since or now
        if now - self._since < REMIND_AFTER_START or not self._is_any_due(await self.open(), now):
            return False
        async with self._database.transaction() as tx:
            for alarm in await AlarmRepository(tx).open():
                await AlarmRepository(tx).save(replace(alarm, reminded_at=now))
            await OutboxRepository(tx).add(reminder_notifications(self._operators, now))
        return True

    async def resolve(self, kind: AlarmKind, subject: str, by: int) -> bool:
        """Clear an alarm because an operator resolved it, and notify the other operators.

        Return False if no such alarm is open.
        """
        async with self._database.transaction() as tx:
            now = self._clock.now()
            is_resolved = await clear_alarm(tx, kind, subject, now, self._operators - {by}, by=by)
            if is_resolved:
                known = await self._subjects.load(tx, kind, subject)
                whom, about = known.user_id if known else 0, format_subject("alarm", kind, subject)
                await record_audit(tx, by, AuditAction.CHANGED, about, now, user_id=whom, detail="settled")
        return is_resolved

    async def _record_finding(self, finding: Finding, known: Alarm | None) -> bool:
        if finding.is_wrong and known is None:
            alarm = Alarm(kind=finding.kind, subject=finding.subject, facts=finding.facts, raised_at=self._clock.now())
            async with self._database.transaction() as tx:
                return await raise_alarm(tx, alarm, self._operators)
        if known is None:
            return False
        if not finding.is_wrong:
            async with self._database.transaction() as tx:
                return await clear_alarm(tx, finding.kind, finding.subject, self._clock.now(), self._operators)
        # The facts can change, except the time since when the problem exists.
        facts = {**finding.facts, **{name: known.facts[name] for name in ("since",) if name in known.facts}}
        if known.facts != facts:
            async with self._database.transaction() as tx:
                await AlarmRepository(tx).save(replace(known, facts=facts))
        return False

    def _is_any_due(self, alarms: Iterable[Alarm], now: datetime) -> bool:
        return any(now >= next_reminder(alarm, self._remind_after) for alarm in alarms)


async def raise_alarm(tx: Transaction, alarm: Alarm, operator_ids: Iterable[int]) -> bool:
    """Save an alarm, and queue the message about it to operators. Return False if it is already open."""
    raised = await add_alarm(tx, alarm)
    if raised:
        kind, _ = SPECIAL_KINDS.get(alarm.kind, DEFAULT_KINDS)
        await OutboxRepository(tx).add(alarm_notifications(operator_ids, kind, alarm, alarm.raised_at))
    return raised


async def add_alarm(tx: Transaction, alarm: Alarm) -> bool:
    """Save and log an alarm. Return False if it is already open."""
    added = await AlarmRepository(tx).add(alarm)
    if added:
        tx.on_commit.append(lambda: log.error("alarm_raised", alarm=alarm.kind, **_order(alarm)))
    return added


def _order(alarm: Alarm) -> Mapping[str, str]:
    """Return the order of an alarm for the log."""
    return {"order": alarm.subject} if alarm.kind in ORDER_ALARMS else {}


async def add_order_alarm(tx: Transaction, kind: AlarmKind, reference: str, now: datetime, **facts: object) -> None:
    """Save an alarm about an order, in the transaction that queues the order's own message to operators."""
    await add_alarm(tx, Alarm(kind=kind, subject=reference, facts=facts, raised_at=now))


async def raise_order_alarm(
    tx: Transaction, kind: AlarmKind, reference: str, now: datetime, operator_ids: Iterable[int], **facts: object
) -> None:
    """Raise an alarm about an order and queue the message about it. Do nothing if it is already open."""
    await raise_alarm(tx, Alarm(kind=kind, subject=reference, facts=facts, raised_at=now), operator_ids)


async def clear_alarm(
    tx: Transaction,
    kind: AlarmKind,
    subject: str,
    now: datetime,
    operator_ids: Iterable[int],
    *,
    by: int = 0,
) -> bool:
    """Clear an alarm and queue the message about that to `operator_ids`. Return False if no such alarm is open.

    `by` is the operator who has resolved it, if one has.
    """
    alarm = next(
        (each for each in await AlarmRepository(tx).open() if (each.kind, each.subject) == (kind, subject)), None
    )
    if alarm is None:
        return False
    facts = {**alarm.facts, BY_HAND: True} if by else alarm.facts
    cleared = replace(alarm, facts=facts, cleared_at=now)
    if not await AlarmRepository(tx).save(cleared):
        return False
    if by:
        tx.on_commit.append(lambda: log.info("alarm_closed", alarm=kind, **_order(alarm)))
    else:
        tx.on_commit.append(lambda: log.info("alarm_cleared", alarm=kind, **_order(alarm)))
    _, notification_kind = SPECIAL_KINDS.get(kind, DEFAULT_KINDS)
    await OutboxRepository(tx).add(alarm_notifications(operator_ids, notification_kind, cleared, now, by=by))
    return True


def next_reminder(alarm: Alarm, every: timedelta) -> datetime:
    """Return when to remind of an alarm.

    The first reminder follows after `every`. The later pauses are as long as the alarm has lasted, up to a day.
    """
    if alarm.reminded_at is None:
        return alarm.raised_at + every
    lasted = min(alarm.reminded_at - alarm.raised_at, MAX_REMINDER_PAUSE)
    return alarm.reminded_at + max(every, lasted)

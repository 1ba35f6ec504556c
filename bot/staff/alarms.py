"""Alarms to operators: raised once, repeated while the problem lasts, and cleared.

An alarm is a row. It is raised and cleared in the transaction that queues the message about that. So a restart doesn't
repeat an alarm, and its end is always reported.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, tzinfo
from typing import Final

import structlog

from bot.core.errors import Rejection
from bot.core.time_of_day import is_quiet
from bot.core.zones import PRESUMED
from bot.infra.db.transaction import Transaction
from bot.infra.feature import Infra
from bot.infra.outbox.model import format_moment, format_subject
from bot.infra.outbox.repository import OutboxRepository
from bot.staff.audit import record_audit
from bot.staff.model import (
    NIGHT,
    ORDER_ALARMS,
    UNDONE,
    Alarm,
    AlarmKind,
    AlarmSubjects,
    AuditAction,
    OnHandled,
    StaffRules,
    Subjects,
    Urgency,
    find_notice_time,
)
from bot.staff.notifications import (
    AlarmNotification,
    alarm_notifications,
    reminder_notifications,
    taken_notifications,
)
from bot.staff.outcomes import Outcome
from bot.staff.repository import BY_HAND, OUTCOME, AlarmRepository
from bot.users.repository import UserRepository

log = structlog.get_logger(__name__)

JOIN_FOR: Final = timedelta(minutes=1)
"""For so long after an alarm, others as urgent wait to be in one message. The first one never waits."""

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

    def __init__(self, infra: Infra, rules: StaffRules, subjects: AlarmSubjects) -> None:
        self._database = infra.database
        self._clock = infra.clock
        self._operators = rules.operator_ids
        self._rules = rules
        self._subjects = subjects
        self._since: datetime | None = None

    async def find_open(self) -> tuple[Alarm, ...]:
        """Return the open alarms, as `AlarmRepository.find_open` sorts them."""
        async with self._database.reading() as tx:
            return await AlarmRepository(tx).find_open()

    async def begin_to_lead(self) -> None:
        """Send no reminder for a while, because this process must check the problems again first."""
        self._since = None
        async with self._database.transaction() as tx:
            await AlarmRepository(tx).release(self._operators)

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
        """Remind each operator of all open alarms if one of them is due. Return whether any was reminded."""
        now = self._clock.now()
        self._since = self._since or now
        if now - self._since < REMIND_AFTER_START:
            return False
        async with self._database.reading() as tx:
            alarms = await AlarmRepository(tx).find_open()
            zones = {each: await _read_zone(tx, each) for each in sorted(self._operators if alarms else ())}
        of_operators = {each: self._find_due(alarms, now, zone) for each, zone in zones.items()}
        due = [each for each, keys in of_operators.items() if keys]
        if not due:
            return False
        # What isn't due itself is due at its own time for those who aren't reminded now.
        reminded = {key for keys in of_operators.values() for key in keys}
        async with self._database.transaction() as tx:
            for alarm in await AlarmRepository(tx).find_open():
                if len(due) == len(zones) or (alarm.kind, alarm.subject) in reminded:
                    await AlarmRepository(tx).save(replace(alarm, reminded_at=now))
            await OutboxRepository(tx).add(reminder_notifications(due, now))
        return True

    def _find_due(self, alarms: Iterable[Alarm], now: datetime, zone: tzinfo) -> list[tuple[AlarmKind, str]]:
        """Return the alarms of which an operator in this zone is reminded now."""
        return [(each.kind, each.subject) for each in alarms if is_due(each, now, zone, self._rules)]

    async def resolve(
        self, kind: AlarmKind, subject: str, by: int, outcome: Outcome | None, on_handled: OnHandled
    ) -> bool:
        """Clear an alarm because an operator resolved it, and notify the other operators.

        Return False if no such alarm is open.
        """
        async with self._database.transaction() as tx:
            now = self._clock.now()
            is_resolved = await clear_alarm(tx, kind, subject, now, self._operators - {by}, by=by, outcome=outcome)
            if is_resolved:
                await self._record_handled(tx, kind, subject, by, outcome or "settled")
                if outcome is not None:
                    await on_handled(tx, subject, outcome, now)
        return is_resolved

    async def end_order(self, reference: str, by: int, outcome: Outcome, on_handled: OnHandled) -> None:
        """Record how a failed order ended, and resolve the alarm about it, if that is open.

        Raises:
            Rejection: it was recorded before.
        """
        async with self._database.transaction() as tx:
            kind, now = AlarmKind.ORDER_FAILED, self._clock.now()
            if not await on_handled(tx, reference, outcome, now):
                raise Rejection("staff.alarm.ended_already")
            await clear_alarm(tx, kind, reference, now, self._operators - {by}, by=by, outcome=outcome)
            await self._record_handled(tx, kind, reference, by, outcome)

    async def reopen(self, kind: AlarmKind, subject: str, by: int, on_handled: OnHandled) -> Alarm | None:
        """Open an alarm again that an operator has resolved, and notify the other operators of it.

        Return None if it is open, or ended in another way.
        """
        async with self._database.transaction() as tx:
            now, last = self._clock.now(), await AlarmRepository(tx).find_last(kind, subject)
            alarm = await AlarmRepository(tx).reopen(kind, subject, now)
            if alarm is not None:
                notified = await list_notified(tx, alarm, self._operators - {by}, now)
                again = alarm_notifications(notified, AlarmNotification.RAISED, alarm, now)
                await OutboxRepository(tx).add([replace(each, mark=format_moment(now)) for each in again])
                await self._record_handled(tx, kind, subject, by, UNDONE)
                # Support says how a failed order ended, too. Of any other alarm, only what an operator said is undone.
                if kind is AlarmKind.ORDER_FAILED or (last and last.facts.get(OUTCOME) != Outcome.OTHER):
                    await on_handled(tx, subject, UNDONE, now)
        return alarm

    async def _record_handled(self, tx: Transaction, kind: AlarmKind, subject: str, by: int, detail: str) -> None:
        known, now = await self._subjects.load(tx, kind, subject), self._clock.now()
        whom, about = known.user_id if known else 0, format_subject("alarm", kind, subject)
        await record_audit(tx, by, AuditAction.CHANGED, about, now, user_id=whom, detail=detail)

    async def take(self, by: int, kind: AlarmKind | None = None, subject: str = "") -> bool:
        """Save that an operator is on an alarm, or on all that nobody is on, and notify the others in one message.

        Return whether there was any.
        """
        async with self._database.transaction() as tx:
            alarms, now = AlarmRepository(tx), self._clock.now()
            wanted = [(kind, subject)] if kind else [(each.kind, each.subject) for each in await alarms.find_open()]
            is_taken = any([await alarms.take(*each, by, now) for each in wanted])
            if is_taken:
                await OutboxRepository(tx).add(taken_notifications(self._operators - {by}, by, now))
        return is_taken

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


async def raise_alarm(tx: Transaction, alarm: Alarm, operator_ids: Iterable[int]) -> bool:
    """Save an alarm, and queue the message about it to operators. Return False if it is already open.

    If another one as urgent was raised within `JOIN_FOR` before, it waits for one message with all that join it. Two
    processes that raise one in the same moment send two messages: a lock would make orders wait for each other.
    """
    firsts = [each for each in await AlarmRepository(tx).find_open() if each.joined_until is None]
    ends = [each.raised_at + JOIN_FOR for each in firsts if each.kind.urgency is alarm.kind.urgency]
    alarm = replace(alarm, joined_until=next((end for end in ends if alarm.raised_at < end), None))
    raised = await AlarmRepository(tx).add(alarm)
    if raised:
        tx.on_commit.append(lambda: log.error("alarm_raised", alarm=alarm.kind, **_order(alarm)))
        notified = await list_notified(tx, alarm, operator_ids, alarm.raised_at)
        await OutboxRepository(tx).add(alarm_notifications(notified, AlarmNotification.RAISED, alarm, alarm.raised_at))
    return raised


async def list_notified(tx: Transaction, alarm: Alarm, operator_ids: Iterable[int], now: datetime) -> list[int]:
    """Return the operators who are notified of an alarm by now. The others are in the next morning."""
    if alarm.kind.urgency is Urgency.AT_ONCE and alarm.joined_until is None:
        return list(operator_ids)  # without a look at their rows
    zones = {each: await _read_zone(tx, each) for each in operator_ids}
    return [each for each, zone in zones.items() if find_notice_time(alarm, zone) <= now]


async def _read_zone(tx: Transaction, operator_id: int) -> tzinfo:
    operator = await UserRepository(tx).get_if_readable(operator_id)
    return operator.zone if operator else PRESUMED


def _order(alarm: Alarm) -> Mapping[str, str]:
    """Return the order of an alarm for the log."""
    return {"order": alarm.subject} if alarm.kind in ORDER_ALARMS else {}


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
    outcome: Outcome | None = None,
) -> bool:
    """Clear an alarm and queue the message about that to `operator_ids`. Return False if no such alarm is open.

    `by` is the operator who has resolved it, if one has, and `outcome` is how it ended, if they said so.
    """
    alarm = next(
        (each for each in await AlarmRepository(tx).find_open() if (each.kind, each.subject) == (kind, subject)), None
    )
    if alarm is None:
        return False
    facts = {**alarm.facts, **({BY_HAND: True} if by else {}), **({OUTCOME: str(outcome)} if outcome else {})}
    cleared = replace(alarm, facts=facts, cleared_at=now)
    if not await AlarmRepository(tx).save(cleared):
        return False
    if by:
        tx.on_commit.append(lambda: log.info("alarm_closed", alarm=kind, **_order(alarm)))
    else:
        tx.on_commit.append(lambda: log.info("alarm_cleared", alarm=kind, **_order(alarm)))
    notified = await list_notified(tx, alarm, operator_ids, now)
    ended = alarm_notifications(notified, AlarmNotification.CLEARED, cleared, now, by=by)
    # What was undone can be resolved again.
    await OutboxRepository(tx).add([replace(each, mark=format_moment(now)) if by else each for each in ended])
    return True


def is_due(alarm: Alarm, now: datetime, zone: tzinfo, rules: StaffRules) -> bool:
    """Return whether an operator in this zone is reminded of an alarm: in their night, only of what is urgent.

    An alarm that waited for others or for their morning is due then, whoever was reminded of it before.
    """
    notified_at = find_notice_time(alarm, zone)
    if (alarm.reminded_at or alarm.raised_at) < notified_at:
        return notified_at <= now
    waits = alarm.kind.urgency is not Urgency.AT_ONCE and is_quiet(now, zone, *NIGHT)
    return not waits and now >= next_reminder(alarm, rules)


def next_reminder(alarm: Alarm, rules: StaffRules) -> datetime:
    """Return when to remind of an alarm.

    An urgent one that nobody is on comes again twice after `repeat_after`, and then each `remind_after`. The first
    reminder of any other follows after that. The later pauses are as long as the alarm has lasted, up to a day.
    """
    reminded_at = alarm.reminded_at
    lasted = min(reminded_at - alarm.raised_at, MAX_REMINDER_PAUSE) if reminded_at else timedelta()
    if not alarm.repeats:
        pause = max(rules.remind_after, lasted)
    elif lasted < 2 * rules.repeat_after:
        pause = rules.repeat_after
    else:
        pause = rules.remind_after
    return (reminded_at or alarm.raised_at) + pause

"""What operators are told by themselves: that something is wrong, once; a reminder while it is; and that it is over.

Alarms are rows, raised and cleared in the transaction that queues the news of it: a restart neither repeats an alarm
nor forgets to tell its end.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

import structlog

from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.infra.outbox.repository import OutboxRepository
from bot.orders.notifications import staff_news
from bot.orders.order import OrderNotification
from bot.orders.repository import OrderRepository
from bot.staff.alarm_model import Alarm, AlarmKind
from bot.staff.alarm_repository import AlarmRepository
from bot.staff.audit import record_audit
from bot.staff.model import AuditAction

log = structlog.get_logger(__name__)

RAISED: Final = "alarm_raised"
REMINDER: Final = "alarm_reminder"
OVER: Final = "alarm_over"
ALARM_SUBJECT: Final = "alarm:"

OWN_NEWS: Final[Mapping[AlarmKind, tuple[str, str]]] = {
    AlarmKind.KEY_REFUSED: (OrderNotification.STAFF_KEY_REFUSED, OrderNotification.STAFF_KEY_WORKS)
}
"""Where the news of an alarm and of its end have kinds of their own."""

OF_ORDERS: Final = frozenset(
    {
        AlarmKind.ORDER_STUCK,
        AlarmKind.ORDER_FAILED,
        AlarmKind.INVOICE_MISMATCH,
        AlarmKind.MESSAGE_REFUSED,
        AlarmKind.PICTURE_REFUSED,
    }
)
"""Their subject is an order's reference."""

BY_HAND: Final = frozenset({*OF_ORDERS, AlarmKind.ROOM_LOST})
"""An operator may say that they are seen to."""

LONGEST_PAUSE: Final = timedelta(days=1)
LOOK_FIRST: Final = timedelta(minutes=1)
"""After a start, whatever was wrong before it is looked at anew before anybody is reminded of it."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a look at one thing has shown. `facts` are plain and masked."""

    kind: AlarmKind
    is_wrong: bool
    facts: Mapping[str, object] = field(default_factory=dict)


class Alarms:
    """Raises, reminds and clears. `on_news` is called whenever the outbox has got something to tell."""

    def __init__(
        self,
        store: Database,
        clock: Clock,
        operator_ids: frozenset[int],
        remind_after: timedelta = timedelta(hours=1),
        on_news: Callable[[], None] = lambda: None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._operators = operator_ids
        self._remind_after = remind_after
        self._on_news = on_news
        self._since: datetime | None = None

    async def open(self) -> tuple[Alarm, ...]:
        """Those not cleared, oldest first."""
        async with self._store.reading() as tx:
            return await AlarmRepository(tx).open()

    async def take_in(self, findings: Iterable[Finding]) -> int:
        """Raise what is newly wrong and clear what is over; how many pieces of news that were."""
        known = {alarm.kind: alarm for alarm in await self.open() if not alarm.subject}
        return sum([await self._take_in(finding, known.get(finding.kind)) for finding in findings])

    async def remind(self) -> bool:
        """Remind of everything that is still wrong, once any of it is due; whether it was."""
        now = self._clock.now()
        self._since = self._since or now
        if now - self._since < LOOK_FIRST or not self._is_any_due(await self.open(), now):
            return False
        async with self._store.transaction() as tx:
            for alarm in await AlarmRepository(tx).open():
                await AlarmRepository(tx).save(replace(alarm, reminded_at=now))
            subject = f"{ALARM_SUBJECT}{REMINDER}:{_stamp(now)}"
            await OutboxRepository(tx).add(staff_news(self._operators, REMINDER, subject, now))
        self._on_news()
        return True

    async def settle(self, kind: AlarmKind, subject: str, by: int) -> bool:
        """An operator says that it is seen to: it is over, and the others hear of that; False where it was already."""
        async with self._store.transaction() as tx:
            now = self._clock.now()
            settled = await over(tx, kind, subject, now, self._operators - {by}, by_hand=True)
            if settled:
                order = await OrderRepository(tx).get_if_readable(subject) if kind in OF_ORDERS else None
                whom, about = order.person_id if order else 0, f"{ALARM_SUBJECT}{kind}:{subject}"
                await record_audit(tx, by, AuditAction.CHANGED, about, now, person_id=whom, detail="settled")
        if settled:
            self._on_news()
        return settled

    async def _take_in(self, finding: Finding, known: Alarm | None) -> bool:
        if finding.is_wrong and known is None:
            return await self._raise(finding)
        if known is None:
            return False
        if not finding.is_wrong:
            return await self._clear(finding.kind)
        # How it stands may change; since when it is wrong doesn't.
        facts = {**finding.facts, **{name: known.facts[name] for name in ("since",) if name in known.facts}}
        if known.facts != facts:
            async with self._store.transaction() as tx:
                await AlarmRepository(tx).save(replace(known, facts=facts))
        return False

    async def _raise(self, finding: Finding) -> bool:
        now = self._clock.now()
        alarm = Alarm(kind=finding.kind, facts=finding.facts, raised_at=now)
        async with self._store.transaction() as tx:
            raised = await add(tx, alarm)
            if raised:
                notice = OWN_NEWS.get(alarm.kind, (RAISED, OVER))[0]
                await OutboxRepository(tx).add(
                    staff_news(self._operators, notice, subject_of(alarm), now, **told_of(alarm))
                )
        if raised:
            self._on_news()
        return raised

    async def _clear(self, kind: AlarmKind) -> bool:
        async with self._store.transaction() as tx:
            cleared = await over(tx, kind, "", self._clock.now(), self._operators)
        if cleared:
            self._on_news()
        return cleared

    def _is_any_due(self, alarms: Iterable[Alarm], now: datetime) -> bool:
        return any(now >= next_reminder(alarm, self._remind_after) for alarm in alarms)


async def add(tx: Transaction, alarm: Alarm) -> bool:
    """Save and log an alarm; False where it is raised already."""
    added = await AlarmRepository(tx).add(alarm)
    if added:
        log.error("alarm_raised", alarm=alarm.kind, **_order(alarm))
    return added


def _order(alarm: Alarm) -> Mapping[str, str]:
    """Return what the log says of the order that an alarm is about."""
    return {"order": alarm.subject} if alarm.kind in OF_ORDERS else {}


async def of_order(tx: Transaction, kind: AlarmKind, reference: str, now: datetime, **facts: object) -> None:
    """Raise an alarm about an order, in the transaction that tells the staff of it: it has no news of its own."""
    await add(tx, Alarm(kind=kind, subject=reference, facts=facts, raised_at=now))


async def raise_about_order(
    tx: Transaction, kind: AlarmKind, reference: str, now: datetime, tell: Iterable[int], **facts: object
) -> None:
    """Raise an alarm about an order and queue the message about it for `tell`; nothing where it is raised already."""
    alarm = Alarm(kind=kind, subject=reference, facts=facts, raised_at=now)
    if await add(tx, alarm):
        await OutboxRepository(tx).add(staff_news(tell, RAISED, subject_of(alarm), now, **told_of(alarm)))


async def over(
    tx: Transaction,
    kind: AlarmKind,
    subject: str,
    now: datetime,
    tell: Iterable[int],
    *,
    by_hand: bool = False,
) -> bool:
    """Clear an alarm and queue the news of that for `tell`; False where none is raised."""
    alarm = next(
        (each for each in await AlarmRepository(tx).open() if (each.kind, each.subject) == (kind, subject)), None
    )
    if alarm is None or not await AlarmRepository(tx).save(replace(alarm, cleared_at=now)):
        return False
    if by_hand:
        log.info("alarm_closed", alarm=kind, **_order(alarm))
    else:
        log.info("alarm_cleared", alarm=kind, **_order(alarm))
    notice = OWN_NEWS.get(kind, (RAISED, OVER))[1]
    facts = {**told_of(alarm), "cleared_at": now.isoformat(), "by_hand": by_hand}
    await OutboxRepository(tx).add(staff_news(tell, notice, subject_of(alarm), now, **facts))
    return True


def next_reminder(alarm: Alarm, every: timedelta) -> datetime:
    """When to remind of it: after `every`, then each time after as long as it has lasted, a day at the most."""
    if alarm.reminded_at is None:
        return alarm.raised_at + every
    lasted = min(alarm.reminded_at - alarm.raised_at, LONGEST_PAUSE)
    return alarm.reminded_at + max(every, lasted)


def subject_of(alarm: Alarm) -> str:
    """What the news of one incident are filed under."""
    return f"{ALARM_SUBJECT}{alarm.kind}:{alarm.subject}:{_stamp(alarm.raised_at)}"


def told_of(alarm: Alarm) -> dict[str, object]:
    """What is queued with the news of an alarm; `alarm_in` reads it."""
    about = {"alarm": str(alarm.kind), "about": alarm.subject, "raised_at": alarm.raised_at.isoformat()}
    return {**about, "facts": dict(alarm.facts)}


def alarm_in(payload: Mapping[str, object]) -> Alarm:
    """The alarm that `told_of` has written down."""
    cleared_at, facts = payload.get("cleared_at"), payload.get("facts")
    return Alarm(
        kind=AlarmKind(str(payload["alarm"])),
        subject=str(payload["about"]),
        facts=facts if isinstance(facts, Mapping) else {},
        raised_at=datetime.fromisoformat(str(payload["raised_at"])),
        cleared_at=datetime.fromisoformat(str(cleared_at)) if cleared_at else None,
    )


def _stamp(moment: datetime) -> str:
    return f"{moment:%Y%m%dT%H%M%S%f}"

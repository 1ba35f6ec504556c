"""Read and write alarms."""

from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import select, update

from bot.infra.db import upsert
from bot.infra.db.repository import Repository
from bot.staff.alarm_model import Alarm, AlarmKind
from bot.staff.tables import IS_RAISED, alarms

BY_HAND = "by_hand"
"""The fact that an operator resolved the alarm."""


class AlarmRepository(Repository[Alarm]):
    """Alarms, with at most one open alarm for each kind and subject."""

    table = alarms

    async def open(self) -> tuple[Alarm, ...]:
        """Return the open alarms, oldest first."""
        found = await self._find(select(alarms).where(IS_RAISED))
        # Sorted here, because to sort by time SQLite would read all alarms that ever existed.
        return tuple(sorted(found, key=lambda alarm: (alarm.raised_at, alarm.id)))

    async def add(self, alarm: Alarm) -> bool:
        """Add an alarm. Return False if one of its kind and subject is already open."""
        row = {name: value for name, value in self._seal(alarm).items() if name != "id"}
        return await upsert.insert_new(self._connection, alarms, row)

    async def save(self, alarm: Alarm) -> bool:
        """Save the alarm's reminder, end and facts. Return False if it has already ended; then nothing is saved."""
        row = self._seal(alarm)
        changed = {name: row[name] for name in ("facts", "reminded_at", "cleared_at")}
        # An alarm that has ended stays ended. A reminder that was read earlier must not open it again.
        return await self._change(update(alarms).where(IS_RAISED, alarms.c.id == alarm.id), changed) == 1

    async def resolved_by_hand(self, kind: AlarmKind, since: datetime) -> tuple[Alarm, ...]:
        """Return alarms of a kind that an operator has resolved since that time."""
        ended = await self._find(select(alarms).where(alarms.c.kind == kind.value, alarms.c.cleared_at >= since))
        return tuple(alarm for alarm in ended if alarm.facts.get(BY_HAND))

    async def since(self, moment: datetime) -> tuple[Alarm, ...]:
        """Return alarms that were raised at this time or later, newest first."""
        raised = select(alarms).where(alarms.c.raised_at >= moment)
        return await self._find(raised.order_by(alarms.c.raised_at.desc(), alarms.c.id.desc()))

    def _to_row(self, value: Alarm) -> dict[str, Any]:
        return {**asdict(value), "facts": dict(value.facts)}

    def _to_value(self, known: dict[str, Any]) -> Alarm:
        return Alarm(**{**known, "kind": AlarmKind(known["kind"])})

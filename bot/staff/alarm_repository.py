"""Read and write alarms."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, select, update

from bot.infra.db import encryption, upsert
from bot.infra.db.transaction import Transaction
from bot.staff.alarm_model import Alarm, AlarmKind
from bot.staff.tables import IS_RAISED, alarms

BY_HAND = "by_hand"
"""The fact that an operator resolved the alarm."""

OPEN = select(alarms).where(IS_RAISED)
SINCE = select(alarms).where(alarms.c.raised_at >= bindparam("moment", type_=alarms.c.raised_at.type))
CLEARED = select(alarms).where(
    alarms.c.kind == bindparam("kind"),
    alarms.c.cleared_at >= bindparam("moment", type_=alarms.c.cleared_at.type),
)
SINCE = SINCE.order_by(alarms.c.raised_at.desc(), alarms.c.id.desc())
# An alarm that has ended stays ended. A reminder that was read earlier must not open it again.
SAVE = update(alarms).where(IS_RAISED, alarms.c.id == bindparam("key", type_=alarms.c.id.type))


class AlarmRepository:
    """Alarms, with at most one open alarm for each kind and subject."""

    def __init__(self, tx: Transaction) -> None:
        self._connection = tx.connection
        self._vault = tx.vault

    async def open(self) -> tuple[Alarm, ...]:
        """Return the open alarms, oldest first."""
        found = encryption.read_rows(self._vault, alarms, (await self._connection.execute(OPEN)).mappings(), _alarm)
        # Sorted here, because to sort by time SQLite would read all alarms that ever existed.
        return tuple(sorted(found, key=lambda alarm: (alarm.raised_at, alarm.id)))

    async def add(self, alarm: Alarm) -> bool:
        """Add an alarm. Return False if one of its kind and subject is already open."""
        row = {name: value for name, value in _row(alarm).items() if name != "id"}
        return await upsert.insert_new(self._connection, alarms, row)

    async def save(self, alarm: Alarm) -> bool:
        """Save the alarm's reminder, end and facts. Return False if it has already ended; then nothing is saved."""
        row = _row(alarm)
        changed = {name: row[name] for name in ("facts", "reminded_at", "cleared_at")}
        return (await self._connection.execute(SAVE.values(changed), {"key": alarm.id})).rowcount == 1

    async def resolved_by_hand(self, kind: AlarmKind, since: datetime) -> tuple[Alarm, ...]:
        """Return alarms of a kind that an operator has resolved since that time."""
        found = (await self._connection.execute(CLEARED, {"kind": kind.value, "moment": since})).mappings()
        return tuple(
            alarm for alarm in encryption.read_rows(self._vault, alarms, found, _alarm) if alarm.facts.get(BY_HAND)
        )

    async def since(self, moment: datetime) -> tuple[Alarm, ...]:
        """Return alarms that were raised at this time or later, newest first."""
        found = (await self._connection.execute(SINCE, {"moment": moment})).mappings()
        return encryption.read_rows(self._vault, alarms, found, _alarm)


def _row(alarm: Alarm) -> dict[str, Any]:
    return {**asdict(alarm), "facts": dict(alarm.facts)}


def _alarm(row: Mapping[Any, Any]) -> Alarm:
    return Alarm(**{**row, "kind": AlarmKind(row["kind"])})

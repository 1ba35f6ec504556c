"""What operators were told is wrong, until it is over."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, select, update

from bot.infra.db import encryption, upsert
from bot.infra.db.transaction import Transaction
from bot.staff.alarm_model import Alarm, AlarmKind
from bot.staff.tables import IS_RAISED, alarms

OPEN = select(alarms).where(IS_RAISED)
SINCE = select(alarms).where(alarms.c.raised_at >= bindparam("moment", type_=alarms.c.raised_at.type))
SINCE = SINCE.order_by(alarms.c.raised_at.desc(), alarms.c.id.desc())
# What is over stays over: a reminder that was read before must not raise it anew.
SAVE = update(alarms).where(IS_RAISED, alarms.c.id == bindparam("key", type_=alarms.c.id.type))


class AlarmRepository:
    """Alarms, at most one open for each kind and subject."""

    def __init__(self, tx: Transaction) -> None:
        self._connection = tx.connection
        self._vault = tx.vault

    async def open(self) -> tuple[Alarm, ...]:
        """Those not cleared, oldest first."""
        found = encryption.read_rows(self._vault, alarms, (await self._connection.execute(OPEN)).mappings(), _alarm)
        # Sorted here: for an order by time SQLite would walk through all that ever was wrong.
        return tuple(sorted(found, key=lambda alarm: (alarm.raised_at, alarm.id)))

    async def add(self, alarm: Alarm) -> bool:
        """Raise it; False where it is raised already."""
        row = {name: value for name, value in _row(alarm).items() if name != "id"}
        return await upsert.insert_new(self._connection, alarms, row)

    async def save(self, alarm: Alarm) -> bool:
        """Keep its reminder, its clearing and its facts; False where it has been cleared meanwhile, and stays so."""
        row = _row(alarm)
        changed = {name: row[name] for name in ("facts", "reminded_at", "cleared_at")}
        return (await self._connection.execute(SAVE.values(changed), {"key": alarm.id})).rowcount == 1

    async def since(self, moment: datetime) -> tuple[Alarm, ...]:
        """Those raised since, newest first."""
        found = (await self._connection.execute(SINCE, {"moment": moment})).mappings()
        return encryption.read_rows(self._vault, alarms, found, _alarm)


def _row(alarm: Alarm) -> dict[str, Any]:
    return {**asdict(alarm), "facts": dict(alarm.facts)}


def _alarm(row: Mapping[Any, Any]) -> Alarm:
    return Alarm(**{**row, "kind": AlarmKind(row["kind"])})

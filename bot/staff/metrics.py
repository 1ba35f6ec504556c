"""The metrics of alarms."""

from collections import Counter
from typing import Final

from bot.infra.db.database import Database
from bot.infra.metrics import gauge
from bot.staff.alarm_model import AlarmKind
from bot.staff.alarm_repository import AlarmRepository

ALARMS_OPEN: Final = gauge("kirim_alarms_open", "Alarms that are open.", kind=tuple(kind.value for kind in AlarmKind))


async def refresh_gauges(database: Database) -> None:
    """Read how many alarms of each kind are open."""
    async with database.reading() as tx:
        counts = Counter(alarm.kind for alarm in await AlarmRepository(tx).open())
    for kind in AlarmKind:
        ALARMS_OPEN.labels(kind.value).set(counts[kind])

"""What alarms are about. Features that own such things register how they are read and shown to operators."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import datetime
from typing import Final, Protocol

from bot.infra.db.transaction import Transaction
from bot.infra.i18n import Html, Translator
from bot.staff.alarm_model import Alarm, AlarmKind

MAX_ALARMS_SHOWN: Final = 8
"""Alarms in one message. It says how many more there are."""


class AlarmSubject(Protocol):
    """What an alarm is about, such as an order."""

    @property
    def user_id(self) -> int:
        """The user whose it is."""

    @property
    def service_id(self) -> str:
        """The id by which the settlement service knows it; "" where it has given none."""

    def format_line(self, t: Translator) -> Html:
        """Return what names it to operators, in one line."""

    def format_status(self, t: Translator, now: datetime) -> Html:
        """Return its status, in one line."""


LoadAlarmSubject = Callable[[Transaction, str], Awaitable[AlarmSubject | None]]
"""Reads what an alarm's `subject` names; None where it is gone or can't be read."""

Subjects = Mapping[str, AlarmSubject]
"""`Alarm.subject` -> what it names."""


class AlarmSubjects:
    """How the subjects of each kind of alarm are read."""

    def __init__(self) -> None:
        self._loaders: dict[AlarmKind, LoadAlarmSubject] = {}

    def add(self, loaders: Mapping[AlarmKind, LoadAlarmSubject]) -> None:
        """Read the subjects of these kinds with the loaders of a feature.

        Raises:
            ValueError: another feature reads one of them.
        """
        if twice := self._loaders.keys() & loaders.keys():
            raise ValueError(f"two features read the subjects of {', '.join(sorted(twice))}")
        self._loaders.update(loaders)

    async def load(self, tx: Transaction, kind: AlarmKind, subject: str) -> AlarmSubject | None:
        """Return what an alarm is about; None where it is about nothing else, or that can't be read."""
        load = self._loaders.get(kind)
        return None if load is None or not subject else await load(tx, subject)

    async def load_all(self, tx: Transaction, alarms: Iterable[Alarm]) -> Subjects:
        """Return what the alarms that one message shows are about."""
        shown = [alarm for alarm in alarms if alarm.subject][:MAX_ALARMS_SHOWN]
        found = {alarm.subject: await self.load(tx, alarm.kind, alarm.subject) for alarm in shown}
        return {subject: about for subject, about in found.items() if about is not None}

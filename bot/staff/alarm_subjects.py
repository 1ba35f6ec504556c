"""What alarms are about. Features declare how operators' messages read and show their subjects."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final, Protocol

from bot.infra.db.transaction import Transaction
from bot.infra.feature import Features
from bot.infra.i18n import Html, Translator
from bot.staff.alarm_model import Alarm, AlarmKind

MAX_ALARMS_SHOWN: Final = 8
"""Alarms in one message. The message says how many more there are."""


class AlarmSubject(Protocol):
    """The subject of an alarm, such as an order."""

    @property
    def user_id(self) -> int:
        """The user whom the subject belongs to."""

    @property
    def service_id(self) -> str:
        """The id at the settlement service; "" if it has none."""

    def format_line(self, t: Translator) -> Html:
        """Return the subject in one line for operators."""

    def format_status(self, t: Translator, now: datetime) -> Html:
        """Return the subject's status in one line."""


Subjects = Mapping[str, AlarmSubject]
"""`Alarm.subject` -> the loaded subject."""


class AlarmSubjects:
    """Load the subject of an alarm, as the feature that owns it declares (`Feature.alarm_subjects`)."""

    def __init__(self, features: Features) -> None:
        self._features = features

    async def load(self, tx: Transaction, kind: AlarmKind, subject: str) -> AlarmSubject | None:
        """Return the subject of an alarm; None if it has none, or it can't be read."""
        for feature in self._features:
            if subject and kind in feature.alarm_subjects:
                found: AlarmSubject | None = await feature.alarm_subjects[kind](tx, subject)
                return found
        return None

    async def load_all(self, tx: Transaction, alarms: Iterable[Alarm]) -> Subjects:
        """Return the subjects of the alarms that one message shows."""
        shown = [alarm for alarm in alarms if alarm.subject][:MAX_ALARMS_SHOWN]
        found = {alarm.subject: await self.load(tx, alarm.kind, alarm.subject) for alarm in shown}
        return {subject: about for subject, about in found.items() if about is not None}

"""Notifications to operators about alarms. Support gets a ticket about an order instead."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from bot.infra.outbox.model import NoPayload, Notification, NotificationKind, format_moment, format_subject
from bot.infra.telegram.ui.screen import Screen
from bot.staff import screens
from bot.staff.model import Alarm, AlarmSubjects, Subjects, takers
from bot.staff.repository import AlarmRepository
from bot.users.readers import RenderContext, Renderer, Show, as_message


@dataclass(frozen=True, slots=True)
class AlarmPayload:
    """The alarm when it was raised or cleared. `by` is the operator who has resolved it, 0 for none."""

    alarm: Alarm
    by: int


@dataclass(frozen=True, slots=True)
class TakenPayload:
    """The operator who is on alarms, and since when."""

    by: int
    at: datetime


class AlarmNotification(NotificationKind):
    """Notifications about alarms, for operators."""

    RAISED = "alarm_raised", AlarmPayload
    CLEARED = "alarm_over", AlarmPayload
    TAKEN = "alarm_taken", TakenPayload
    REMINDER = "alarm_reminder"


def alarm_notifications(
    operator_ids: Iterable[int], kind: AlarmNotification, alarm: Alarm, now: datetime, *, by: int = 0
) -> list[Notification[AlarmPayload]]:
    """Return a notification about an alarm for each operator. Those about one incident have the same subject."""
    subject = format_subject("alarm", alarm.kind, alarm.subject, format_moment(alarm.raised_at))
    return [kind.create(each, subject, AlarmPayload(alarm, by), now) for each in sorted(operator_ids)]


def reminder_notifications(operator_ids: Iterable[int], now: datetime) -> list[Notification[NoPayload]]:
    """Return a notification for each operator that reminds of all open alarms."""
    kind = AlarmNotification.REMINDER
    subject = format_subject("alarm", kind, format_moment(now))
    return [kind.create(each, subject, NoPayload(), now) for each in sorted(operator_ids)]


def taken_notifications(operator_ids: Iterable[int], by: int, now: datetime) -> list[Notification[TakenPayload]]:
    """Return a notification for each other operator that one of them is on alarms since now."""
    kind = AlarmNotification.TAKEN
    subject = format_subject("alarm", kind, by, format_moment(now))
    return [kind.create(each, subject, TakenPayload(by, now), now) for each in sorted(operator_ids)]


class AlarmMessages:
    """Render the messages to operators about alarms."""

    def __init__(self, subjects: AlarmSubjects, service_contact: str = "") -> None:
        self._subjects = subjects
        self._service_contact = service_contact

    def renderers(self) -> Mapping[NotificationKind, Renderer]:
        """Return the renderer of each kind of notification."""
        shown: Mapping[AlarmNotification, Show] = {
            AlarmNotification.RAISED: self.show_raised,
            AlarmNotification.CLEARED: self.show_cleared,
            AlarmNotification.TAKEN: self.show_taken,
            AlarmNotification.REMINDER: self.show_reminder,
        }
        silent = AlarmNotification.TAKEN
        return {kind: as_message(show, priority="money", silent=kind is silent) for kind, show in shown.items()}

    async def show_raised(self, notification: Notification[AlarmPayload], context: RenderContext) -> Screen:
        """Say what is wrong and what to do about it."""
        alarm = notification.payload.alarm
        subjects = await self._load_subjects(context, [alarm])
        return screens.show_raised(context.reader, alarm, subjects, service_contact=self._service_contact)

    async def show_cleared(self, notification: Notification[AlarmPayload], context: RenderContext) -> Screen:
        """Say that the alarm is over, and which operator has resolved it if one has."""
        ended = notification.payload
        subjects = await self._load_subjects(context, [ended.alarm])
        reader = await context.reader_who_knows(ended.by) if ended.by else context.reader
        return screens.show_cleared(reader, ended.alarm, subjects, by=ended.by)

    async def show_reminder(self, _: Notification[NoPayload], context: RenderContext) -> Screen | None:
        """Remind an operator of the open alarms, if there are any."""
        async with context.database.reading() as tx:
            raised = await AlarmRepository(tx).find_open()
        if not raised:
            return None
        subjects, reader = await self._load_subjects(context, raised), await context.reader_who_knows(*takers(raised))
        return screens.show_reminder(reader, raised, subjects, service_contact=self._service_contact)

    async def show_taken(self, notification: Notification[TakenPayload], context: RenderContext) -> Screen | None:
        """Say which alarms another operator is on, unless they have ended."""
        by, at = notification.payload.by, notification.payload.at
        async with context.database.reading() as tx:
            raised = await AlarmRepository(tx).find_open()
        taken = [alarm for alarm in raised if (alarm.taken_by, alarm.taken_at) == (by, at)]
        subjects, reader = await self._load_subjects(context, taken), await context.reader_who_knows(by)
        return screens.show_taken(reader, taken, subjects) if taken else None

    async def _load_subjects(self, context: RenderContext, alarms: Iterable[Alarm]) -> Subjects:
        async with context.database.reading() as tx:
            return await self._subjects.load_all(tx, alarms)

"""Notifications to operators about alarms. Support gets a ticket about an order instead."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from bot.infra.outbox.model import DeliveryOutcome, NoPayload, Notification, NotificationKind, Sent, format_subject
from bot.staff.alarm_model import Alarm
from bot.staff.alarm_repository import AlarmRepository
from bot.staff.alarm_subjects import AlarmSubjects, Subjects
from bot.staff.screens import alarms as screens
from bot.users.readers import RenderContext, Renderer


@dataclass(frozen=True, slots=True)
class AlarmPayload:
    """The alarm when it was raised or cleared. `by` is the operator who has resolved it, 0 for none."""

    alarm: Alarm
    by: int


class AlarmNotification(NotificationKind):
    """Notifications about alarms, for operators."""

    RAISED = "alarm_raised", AlarmPayload
    CLEARED = "alarm_over", AlarmPayload
    REMINDER = "alarm_reminder"
    KEY_REFUSED = "staff_key_refused", AlarmPayload
    KEY_WORKS = "staff_key_works", AlarmPayload


def alarm_notifications(
    operator_ids: Iterable[int], kind: AlarmNotification, alarm: Alarm, now: datetime, *, by: int = 0
) -> list[Notification[AlarmPayload]]:
    """Return a notification about an alarm for each operator. Those about one incident have the same subject."""
    return [
        Notification(
            chat_id=operator_id,
            subject=format_subject("alarm", alarm.kind, alarm.subject, _format_time(alarm.raised_at)),
            kind=kind,
            payload=AlarmPayload(alarm, by),
            due_at=now,
            created_at=now,
        )
        for operator_id in sorted(operator_ids)
    ]


def reminder_notifications(operator_ids: Iterable[int], now: datetime) -> list[Notification[NoPayload]]:
    """Return a notification for each operator that reminds of all open alarms."""
    return [
        Notification(
            chat_id=operator_id,
            subject=format_subject("alarm", AlarmNotification.REMINDER, _format_time(now)),
            kind=AlarmNotification.REMINDER,
            payload=NoPayload(),
            due_at=now,
            created_at=now,
        )
        for operator_id in sorted(operator_ids)
    ]


class AlarmMessages:
    """Render the messages to operators about alarms."""

    def __init__(self, subjects: AlarmSubjects, service_contact: str = "") -> None:
        self._subjects = subjects
        self._service_contact = service_contact

    def renderers(self) -> Mapping[NotificationKind, Renderer]:
        """Return the renderer of each kind of notification."""
        return {
            AlarmNotification.RAISED: self.render_raised,
            AlarmNotification.CLEARED: self.render_cleared,
            AlarmNotification.REMINDER: self.render_reminder,
            AlarmNotification.KEY_REFUSED: self.render_key_refused,
            AlarmNotification.KEY_WORKS: render_key_works,
        }

    async def render_raised(self, notification: Notification[AlarmPayload], context: RenderContext) -> DeliveryOutcome:
        """Say what is wrong and what to do about it."""
        alarm = notification.payload.alarm
        subjects = await self._load_subjects(context, [alarm])
        screen = screens.show_raised(
            context.t, alarm, subjects, context.now, context.zone, service_contact=self._service_contact
        )
        return await context.send_text(notification, screen, priority="money")

    async def render_cleared(self, notification: Notification[AlarmPayload], context: RenderContext) -> DeliveryOutcome:
        """Say that the alarm is over, and which operator has resolved it if one has."""
        ended = notification.payload
        subjects = await self._load_subjects(context, [ended.alarm])
        reader = await context.reader_who_knows(ended.by) if ended.by else context.reader
        screen = screens.show_over(reader, ended.alarm, subjects, by=ended.by)
        return await context.send_text(notification, screen, priority="money")

    async def render_reminder(self, notification: Notification[NoPayload], context: RenderContext) -> DeliveryOutcome:
        """Remind an operator of the open alarms. Send nothing if there are none."""
        async with context.database.reading() as tx:
            raised = await AlarmRepository(tx).open()
        if not raised:
            return Sent()
        subjects = await self._load_subjects(context, raised)
        screen = screens.show_reminder(
            context.t, raised, subjects, context.now, context.zone, service_contact=self._service_contact
        )
        return await context.send_text(notification, screen, priority="money")

    async def render_key_refused(
        self, notification: Notification[AlarmPayload], context: RenderContext
    ) -> DeliveryOutcome:
        """Say that the service rejects the API key."""
        screen = screens.show_key_refused(context.t, self._service_contact)
        return await context.send_text(notification, screen, priority="money")

    async def _load_subjects(self, context: RenderContext, alarms: Iterable[Alarm]) -> Subjects:
        async with context.database.reading() as tx:
            return await self._subjects.load_all(tx, alarms)


async def render_key_works(notification: Notification[AlarmPayload], context: RenderContext) -> DeliveryOutcome:
    """Say that the service accepts the API key again."""
    return await context.send_text(notification, screens.show_key_works(context.t), priority="money")


def _format_time(moment: datetime) -> str:
    return f"{moment:%Y%m%dT%H%M%S%f}"

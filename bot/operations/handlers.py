"""Handle the status with the buttons about alarms, and `/stats` and `/export`, for operators.

Other users get the same answer as for an unknown command or an old button.
"""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Final

from bot.core.date_ranges import Period
from bot.infra.drawing.off_loop import render_chart_off_loop
from bot.infra.feature import Infra
from bot.infra.telegram.ui.routes import Audience, Menu, Routes
from bot.infra.telegram.ui.screen import Screen
from bot.operations import screens
from bot.operations.buttons import StatisticsAction, StatisticsButton
from bot.operations.gauges import LiveFigureReader
from bot.operations.monitor import Monitor
from bot.operations.service import StatisticsService
from bot.orders.handlers import OrderHandlers
from bot.staff import screens as alarm_screens
from bot.staff.alarms import AlarmService
from bot.staff.buttons import AlarmAction, AlarmButton
from bot.staff.model import ORDER_ALARMS, AlarmKind, takers
from bot.staff.outcomes import Outcome
from bot.staff.period_files import PeriodFile
from bot.users import questions
from bot.users.session import Session

KINDS = {str(kind): kind for kind in AlarmKind}

_Action = Callable[[Session, str, str], Awaitable[bool]]
"""Returns False if the button is out of date."""


class StatusHandlers:
    """Show operators the monitored status, and let them resolve alarms."""

    def __init__(
        self,
        infra: Infra,
        *,
        monitor: Monitor,
        alarms: AlarmService,
        figures: LiveFigureReader,
        orders: OrderHandlers,
        service_contact: str,
    ) -> None:
        self._messenger = infra.messenger
        self._monitor = monitor
        self._alarms = alarms
        self._figures = figures
        self._orders = orders
        self._service_contact = service_contact

    def routes(self) -> Routes[Session]:
        """Return the buttons."""
        routes = Routes[Session](Audience.OPERATORS)
        actions: Mapping[AlarmAction, _Action] = {
            AlarmAction.STATUS: self._show_status,
            AlarmAction.OWN_ORDERS: self._show_own_orders,
            AlarmAction.TAKE_IN_ALARM: self._take_in_alarm,
            AlarmAction.TAKE_IN_STATUS: self._take_in_status,
            AlarmAction.TAKE_IN_REMINDER: self._take_in_reminder,
            AlarmAction.RESOLVE_IN_ALARM: self._resolve_in_alarm,
            AlarmAction.RESOLVE_IN_STATUS: self._resolve_in_status,
            AlarmAction.RESOLVE_IN_REMINDER: self._resolve_in_reminder,
            **{AlarmAction(each): partial(self._handle_as, each) for each in Outcome},
            AlarmAction.UNDO: self._undo,
        }
        routes.add_actions(AlarmButton, self.alarm_button, actions)
        return routes

    async def read_start(self, session: Session) -> Screen | None:
        """Return what an operator sees first: whether something is wrong. None for other users."""
        return screens.show_start(session.t, len(await self._alarms.find_open())) if session.is_operator else None

    def make_help(self, session: Session) -> Screen | None:
        """Return what an operator can do. None for other users."""
        return screens.show_help(session.t) if session.is_operator else None

    async def alarm_button(self, session: Session, button: AlarmButton, act: _Action) -> None:
        """Run the action of an alarm's button."""
        if not await act(session, button.kind, button.subject):
            await session.explain("users.stale.button")

    async def make_status(self, session: Session) -> Screen:
        """Return the monitored status."""
        summary, figures = await self._monitor.summary(), await self._figures.read()
        subjects = await self._alarms.load_subjects(summary.alarms)
        reader = await session.reader_who_knows(*takers(summary.alarms))
        return screens.show_status(reader, summary, figures, subjects, service_contact=self._service_contact)

    async def _show_status(self, session: Session, _: str = "", __: str = "") -> bool:
        """Refresh the status in its message. For an older message, such as a reminder, send a new one."""
        await session.acknowledge()
        if not session.is_newest_question:
            session.message_id = None
        await session.show(session.with_resume(await self.make_status(session)))
        return True

    async def _show_own_orders(self, session: Session, _: str, __: str) -> bool:
        await session.acknowledge()
        await session.show(session.with_resume(await self._orders.show_open_orders(session)))
        return True

    async def _take_in_alarm(self, session: Session, kind: str, subject: str) -> bool:
        """Take an alarm, and remove the button from its message. Say who is on it, if another operator was first."""
        known = KINDS.get(kind)
        if known is None:
            return False
        is_taken = await self._alarms.take(session.user.id, known, subject)
        found = (each for each in await self._alarms.find_open() if (each.kind, each.subject) == (known, subject))
        alarm = next(found, None)
        if alarm is None:
            await session.acknowledge(session.t.plain("staff.alarm.over_already"), alert=True)
            return True
        reader = await session.reader_who_knows(*takers([alarm]))
        await session.acknowledge(alarm_screens.format_toast(reader, alarm), alert=not is_taken)
        if session.message_id is not None:
            keyboard = alarm_screens.build_keyboard(session.t, alarm)
            await self._messenger.edit_keyboard(session.chat_id, session.message_id, keyboard, priority="talk")
        return True

    async def _take_in_status(self, session: Session, _: str, __: str) -> bool:
        await self._alarms.take(session.user.id)
        return await self._show_status(session)

    async def _take_in_reminder(self, session: Session, _: str, __: str) -> bool:
        await self._alarms.take(session.user.id)
        await session.acknowledge()
        return await self._refresh_reminder(session)

    async def _resolve_in_alarm(self, session: Session, kind: str, subject: str) -> bool:
        """Resolve an alarm from its own message, and remove the message's button."""
        if kind in ORDER_ALARMS:
            return await self._ask_outcome(session, kind, subject)
        if not await self._resolve(session, kind, subject):
            return False
        if session.message_id is not None:
            await self._messenger.edit_keyboard(session.chat_id, session.message_id, (), priority="talk")
        return True

    async def _resolve_in_status(self, session: Session, kind: str, subject: str) -> bool:
        """Resolve an alarm from the status, and refresh the status."""
        if kind in ORDER_ALARMS:
            return await self._ask_outcome(session, kind, subject)
        return await self._resolve(session, kind, subject) and await self._show_status(session)

    async def _resolve_in_reminder(self, session: Session, kind: str, subject: str) -> bool:
        """Resolve an alarm from a reminder, and show the remaining alarms."""
        if kind in ORDER_ALARMS:
            return await self._ask_outcome(session, kind, subject)
        return await self._resolve(session, kind, subject) and await self._refresh_reminder(session)

    async def _ask_outcome(self, session: Session, kind: str, subject: str) -> bool:
        """Ask in a new message how an alarm about an order ended."""
        found = [each for each in await self._alarms.find_open() if (each.kind, each.subject) == (kind, subject)]
        if not found:
            await session.acknowledge(session.t.plain("staff.alarm.over_already"))
            return True
        await session.acknowledge()
        subjects, reader = await self._alarms.load_subjects(found), await session.reader_who_knows(*takers(found))
        await session.send_message(alarm_screens.ask_outcome(reader, found[0], subjects))
        return True

    async def _handle_as(self, outcome: Outcome, session: Session, kind: str, subject: str) -> bool:
        """Resolve an alarm with how it ended, and offer to undo that."""
        known = KINDS.get(kind)
        if known not in ORDER_ALARMS:
            return False
        if await self._monitor.resolve(known, subject, session.user.id, outcome):
            await session.acknowledge(session.t.plain("staff.alarm.noted"))
            await session.edit_message(alarm_screens.show_handled(session.t, known, subject, outcome))
        else:
            await session.acknowledge(session.t.plain("staff.alarm.over_already"))
        return True

    async def _undo(self, session: Session, kind: str, subject: str) -> bool:
        """Open an alarm again, and show it in place of the pressed message."""
        known = KINDS.get(kind)
        alarm = await self._monitor.reopen(known, subject, session.user.id) if known else None
        if alarm is None:
            return False
        await session.acknowledge()
        subjects, reader = await self._alarms.load_subjects([alarm]), await session.reader_who_knows(*takers([alarm]))
        contact = self._service_contact
        await session.edit_message(alarm_screens.show_raised(reader, alarm, subjects, service_contact=contact))
        return True

    async def _refresh_reminder(self, session: Session) -> bool:
        raised = await self._alarms.find_open()
        subjects, reader = await self._alarms.load_subjects(raised), await session.reader_who_knows(*takers(raised))
        screen = (
            alarm_screens.show_reminder(reader, raised, subjects, service_contact=self._service_contact)
            if raised
            else alarm_screens.show_none_left(session.t)
        )
        await session.edit_message(screen)
        return True

    async def _resolve(self, session: Session, kind: str, subject: str) -> bool:
        """Resolve an alarm. Return False if the kind doesn't exist.

        A second tap, or one after another operator's, answers that the alarm is already over.
        """
        known = KINDS.get(kind)
        if known is None:
            return False
        is_resolved = await self._monitor.resolve(known, subject, session.user.id)
        await session.acknowledge(session.t.plain("staff.alarm.noted" if is_resolved else "staff.alarm.over_already"))
        return True


EXPORT_PERIOD: Final = "export"
"""The question for the period of a file."""

DEFAULT_PERIOD: Final = Period.WEEK

_StatisticsAction = Callable[[Session, str], Awaitable[bool]]
"""Returns False if the button is out of date."""


class StatisticsHandlers:
    """Show operators the statistics, and send them orders as a file."""

    def __init__(self, statistics: StatisticsService) -> None:
        self._statistics = statistics
        self._file = PeriodFile("orders", statistics.export_orders, screens)

    def routes(self) -> Routes[Session]:
        """Return the commands and the buttons."""
        routes = Routes[Session](Audience.OPERATORS)
        routes.add_command("stats", self.show_statistics, menu={Menu.OPERATORS: 40})
        routes.add_command("export", self.export_orders, menu={Menu.OPERATORS: 50})
        actions: Mapping[StatisticsAction, _StatisticsAction] = {
            StatisticsAction.SHOW: self._show_period,
            StatisticsAction.EXPORT: self._ask_span,
            StatisticsAction.CSV: self._send_named_span,
        }
        routes.add_actions(StatisticsButton, self.statistics_button, actions)
        return routes

    def answers(self) -> Mapping[str, questions.AnswerHandler]:
        """Return the handler of each question's typed answer."""
        return {EXPORT_PERIOD: questions.accept_text(self.send_typed_period)}

    async def show_statistics(self, session: Session, _: str) -> None:
        """Show the bot's own statistics, then the service's when it has answered."""
        await session.send_message(await self._build_screen(session, DEFAULT_PERIOD))
        service = await self._statistics.load_service_statistics()
        await session.send_message(screens.show_service_statistics(session.t, service, session.zone))

    async def export_orders(self, session: Session, typed: str) -> None:
        """Send the orders of the period that was typed after the command. Ask for a period if there is none."""
        session.message_id = None
        span = self._file.parse(session, typed)
        if span is not None:
            await self._file.send(session, span)
        else:
            if typed.strip():
                session.notice = session.t("staff.export.unclear")
            await questions.ask(session, EXPORT_PERIOD, screens.ask_period(session.t))

    async def statistics_button(self, session: Session, button: StatisticsButton, act: _StatisticsAction) -> None:
        """Run the action of a button under the statistics."""
        if not await act(session, button.period):
            await session.explain("users.stale.button")

    async def send_typed_period(self, session: Session, _: str, text: str) -> None:
        """Send the orders of the typed period. Ask again if it can't be read."""
        if not session.is_operator:
            await session.save_user(questions.mark_answered(session))
            await session.show_start()
            return
        span = self._file.parse(session, text)
        if span is None:
            session.notice = session.t("staff.export.unclear")
            await session.show(screens.ask_period(session.t))
            return
        await session.save_user(questions.mark_answered(session))
        await self._file.send(session, span)

    async def _show_period(self, session: Session, argument: str) -> bool:
        if argument not in set(Period):
            return False
        await session.acknowledge()
        await session.edit_message(await self._build_screen(session, Period(argument)))
        return True

    async def _ask_span(self, session: Session, _: str) -> bool:
        await session.acknowledge()
        session.message_id = None
        await questions.ask(session, EXPORT_PERIOD, screens.ask_period(session.t))
        return True

    async def _send_named_span(self, session: Session, argument: str) -> bool:
        session.message_id = None
        return await self._file.send_named(session, StatisticsButton(StatisticsAction.CSV, argument), argument)

    async def _build_screen(self, session: Session, period: Period) -> Screen:
        span, own = await self._statistics.count_bot_statistics(period, session.zone)
        picture = await render_chart_off_loop(screens.build_chart(session.t, period, span, own.orders, session.zone))
        return screens.show_statistics(session.t, period, session.t.date_time(span.since, session.zone), own, picture)

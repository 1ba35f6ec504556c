"""Handlers of `/status` and of the buttons about alarms."""

from collections.abc import Awaitable, Callable, Mapping

from bot.infra.feature import Infra
from bot.infra.telegram.ui.router import Audience, Menu, Routes
from bot.infra.telegram.ui.screen import Screen
from bot.operations.gauges import LiveFigureReader
from bot.operations.monitor import Monitor
from bot.operations.screens import status as screens
from bot.orders.handlers import OrderHandlers
from bot.staff.alarm_model import AlarmKind
from bot.staff.alarm_repository import AlarmRepository
from bot.staff.buttons import AlarmAction, AlarmButton
from bot.staff.screens import alarms
from bot.users.session import Session

KINDS = {str(kind): kind for kind in AlarmKind}

_Action = Callable[[Session, str, str], Awaitable[bool]]
"""Returns False if the button is out of date."""


class StatusHandlers:
    """Show operators the monitored status, and other users their orders. Let operators resolve alarms."""

    def __init__(
        self,
        infra: Infra,
        *,
        monitor: Monitor,
        figures: LiveFigureReader,
        orders: OrderHandlers,
        service_contact: str,
    ) -> None:
        self._database = infra.database
        self._messenger = infra.messenger
        self._monitor = monitor
        self._figures = figures
        self._orders = orders
        self._service_contact = service_contact

    def routes(self) -> tuple[Routes[Session], ...]:
        """Return the command for everyone, and the buttons for operators."""
        everyones_routes, operators_routes = Routes[Session](), Routes[Session](Audience.OPERATORS)
        everyones_routes.add_command("status", self.show_status, menu={Menu.EVERYONE: 40, Menu.OPERATORS: 10})
        actions: Mapping[AlarmAction, _Action] = {
            AlarmAction.STATUS: self._show_status,
            AlarmAction.OWN_ORDERS: self._show_own_orders,
            AlarmAction.RESOLVE_IN_ALARM: self._resolve_in_alarm,
            AlarmAction.RESOLVE_IN_STATUS: self._resolve_in_status,
            AlarmAction.RESOLVE_IN_REMINDER: self._resolve_in_reminder,
        }
        operators_routes.add_actions(AlarmButton, self.alarm_button, actions)
        return everyones_routes, operators_routes

    async def read_start(self, session: Session) -> Screen | None:
        """Return what an operator sees first: whether something is wrong. None for other users."""
        if not session.is_operator:
            return None
        async with self._database.reading() as tx:
            raised = await AlarmRepository(tx).open()
        return screens.show_start(session.t, len(raised))

    async def read_help(self, session: Session) -> Screen | None:
        """Return what an operator can do. None for other users."""
        return screens.show_help(session.t) if session.is_operator else None

    async def show_status(self, session: Session, _: str) -> None:
        """Show operators the monitored status, and other users their own orders."""
        screen = await (self._status(session) if session.is_operator else self._orders.show_open_orders(session))
        await session.show_below(session.with_resume(screen))

    async def alarm_button(self, session: Session, button: AlarmButton, act: _Action) -> None:
        """Run the action of an alarm's button."""
        if not await act(session, button.kind, button.subject):
            await session.explain("users.stale.button")

    async def _status(self, session: Session) -> Screen:
        summary, figures = await self._monitor.summary(), await self._figures.read()
        subjects = await self._monitor.load_subjects(summary.alarms)
        contact = self._service_contact
        return screens.show_status(
            session.t, summary, figures, subjects, session.now, session.zone, service_contact=contact
        )

    async def _show_status(self, session: Session, _: str = "", __: str = "") -> bool:
        """Refresh the status in its message. For an older message, such as a reminder, send a new one."""
        await session.acknowledge()
        if not session.is_newest_question:
            session.message_id = None
        await session.show(session.with_resume(await self._status(session)))
        return True

    async def _show_own_orders(self, session: Session, _: str, __: str) -> bool:
        await session.acknowledge()
        await session.show(session.with_resume(await self._orders.show_open_orders(session)))
        return True

    async def _resolve_in_alarm(self, session: Session, kind: str, subject: str) -> bool:
        """Resolve an alarm from its own message, and remove the message's button."""
        if not await self._resolve(session, kind, subject):
            return False
        if session.message_id is not None:
            await self._messenger.edit_keyboard(session.chat_id, session.message_id, (), priority="talk")
        return True

    async def _resolve_in_status(self, session: Session, kind: str, subject: str) -> bool:
        """Resolve an alarm from the status, and refresh the status."""
        return await self._resolve(session, kind, subject) and await self._show_status(session)

    async def _resolve_in_reminder(self, session: Session, kind: str, subject: str) -> bool:
        """Resolve an alarm from a reminder, and show the remaining alarms."""
        if not await self._resolve(session, kind, subject):
            return False
        async with self._database.reading() as tx:
            raised = await AlarmRepository(tx).open()
        subjects, now = await self._monitor.load_subjects(raised), session.now
        left = (
            alarms.show_reminder(session.t, raised, subjects, now, session.zone, service_contact=self._service_contact)
            if raised
            else alarms.show_none_left(session.t)
        )
        await session.edit_message(left)
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

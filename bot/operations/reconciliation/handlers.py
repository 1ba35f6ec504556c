"""Handlers of `/reconcile` and its buttons, for operators."""

from collections.abc import Awaitable, Callable, Mapping

from bot.infra.telegram.ui.routes import Audience, Menu, Routes
from bot.infra.telegram.ui.screen import Screen
from bot.operations.buttons import ReconciliationAction, ReconciliationButton
from bot.operations.reconciliation import screens
from bot.operations.reconciliation.books import ZONE
from bot.operations.reconciliation.service import ReconciliationService
from bot.settlement.errors import SettlementFailure
from bot.staff.period_files import PeriodFile
from bot.users.session import Session

_Action = Callable[[Session, str], Awaitable[bool]]
"""Returns False if the button is out of date."""


class ReconciliationHandlers:
    """Reconcile when an operator asks for it, show the result, and send the books as a file."""

    def __init__(self, reconciliation: ReconciliationService) -> None:
        self._reconciliation = reconciliation
        self._books = PeriodFile("books", reconciliation.export_books, screens, ZONE)

    def routes(self) -> Routes[Session]:
        """Return the command and the buttons."""
        routes = Routes[Session](Audience.OPERATORS)
        routes.add_command("reconcile", self.reconcile, menu={Menu.OPERATORS: 55})
        actions: Mapping[ReconciliationAction, _Action] = {
            ReconciliationAction.REFRESH: self._refresh,
            ReconciliationAction.BOOKS: self._ask_period,
            ReconciliationAction.CSV: self._send_named_period,
            ReconciliationAction.BACK: self._go_back,
        }
        routes.add_actions(ReconciliationButton, self.press, actions)
        return routes

    async def reconcile(self, session: Session, typed: str) -> None:
        """Compare the service's list with our orders. With a period behind the command, send the books of it."""
        session.message_id = None
        if (period := self._books.parse(session, typed)) is not None:
            await self._books.send(session, period)
        elif typed.strip():
            session.notice = session.t("staff.export.unclear")
            await session.show(screens.ask_period(session.t))
        else:
            await session.show_below(session.with_resume(await self._reconcile(session)))

    async def press(self, session: Session, button: ReconciliationButton, act: _Action) -> None:
        """Run the action of a button."""
        if not await act(session, button.period):
            await session.explain("users.stale.button")

    async def _refresh(self, session: Session, _: str) -> bool:
        await session.acknowledge()
        await session.show(session.with_resume(await self._reconcile(session)))
        return True

    async def _go_back(self, session: Session, _: str) -> bool:
        await session.acknowledge()
        report = await self._reconciliation.load_report()
        await session.show(session.with_resume(screens.show_report(session.t, report, session.now, session.zone)))
        return True

    async def _ask_period(self, session: Session, _: str) -> bool:
        await session.acknowledge()
        await session.show(screens.ask_period(session.t))
        return True

    async def _send_named_period(self, session: Session, name: str) -> bool:
        pressed = ReconciliationButton(ReconciliationAction.CSV, name)
        return name in screens.BOOK_SPANS and await self._books.send_named(session, pressed, name)

    async def _reconcile(self, session: Session) -> Screen:
        has_failed = False
        try:
            await self._reconciliation.run_if_old()
        except SettlementFailure:
            has_failed = True
        report = await self._reconciliation.load_report()
        return screens.show_report(session.t, report, session.now, session.zone, has_failed=has_failed)

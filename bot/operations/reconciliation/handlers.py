"""Handlers of `/reconcile` and its buttons, for operators."""

from collections.abc import Awaitable, Callable, Mapping

from bot.core import csv
from bot.core.date_ranges import Span, parse_span
from bot.infra.telegram.ui.router import Audience, Menu, Routes
from bot.infra.telegram.ui.screen import Screen
from bot.operations.buttons import ReconciliationAction, ReconciliationButton
from bot.operations.reconciliation import screens
from bot.operations.reconciliation.books import ZONE
from bot.operations.reconciliation.service import ReconciliationService
from bot.settlement.model import SettlementFailure
from bot.users.session import Session

_Action = Callable[[Session, str], Awaitable[bool]]
"""Returns False if the button is out of date."""


class ReconciliationHandlers:
    """Reconcile when an operator asks for it, show the result, and send the books as a file."""

    def __init__(self, reconciliation: ReconciliationService) -> None:
        self._reconciliation = reconciliation

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
        typed = " ".join(typed.split())
        period = parse_span(typed, session.now.astimezone(ZONE).date(), ZONE) if typed else None
        if period is not None:
            await self._send_books(session, period)
        elif typed:
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
        find_period = screens.BOOK_SPANS.get(name)
        if find_period is None:
            return False
        pressed = ReconciliationButton(ReconciliationAction.CSV, name).pack()
        await session.acknowledge()
        if not session.is_double_tap(pressed):
            await self._send_books(session, find_period(session.now, ZONE))
            session.record_tap(pressed)
        return True

    async def _reconcile(self, session: Session) -> Screen:
        has_failed = False
        try:
            await self._reconciliation.run_if_old()
        except SettlementFailure:
            has_failed = True
        report = await self._reconciliation.load_report()
        return screens.show_report(session.t, report, session.now, session.zone, has_failed=has_failed)

    async def _send_books(self, session: Session, period: Span) -> None:
        file = await self._reconciliation.export_books(period, session.user.id)
        if file.content is None:
            await session.show(screens.explain_no_file(session.t, file, period))
            return
        name, caption = csv.build_file_name("books", period, ZONE), screens.format_caption(session.t, file, period)
        if not await session.send_file(file.content, name, caption):
            await session.show_below(screens.explain_not_sent(session.t))

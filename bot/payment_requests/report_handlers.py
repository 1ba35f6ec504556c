"""Handle `/reports` and the buttons of reported requests, for operators only."""

from collections.abc import Awaitable, Callable, Mapping

from bot.infra.telegram.ui.router import Audience, Menu, Routes
from bot.payment_requests.buttons import ReportAction, ReportedButton, ReportsButton
from bot.payment_requests.reports import ReportService
from bot.payment_requests.screens import reports as screens
from bot.users.session import Session

_Action = Callable[[Session, str], Awaitable[object]]


class ReportHandlers:
    """Let operators look at reported requests, and close them."""

    def __init__(self, *, reports: ReportService) -> None:
        self._reports = reports

    def routes(self) -> Routes[Session]:
        """Return the command and the buttons."""
        routes = Routes[Session](Audience.OPERATORS)
        routes.add_command("reports", self.list_reports, menu={Menu.OPERATORS: 65})
        routes.add_button(ReportsButton, self.reports_button)
        actions: Mapping[ReportAction, _Action] = {
            ReportAction.SHOW: self._show,
            ReportAction.ASK_CLOSE: self._ask_close,
            ReportAction.CLOSE: self._close,
            ReportAction.ASK_CLOSE_ALL: self._ask_close_all,
            ReportAction.CLOSE_ALL: self._close_all,
        }
        routes.add_actions(ReportedButton, self.reported_button, actions)
        return routes

    async def list_reports(self, session: Session, _: str) -> None:
        """Show the requests that were reported."""
        session.message_id = None
        await self._list(session)

    async def reports_button(self, session: Session, _: ReportsButton) -> None:
        """Show the requests that were reported."""
        await session.acknowledge()
        await self._list(session)

    async def reported_button(self, session: Session, button: ReportedButton, act: _Action) -> None:
        """Do the action of a reported request's button."""
        await session.acknowledge()
        await act(session, button.request_id)

    async def _list(self, session: Session) -> None:
        await session.show(screens.show_list(session.reader, await self._reports.list_reported()))

    async def _show(self, session: Session, request_id: str) -> None:
        found = await self._reports.look(session.user.id, request_id)
        if found is None:
            await self._explain_gone(session)
        else:
            await session.show(screens.show_reported(session.reader, *found))

    async def _ask_close(self, session: Session, request_id: str) -> None:
        await session.show(screens.ask_close(session.t, request_id))

    async def _close(self, session: Session, request_id: str) -> None:
        if await self._reports.close(session.user.id, request_id) is None:
            await self._explain_gone(session)
            return
        session.notice = session.t("payment_requests.reports.closed")
        await self._list(session)

    async def _ask_close_all(self, session: Session, request_id: str) -> None:
        await session.show(screens.ask_close_all(session.t, request_id))

    async def _close_all(self, session: Session, request_id: str) -> None:
        closed = await self._reports.close(session.user.id, request_id, is_all=True)
        if closed is None:
            await self._explain_gone(session)
            return
        session.notice = session.t.plural("payment_requests.reports.closed_all", closed)
        await self._list(session)

    async def _explain_gone(self, session: Session) -> None:
        session.notice = session.t("payment_requests.gone")
        await self._list(session)

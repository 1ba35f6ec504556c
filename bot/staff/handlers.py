"""Handlers of `/audit`, its pages and its file, in operators' private chats.

Other users get the same answer as for an unknown command or an old button.
"""

import re

from bot.infra.telegram.ui.routes import Audience, Menu, Routes
from bot.staff import screens
from bot.staff.audit import AuditLog, AuditTerms
from bot.staff.buttons import AuditExportButton, AuditFileButton, AuditPageButton
from bot.staff.period_files import PeriodFile
from bot.users.session import Session


class AuditHandlers:
    """Show the audit log to operators."""

    def __init__(self, audit_log: AuditLog, terms: AuditTerms) -> None:
        self._audit_log = audit_log
        self._terms = terms
        self._file = PeriodFile("audit", audit_log.export, screens)

    def routes(self) -> Routes[Session]:
        """Return the command and the buttons."""
        routes = Routes[Session](Audience.OPERATORS)
        routes.add_command("audit", self.show_audit_log, menu={Menu.OPERATORS: 60})
        routes.add_button(AuditPageButton, self.page_button)
        routes.add_button(AuditExportButton, self.export_button)
        routes.add_button(AuditFileButton, self.file_button)
        return routes

    async def show_audit_log(self, session: Session, typed: str) -> None:
        """Show all entries, or those of the member of staff whose id was typed after the command."""
        session.message_id = None
        actor, *_ = typed.split() or [""]
        await self._show(session, "", int(actor) if re.fullmatch(r"[0-9]{1,16}", actor) else 0)

    async def page_button(self, session: Session, button: AuditPageButton) -> None:
        """Show another page."""
        await session.acknowledge()
        await self._show(session, button.before, int(button.actor or 0))

    async def export_button(self, session: Session, _: AuditExportButton) -> None:
        """Ask for the period of the file."""
        await session.acknowledge()
        await session.show(screens.ask_period(session.t))

    async def file_button(self, session: Session, button: AuditFileButton) -> None:
        """Send the entries of a period as a file."""
        if not await self._file.send_named(session, button, button.period):
            await session.explain("users.stale.button")

    async def _show(self, session: Session, before: str, actor_id: int) -> None:
        page = await self._audit_log.get_page(before, actor_id)
        reader = await session.reader_who_knows(actor_id, *page.people)
        await session.show(screens.show_page(reader, page, self._terms))

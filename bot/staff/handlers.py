"""Handlers of `/audit`, its pages and its file, in operators' private chats.

Other users get the same answer as for an unknown command or an old button.
"""

import re
from functools import reduce
from operator import or_

from bot.core import csv
from bot.core.date_ranges import NAMED_SPANS, Span
from bot.infra.feature import Infra
from bot.infra.telegram.ui.router import Audience, Menu, Routes
from bot.staff.audit import AuditLog
from bot.staff.audit_terms import AuditTerms
from bot.staff.buttons import AuditExportButton, AuditFileButton, AuditPageButton
from bot.staff.screens import audit as screens
from bot.users.session import Session


class AuditHandlers:
    """Show the audit log to operators."""

    def __init__(self, infra: Infra, audit_log: AuditLog) -> None:
        self._audit_log = audit_log
        self._features = infra.features

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
        """Send the entries of a period as a file. A second tap sends nothing."""
        find_span = NAMED_SPANS.get(button.period)
        if find_span is None:
            await session.explain("users.stale.button")
            return
        await session.acknowledge()
        pressed = button.pack()
        if not session.is_double_tap(pressed):
            await self._send_file(session, find_span(session.now, session.zone))
            session.record_tap(pressed)

    async def _send_file(self, session: Session, span: Span) -> None:
        file = await self._audit_log.export(span, session.user.id)
        if file.content is None:
            await session.show(screens.explain_no_file(session.reader, file, span))
            return
        name = csv.build_file_name("audit", span, session.zone)
        caption = screens.format_caption(session.reader, file, span)
        if not await session.send_file(file.content, name, caption):
            await session.show_below(screens.explain_not_sent(session.t))

    async def _show(self, session: Session, before: str, actor_id: int) -> None:
        page = await self._audit_log.get_page(before, actor_id)
        declared = [feature.audit_terms for feature in self._features if feature.audit_terms is not None]
        reader = await session.reader_who_knows(actor_id, *page.people)
        await session.show(screens.show_page(reader, page, reduce(or_, declared, AuditTerms())))

"""The audit trail in operators' private chats: `/audit`, its pages, and as a file. It is read here, and only read.

Whoever is no operator meets what an unknown command or an old button gives.
"""

import re

from bot.core import csv
from bot.core.date_ranges import NAMED_SPANS
from bot.infra.telegram.outbound.sender import Delivered
from bot.infra.telegram.ui.router import Audience, Routes
from bot.infra.telegram.ui.session import Session
from bot.staff.buttons import AuditExportButton, AuditFileButton, AuditPageButton
from bot.staff.screens import audit as screens

routes = Routes[Session](Audience.OPERATORS)


@routes.command("audit")
async def audit(session: Session, typed: str) -> None:
    """Show all of it, or what the one did whose id stands behind the command."""
    session.message_id = None
    actor, *_ = typed.split() or [""]
    await _show(session, "", int(actor) if re.fullmatch(r"[0-9]{1,16}", actor) else 0)


@routes.button(AuditPageButton)
async def page_button(session: Session, button: AuditPageButton) -> None:
    """Show another page."""
    await session.acknowledge()
    await _show(session, button.before, int(button.actor or 0))


@routes.button(AuditExportButton)
async def export_button(session: Session, _: AuditExportButton) -> None:
    """Ask for the period of the file."""
    await session.acknowledge()
    await session.show(screens.asking(session.t))


@routes.button(AuditFileButton)
async def file_button(session: Session, button: AuditFileButton) -> None:
    """Send the entries of a period as a file; a second tap sends nothing."""
    find = NAMED_SPANS.get(button.period)
    if find is None:
        await session.explain("stale.button")
        return
    await session.acknowledge()
    desk, pressed = session.desk, button.pack()
    if desk.second_taps.is_second(session.chat_id, pressed, desk.clock.now()):
        return
    span = find(desk.clock.now(), session.zone)
    made = await desk.trail.export(span, session.person.id)
    if made.content is None:
        await session.show(screens.nothing(session.t, made, span, session.zone))
        return
    name, caption = csv.file_name("audit", span, session.zone), screens.caption(session.t, made, span, session.zone)
    sent = await desk.messenger.send_document(session.chat_id, made.content, name, caption, lane="talk")
    if not isinstance(sent, Delivered):
        await session.say(screens.not_sent(session.t))
    desk.second_taps.answered(session.chat_id, pressed, desk.clock.now())


async def _show(session: Session, before: str, actor_id: int) -> None:
    page = await session.desk.trail.page(before, actor_id)
    await session.show(screens.screen(session.t, page, session.desk.clock.now(), session.zone))

"""The audit trail in operators' private chats: `/audit`, its pages, and as a file. It is read here, and only read.

Whoever is no operator meets what an unknown command or an old button gives.
"""

import re

from bot.infra.telegram.outbound.sender import Delivered
from bot.infra.telegram.ui.router import Audience, Routes
from bot.infra.telegram.ui.session import Session
from bot.operations.screens import export
from bot.staff.buttons import AuditExportButton, AuditFileButton, AuditPageButton
from bot.staff.screens import audit as screens

routes = Routes[Session](Audience.OPERATORS)


@routes.command("audit")
async def audit(visit: Session, typed: str) -> None:
    """Show all of it, or what the one did whose id stands behind the command."""
    visit.message_id = None
    actor, *_ = typed.split() or [""]
    await _show(visit, "", int(actor) if re.fullmatch(r"[0-9]{1,16}", actor) else 0)


@routes.button(AuditPageButton)
async def page_button(visit: Session, button: AuditPageButton) -> None:
    """Show another page."""
    await visit.acknowledge()
    await _show(visit, button.before, int(button.actor or 0))


@routes.button(AuditExportButton)
async def export_button(visit: Session, _: AuditExportButton) -> None:
    """Ask for the period of the file."""
    await visit.acknowledge()
    await visit.show(screens.asking(visit.t))


@routes.button(AuditFileButton)
async def file_button(visit: Session, button: AuditFileButton) -> None:
    """Send the entries of a period as a file; a second tap sends nothing."""
    find = export.TIMES.get(button.period)
    if find is None:
        await visit.explain("stale.button")
        return
    await visit.acknowledge()
    desk, pressed = visit.desk, button.pack()
    if desk.second_taps.is_second(visit.chat_id, pressed, desk.clock.now()):
        return
    span = find(desk.clock.now(), visit.zone)
    made = await desk.trail.export(span, visit.person.id)
    if made.content is None:
        await visit.show(screens.nothing(visit.t, made, span, visit.zone))
        return
    name, caption = screens.file_name(span, visit.zone), screens.caption(visit.t, made, span, visit.zone)
    sent = await desk.messenger.send_document(visit.chat_id, made.content, name, caption, lane="talk")
    if not isinstance(sent, Delivered):
        await visit.say(screens.not_sent(visit.t))
    desk.second_taps.answered(visit.chat_id, pressed, desk.clock.now())


async def _show(visit: Session, before: str, actor_id: int) -> None:
    page = await visit.desk.trail.page(before, actor_id)
    await visit.show(screens.screen(visit.t, page, visit.desk.clock.now(), visit.zone))

"""The audit trail in operators' private chats: `/audit`, its pages, and as a file. It is read here, and only read.

Whoever is no operator meets what an unknown command or an old button gives.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from telegram import Update
from telegram.ext import ApplicationHandlerStop, CallbackQueryHandler, CommandHandler

from bot.infra.telegram.outbound.sender import Delivered
from bot.infra.telegram.ui.handling import PRIVATE, Context, Handler
from bot.infra.telegram.ui.session import SESSION, Session
from bot.operations.screens import export
from bot.staff.screens import audit as screens
from bot.support.staff import callback_data as data

PAGE: Final = re.compile(r"([0-9T]{21,22}-[0-9a-f]{8})?:([0-9]{1,16})?")
"""Where a page begins, and whose entries it shows."""


def handlers() -> list[Handler]:
    """The command and the buttons."""
    return [
        CommandHandler("audit", _audit, filters=PRIVATE),
        CallbackQueryHandler(_pressed, pattern=data.AUDIT_PATTERN),
    ]


async def _audit(_: Update, context: Context) -> None:
    """All of it, or what the one did whose id stands behind the command."""
    visit = SESSION.get()
    if not visit.is_operator:
        return
    visit.message_id = None
    typed = (context.args or [""])[0]
    await _show(visit, "", int(typed) if re.fullmatch(r"[0-9]{1,16}", typed) else 0)
    raise ApplicationHandlerStop


async def _pressed(update: Update, _: Context) -> None:
    visit, query = SESSION.get(), update.callback_query
    action, argument = data.read_audit_press((query.data or "") if query else "")
    act = ACTIONS.get(action) if visit.is_operator else None
    if act is None or not await act(visit, argument):
        await visit.explain("stale.button")
    raise ApplicationHandlerStop


async def _show(visit: Session, before: str, actor_id: int) -> None:
    page = await visit.desk.trail.page(before, actor_id)
    await visit.show(screens.screen(visit.t, page, visit.desk.clock.now(), visit.zone))


async def _page(visit: Session, argument: str) -> bool:
    wanted = PAGE.fullmatch(argument)
    if wanted is None:
        return False
    await visit.acknowledge()
    await _show(visit, wanted[1] or "", int(wanted[2] or 0))
    return True


async def _ask(visit: Session, _: str) -> bool:
    await visit.acknowledge()
    await visit.show(screens.asking(visit.t))
    return True


async def _file(visit: Session, argument: str) -> bool:
    find = export.TIMES.get(argument)
    if find is None:
        return False
    await visit.acknowledge()
    desk, button = visit.desk, data.for_audit("csv", argument)
    if desk.second_taps.is_second(visit.chat_id, button, desk.clock.now()):
        return True
    span = find(desk.clock.now(), visit.zone)
    made = await desk.trail.export(span, visit.person.id)
    if made.content is None:
        await visit.show(screens.nothing(visit.t, made, span, visit.zone))
        return True
    name, caption = screens.file_name(span, visit.zone), screens.caption(visit.t, made, span, visit.zone)
    sent = await desk.messenger.send_document(visit.chat_id, made.content, name, caption, lane="talk")
    if not isinstance(sent, Delivered):
        await visit.say(screens.not_sent(visit.t))
    desk.second_taps.answered(visit.chat_id, button, desk.clock.now())
    return True


ACTIONS: Mapping[str, Callable[[Session, str], Awaitable[bool]]] = {"page": _page, "export": _ask, "csv": _file}
"""What a button does; whether there was such a thing."""

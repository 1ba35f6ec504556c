"""The preview of a broadcast, which is the very messages that its readers get, and its confirmation."""

from bot.broadcasts.drafts import Preview
from bot.broadcasts.message import send_broadcast
from bot.broadcasts.model import Broadcast, BroadcastStatus
from bot.broadcasts.rules import languages_of
from bot.broadcasts.schedule import Doubt
from bot.broadcasts.screens import confirm as screens
from bot.broadcasts.typed import compose
from bot.core.errors import Rejection
from bot.infra.telegram.outbound.sender import Delivered, Invalid, Outcome
from bot.infra.telegram.ui.screen import Screen
from bot.infra.telegram.ui.session import Session


async def preview(visit: Session, broadcast: Broadcast) -> bool:
    """Show what each language gets, then the question whether to send it."""
    await visit.acknowledge()
    try:
        found = await visit.desk.broadcasts.preview(broadcast)
    except Rejection as rejection:
        return await _refuse(visit, broadcast, rejection)
    if found is None:
        return False
    sent = await _send_previews(visit, found)
    if isinstance(sent, Delivered):
        await visit.say(screens.screen(visit.t, found, visit.desk.clock.now(), visit.zone))
    else:
        await visit.say(screens.not_shown(visit.t, found.broadcast, is_refused=isinstance(sent, Invalid)))
    return True


async def see(visit: Session, broadcast: Broadcast, _: str) -> bool:
    """Show the messages of a broadcast that was confirmed; with the numbers of today where it has none yet."""
    await visit.acknowledge()
    shown = await visit.desk.broadcasts.with_some_quote(broadcast)
    if shown is None:
        await visit.say(Screen(visit.t("broadcast.no_quote")))
        return True
    for locale in languages_of(shown):
        t = visit.desk.translations.get(locale)
        await send_broadcast(visit.desk, visit.chat_id, shown, t, lane="talk", silent=True)
    return True


async def confirm(visit: Session, broadcast: Broadcast, despite: str) -> bool:
    """The first press, or the second one in spite of the doubts that it names."""
    doubts = frozenset(doubt for doubt in Doubt if doubt in despite)
    try:
        found = await visit.desk.broadcasts.confirm(broadcast, visit.person.id, visit.zone, doubts)
    except Rejection as rejection:
        await visit.acknowledge()
        return await _refuse(visit, broadcast, rejection)
    if found is None:
        return False
    await visit.acknowledge()
    now = visit.desk.clock.now()
    if isinstance(found, Preview):
        await visit.show(screens.doubtful(visit.t, found, now, visit.zone))
    else:
        await visit.show(screens.confirmed(visit.t, found, now, visit.zone))
    return True


async def _send_previews(visit: Session, found: Preview) -> Outcome:
    """What became of the last one; the others were sent."""
    sent: Outcome = Delivered()
    for locale in languages_of(found.broadcast):
        t = visit.desk.translations.get(locale)
        await visit.post(screens.heading(visit.t, locale, found.readers.get(locale, 0)))
        sent = await send_broadcast(visit.desk, visit.chat_id, found.broadcast, t, lane="talk", silent=True)
        if not isinstance(sent, Delivered):
            break
    return sent


async def _refuse(visit: Session, broadcast: Broadcast, rejection: Rejection) -> bool:
    """Say why not; a draft can be changed, and one whose time had come waits on."""
    reason = visit.reason(rejection)
    if broadcast.status is BroadcastStatus.DRAFT:
        visit.notice = reason
        return await compose(visit, broadcast)
    await visit.say(Screen(reason, screens.waiting_rows(visit.t, broadcast)))
    return True

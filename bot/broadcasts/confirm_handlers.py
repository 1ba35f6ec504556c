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


async def preview(session: Session, broadcast: Broadcast) -> bool:
    """Show what each language gets, then the question whether to send it."""
    await session.acknowledge()
    try:
        found = await session.desk.broadcasts.preview(broadcast)
    except Rejection as rejection:
        return await _refuse(session, broadcast, rejection)
    if found is None:
        return False
    sent = await _send_previews(session, found)
    if isinstance(sent, Delivered):
        await session.say(screens.screen(session.t, found, session.desk.clock.now(), session.zone))
    else:
        await session.say(screens.not_shown(session.t, found.broadcast, is_refused=isinstance(sent, Invalid)))
    return True


async def see(session: Session, broadcast: Broadcast, _: str) -> bool:
    """Show the messages of a broadcast that was confirmed; with the numbers of today where it has none yet."""
    await session.acknowledge()
    shown = await session.desk.broadcasts.with_some_quote(broadcast)
    if shown is None:
        await session.say(Screen(session.t("broadcast.no_quote")))
        return True
    for locale in languages_of(shown):
        t = session.desk.translations.get(locale)
        await send_broadcast(session.desk, session.chat_id, shown, t, lane="talk", silent=True)
    return True


async def confirm(session: Session, broadcast: Broadcast, despite: str) -> bool:
    """The first press, or the second one in spite of the doubts that it names."""
    doubts = frozenset(doubt for doubt in Doubt if doubt in despite)
    try:
        found = await session.desk.broadcasts.confirm(broadcast, session.person.id, session.zone, doubts)
    except Rejection as rejection:
        await session.acknowledge()
        return await _refuse(session, broadcast, rejection)
    if found is None:
        return False
    await session.acknowledge()
    now = session.desk.clock.now()
    if isinstance(found, Preview):
        await session.show(screens.doubtful(session.t, found, now, session.zone))
    else:
        await session.show(screens.confirmed(session.t, found, now, session.zone))
    return True


async def _send_previews(session: Session, found: Preview) -> Outcome:
    """What became of the last one; the others were sent."""
    sent: Outcome = Delivered()
    for locale in languages_of(found.broadcast):
        t = session.desk.translations.get(locale)
        await session.post(screens.heading(session.t, locale, found.readers.get(locale, 0)))
        sent = await send_broadcast(session.desk, session.chat_id, found.broadcast, t, lane="talk", silent=True)
        if not isinstance(sent, Delivered):
            break
    return sent


async def _refuse(session: Session, broadcast: Broadcast, rejection: Rejection) -> bool:
    """Say why not; a draft can be changed, and one whose time had come waits on."""
    reason = session.reason(rejection)
    if broadcast.status is BroadcastStatus.DRAFT:
        session.notice = reason
        return await compose(session, broadcast)
    await session.say(Screen(reason, screens.waiting_rows(session.t, broadcast)))
    return True

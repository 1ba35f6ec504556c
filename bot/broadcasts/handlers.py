"""Broadcasts in the operators' chats: `/broadcast`, `/broadcasts`, and the buttons under them.

Whoever is no operator gets what an unknown command and an old button get. Each button bears the revision it was shown
for: what has changed since is shown as it is now, and nothing is done twice.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace

from bot.broadcasts import confirm_handlers as broadcast_confirming
from bot.broadcasts.buttons import BroadcastAction, BroadcastButton, BroadcastListButton, NewBroadcastButton
from bot.broadcasts.model import Broadcast, BroadcastStatus
from bot.broadcasts.rules import CHART, PERIODS, may_be_called_off, may_be_confirmed, with_text
from bot.broadcasts.screens import compose as screens
from bot.broadcasts.screens import list as broadcast_list
from bot.broadcasts.typed import ask_daily, ask_moment, ask_picture, ask_text, compose, keep, show_readers
from bot.core.datetime_parsing import MOST_DAYS
from bot.core.time_of_day import MINUTES
from bot.infra.i18n import LOCALES
from bot.infra.telegram.ui.router import Audience, Routes
from bot.infra.telegram.ui.session import Session

Act = Callable[[Session, Broadcast, str], Awaitable[bool]]
"""What a button does; whether there was such a thing."""


routes = Routes[Session](Audience.OPERATORS)


@routes.command("broadcast")
async def write_broadcast(session: Session, _: str) -> None:
    """Show the operator's draft."""
    session.message_id = None
    await compose(session, await session.desk.broadcast_drafts.open(session.person.id))


@routes.command("broadcasts")
async def list_broadcasts(session: Session, _: str) -> None:
    """Show the newest broadcasts."""
    session.message_id = None
    await _show_list(session, 0)


@routes.button(NewBroadcastButton)
async def new_broadcast_button(session: Session, _: NewBroadcastButton) -> None:
    """Show the operator's draft in place of the list."""
    await session.acknowledge()
    await compose(session, await session.desk.broadcast_drafts.open(session.person.id))


@routes.button(BroadcastListButton)
async def list_button(session: Session, button: BroadcastListButton) -> None:
    """Show another page of the list."""
    await session.acknowledge()
    await _show_list(session, button.offset)


@routes.button(BroadcastButton)
async def broadcast_button(session: Session, button: BroadcastButton) -> None:
    """Do what a button of a broadcast says, unless the broadcast has changed since the button was shown."""
    broadcast = await session.desk.broadcast_drafts.get(button.broadcast_id)
    if broadcast is None:
        await session.explain("stale.button")
    elif button.action not in READING and button.revision != broadcast.revision:
        await _as_it_is_now(session, broadcast)
    elif not await ACTIONS[button.action](session, broadcast, button.argument):
        await _as_it_is_now(session, await session.desk.broadcast_drafts.get(broadcast.id) or broadcast)


async def _as_it_is_now(session: Session, broadcast: Broadcast) -> None:
    """Somebody was faster, or it is an old button: how the broadcast stands."""
    await session.acknowledge(session.t.plain("broadcast.changed_meanwhile"))
    if broadcast.status is BroadcastStatus.DRAFT and broadcast.operator_id == session.person.id:
        await compose(session, broadcast)
    else:
        await _page(session, broadcast, "")


async def _show_list(session: Session, offset: int) -> None:
    page = await session.desk.broadcast_drafts.page(offset)
    if offset and not page.broadcasts:
        page = await session.desk.broadcast_drafts.page()
    await session.show(broadcast_list.screen(session.t, page, session.desk.clock.now(), session.zone))


async def _page(session: Session, broadcast: Broadcast, _: str) -> bool:
    await session.acknowledge()
    counts = await session.desk.broadcast_drafts.counts(broadcast)
    await session.show(broadcast_list.page(session.t, broadcast, counts, session.desk.clock.now(), session.zone))
    return True


async def _edit(session: Session, broadcast: Broadcast, _: str) -> bool:
    if broadcast.status is not BroadcastStatus.DRAFT:
        return False
    await session.acknowledge()
    await compose(session, broadcast)
    return True


async def _text(session: Session, broadcast: Broadcast, locale: str) -> bool:
    return locale in LOCALES and await ask_text(session, broadcast, locale)


async def _usual(session: Session, broadcast: Broadcast, locale: str) -> bool:
    return await keep(session, replace(broadcast, texts=with_text(broadcast.texts, locale, None)))


async def _picture(session: Session, broadcast: Broadcast, choice: str) -> bool:
    if not choice:
        return await ask_picture(session, broadcast)
    if choice not in {"none", *PERIODS}:
        return False
    return await keep(session, replace(broadcast, picture=None if choice == "none" else CHART + choice))


async def _to(session: Session, broadcast: Broadcast, choice: str) -> bool:
    if not choice:
        return await show_readers(session, broadcast)
    if choice not in {"all", *LOCALES}:
        return False
    audience = replace(broadcast.audience, locale=None if choice == "all" else choice)
    return await keep(session, replace(broadcast, audience=audience), show_readers)


async def _days(session: Session, broadcast: Broadcast, choice: str) -> bool:
    if not choice.isdecimal() or int(choice) > MOST_DAYS:
        return False
    audience = replace(broadcast.audience, active_days=int(choice) or None)
    return await keep(session, replace(broadcast, audience=audience), show_readers)


async def _when(session: Session, broadcast: Broadcast, choice: str) -> bool:
    if not choice:
        return await ask_moment(session, broadcast)
    return await keep(session, replace(broadcast, starts_at=None, daily_minute=None))


async def _daily(session: Session, broadcast: Broadcast, choice: str) -> bool:
    if choice == "other":
        return await ask_daily(session, broadcast)
    if not choice.isdecimal() or int(choice) >= MINUTES:
        return False
    return await keep(session, replace(broadcast, starts_at=None, daily_minute=int(choice)))


async def _discard(session: Session, broadcast: Broadcast, _: str) -> bool:
    if await session.desk.broadcast_drafts.discard(broadcast) is None:
        return False
    await session.acknowledge()
    await session.show(screens.discarded(session.t))
    return True


async def _like(session: Session, broadcast: Broadcast, _: str) -> bool:
    await session.acknowledge()
    session.message_id = None
    await compose(session, await session.desk.broadcast_drafts.like(broadcast, session.person.id))
    return True


async def _call_off(session: Session, broadcast: Broadcast, _: str) -> bool:
    if not may_be_called_off(broadcast):
        return False
    stopped = await session.desk.broadcasts.call_off(broadcast, session.person.id)
    if stopped is None:
        return False
    await session.acknowledge(session.t.plain("broadcast.called_off"))
    return await _page(session, stopped, "")


async def _preview(session: Session, broadcast: Broadcast, _: str) -> bool:
    return may_be_confirmed(broadcast) and await broadcast_confirming.preview(session, broadcast)


ACTIONS: Mapping[BroadcastAction, Act] = {
    BroadcastAction.PAGE: _page,
    BroadcastAction.EDIT: _edit,
    BroadcastAction.TEXT: _text,
    BroadcastAction.USUAL: _usual,
    BroadcastAction.PICTURE: _picture,
    BroadcastAction.TO: _to,
    BroadcastAction.DAYS: _days,
    BroadcastAction.WHEN: _when,
    BroadcastAction.DAILY: _daily,
    BroadcastAction.DISCARD: _discard,
    BroadcastAction.LIKE: _like,
    BroadcastAction.SEE: broadcast_confirming.see,
    BroadcastAction.PREVIEW: _preview,
    BroadcastAction.CONFIRM: broadcast_confirming.confirm,
    BroadcastAction.SURE: broadcast_confirming.confirm,
    BroadcastAction.OFF: _call_off,
}
READING = frozenset({BroadcastAction.PAGE, BroadcastAction.SEE, BroadcastAction.LIKE})
"""What changes nothing of the broadcast, and so may be pressed on an old message."""

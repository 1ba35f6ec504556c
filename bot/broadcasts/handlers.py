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
async def write_broadcast(visit: Session, _: str) -> None:
    """Show the operator's draft."""
    visit.message_id = None
    await compose(visit, await visit.desk.broadcast_drafts.open(visit.person.id))


@routes.command("broadcasts")
async def list_broadcasts(visit: Session, _: str) -> None:
    """Show the newest broadcasts."""
    visit.message_id = None
    await _show_list(visit, 0)


@routes.button(NewBroadcastButton)
async def new_broadcast_button(visit: Session, _: NewBroadcastButton) -> None:
    """Show the operator's draft in place of the list."""
    await visit.acknowledge()
    await compose(visit, await visit.desk.broadcast_drafts.open(visit.person.id))


@routes.button(BroadcastListButton)
async def list_button(visit: Session, button: BroadcastListButton) -> None:
    """Show another page of the list."""
    await visit.acknowledge()
    await _show_list(visit, button.offset)


@routes.button(BroadcastButton)
async def broadcast_button(visit: Session, button: BroadcastButton) -> None:
    """Do what a button of a broadcast says, unless the broadcast has changed since the button was shown."""
    broadcast = await visit.desk.broadcast_drafts.get(button.broadcast_id)
    if broadcast is None:
        await visit.explain("stale.button")
    elif button.action not in READING and button.revision != broadcast.revision:
        await _as_it_is_now(visit, broadcast)
    elif not await ACTIONS[button.action](visit, broadcast, button.argument):
        await _as_it_is_now(visit, await visit.desk.broadcast_drafts.get(broadcast.id) or broadcast)


async def _as_it_is_now(visit: Session, broadcast: Broadcast) -> None:
    """Somebody was faster, or it is an old button: how the broadcast stands."""
    await visit.acknowledge(visit.t.plain("broadcast.changed_meanwhile"))
    if broadcast.status is BroadcastStatus.DRAFT and broadcast.operator_id == visit.person.id:
        await compose(visit, broadcast)
    else:
        await _page(visit, broadcast, "")


async def _show_list(visit: Session, offset: int) -> None:
    page = await visit.desk.broadcast_drafts.page(offset)
    if offset and not page.broadcasts:
        page = await visit.desk.broadcast_drafts.page()
    await visit.show(broadcast_list.screen(visit.t, page, visit.desk.clock.now(), visit.zone))


async def _page(visit: Session, broadcast: Broadcast, _: str) -> bool:
    await visit.acknowledge()
    counts = await visit.desk.broadcast_drafts.counts(broadcast)
    await visit.show(broadcast_list.page(visit.t, broadcast, counts, visit.desk.clock.now(), visit.zone))
    return True


async def _edit(visit: Session, broadcast: Broadcast, _: str) -> bool:
    if broadcast.status is not BroadcastStatus.DRAFT:
        return False
    await visit.acknowledge()
    await compose(visit, broadcast)
    return True


async def _text(visit: Session, broadcast: Broadcast, locale: str) -> bool:
    return locale in LOCALES and await ask_text(visit, broadcast, locale)


async def _usual(visit: Session, broadcast: Broadcast, locale: str) -> bool:
    return await keep(visit, replace(broadcast, texts=with_text(broadcast.texts, locale, None)))


async def _picture(visit: Session, broadcast: Broadcast, choice: str) -> bool:
    if not choice:
        return await ask_picture(visit, broadcast)
    if choice not in {"none", *PERIODS}:
        return False
    return await keep(visit, replace(broadcast, picture=None if choice == "none" else CHART + choice))


async def _to(visit: Session, broadcast: Broadcast, choice: str) -> bool:
    if not choice:
        return await show_readers(visit, broadcast)
    if choice not in {"all", *LOCALES}:
        return False
    audience = replace(broadcast.audience, locale=None if choice == "all" else choice)
    return await keep(visit, replace(broadcast, audience=audience), show_readers)


async def _days(visit: Session, broadcast: Broadcast, choice: str) -> bool:
    if not choice.isdecimal() or int(choice) > MOST_DAYS:
        return False
    audience = replace(broadcast.audience, active_days=int(choice) or None)
    return await keep(visit, replace(broadcast, audience=audience), show_readers)


async def _when(visit: Session, broadcast: Broadcast, choice: str) -> bool:
    if not choice:
        return await ask_moment(visit, broadcast)
    return await keep(visit, replace(broadcast, starts_at=None, daily_minute=None))


async def _daily(visit: Session, broadcast: Broadcast, choice: str) -> bool:
    if choice == "other":
        return await ask_daily(visit, broadcast)
    if not choice.isdecimal() or int(choice) >= MINUTES:
        return False
    return await keep(visit, replace(broadcast, starts_at=None, daily_minute=int(choice)))


async def _discard(visit: Session, broadcast: Broadcast, _: str) -> bool:
    if await visit.desk.broadcast_drafts.discard(broadcast) is None:
        return False
    await visit.acknowledge()
    await visit.show(screens.discarded(visit.t))
    return True


async def _like(visit: Session, broadcast: Broadcast, _: str) -> bool:
    await visit.acknowledge()
    visit.message_id = None
    await compose(visit, await visit.desk.broadcast_drafts.like(broadcast, visit.person.id))
    return True


async def _call_off(visit: Session, broadcast: Broadcast, _: str) -> bool:
    if not may_be_called_off(broadcast):
        return False
    stopped = await visit.desk.broadcasts.call_off(broadcast, visit.person.id)
    if stopped is None:
        return False
    await visit.acknowledge(visit.t.plain("broadcast.called_off"))
    return await _page(visit, stopped, "")


async def _preview(visit: Session, broadcast: Broadcast, _: str) -> bool:
    return may_be_confirmed(broadcast) and await broadcast_confirming.preview(visit, broadcast)


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

"""What an operator types or sends for a draft: a text with its formatting, a picture, a time.

All of it is data: kept as Telegram's entities say, checked before it is kept, and asked again with the reason where it
can't be.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final

from telegram import Message

from bot.broadcasts.model import Broadcast
from bot.broadcasts.rules import tells_rate, with_text
from bot.broadcasts.schedule import read_template
from bot.broadcasts.screens import compose as screens
from bot.broadcasts.screens.text import check_fits
from bot.core.datetime_parsing import read_days, read_minute, read_moment
from bot.core.errors import Rejection
from bot.infra.telegram.ui import questions
from bot.infra.telegram.ui.screen import Screen
from bot.infra.telegram.ui.session import Session
from bot.users.repository import UserRepository

TEXT: Final = "bc_text"
PICTURE: Final = "bc_picture"
MOMENT: Final = "bc_when"
DAILY: Final = "bc_daily"
DAYS: Final = "bc_days"

Show = Callable[[Session, Broadcast], Awaitable[bool]]


async def compose(session: Session, broadcast: Broadcast) -> bool:
    """The draft at a glance."""
    await session.show(screens.screen(session.t, broadcast, session.desk.clock.now(), session.zone))
    return True


async def show_readers(session: Session, broadcast: Broadcast) -> bool:
    """To whom, with how many they are."""
    readers = await session.desk.broadcasts.readers(broadcast.audience)
    return await _ask(session, DAYS, broadcast.id, screens.audiences(session.t, broadcast, readers))


async def keep(session: Session, changed: Broadcast, show: Show = compose) -> bool:
    """Keep a change that a button has made, if its messages still fit, and show it; whether it could be kept."""
    try:
        check_fits(replace(changed, is_rate=tells_rate(changed)), session.desk.translations)
    except Rejection as rejection:
        await session.acknowledge(session.t.plain(rejection.key, **rejection.arguments), alert=True)
        return True
    kept = await session.desk.broadcast_drafts.change(changed)
    if kept is None:
        return False
    await session.acknowledge()
    return await show(session, kept)


async def ask_text(session: Session, broadcast: Broadcast, locale: str) -> bool:
    """Ask for the text in one language."""
    return await _ask(session, TEXT, f"{broadcast.id}:{locale}", screens.text(session.t, broadcast, locale))


async def ask_picture(session: Session, broadcast: Broadcast) -> bool:
    """Ask for a picture."""
    return await _ask(session, PICTURE, broadcast.id, screens.pictures(session.t, broadcast))


async def ask_moment(session: Session, broadcast: Broadcast) -> bool:
    """Ask when."""
    screen = screens.moments(session.t, broadcast, session.desk.clock.now(), session.zone)
    return await _ask(session, MOMENT, broadcast.id, screen)


async def ask_daily(session: Session, broadcast: Broadcast) -> bool:
    """Ask at what time each day."""
    screen = screens.daily_minute(session.t, broadcast, session.desk.clock.now(), session.zone)
    return await _ask(session, DAILY, broadcast.id, screen)


async def text_sent(session: Session, argument: str, message: Message) -> None:
    """A text for one language; with a picture where one came along."""
    broadcast_id, _separator, locale = argument.partition(":")

    def change(broadcast: Broadcast) -> Broadcast:
        texts = with_text(broadcast.texts, locale, read_template(_html(message)))
        return replace(broadcast, texts=texts, picture=_photo(message) or broadcast.picture)

    await _take(session, broadcast_id, change, lambda broadcast: screens.text(session.t, broadcast, locale))


async def picture_sent(session: Session, broadcast_id: str, message: Message) -> None:
    """A picture of one's own; what is written under it is not taken."""

    def change(broadcast: Broadcast) -> Broadcast:
        photo = _photo(message)
        if photo is None:
            raise Rejection("broadcast.not_a_picture")
        return replace(broadcast, picture=photo)

    await _take(session, broadcast_id, change, lambda broadcast: screens.pictures(session.t, broadcast))


async def moment_sent(session: Session, broadcast_id: str, message: Message) -> None:
    """A time to begin at."""
    now = session.desk.clock.now()

    def change(broadcast: Broadcast) -> Broadcast:
        starts_at = read_moment(message.text or "", now, session.zone)
        return replace(broadcast, starts_at=starts_at, daily_minute=None)

    await _take(session, broadcast_id, change, lambda each: screens.moments(session.t, each, now, session.zone))


async def daily_sent(session: Session, broadcast_id: str, message: Message) -> None:
    """A time of each day."""
    now = session.desk.clock.now()

    def change(broadcast: Broadcast) -> Broadcast:
        return replace(broadcast, starts_at=None, daily_minute=read_minute(message.text or ""))

    await _take(session, broadcast_id, change, lambda each: screens.daily_minute(session.t, each, now, session.zone))


async def days_sent(session: Session, broadcast_id: str, message: Message) -> None:
    """Within how many days readers must have been here."""
    shown = await session.desk.broadcast_drafts.get(broadcast_id)
    readers = await session.desk.broadcasts.readers(shown.audience) if shown else {}

    def change(broadcast: Broadcast) -> Broadcast:
        return replace(broadcast, audience=replace(broadcast.audience, active_days=read_days(message.text or "")))

    await _take(session, broadcast_id, change, lambda each: screens.audiences(session.t, each, readers))


WHOLE_MESSAGES: Final = {
    TEXT: text_sent,
    PICTURE: picture_sent,
    MOMENT: moment_sent,
    DAILY: daily_sent,
    DAYS: days_sent,
}
"""What takes the answer to which question."""


async def _ask(session: Session, question: str, argument: str, screen: Screen) -> bool:
    await session.acknowledge()
    await questions.ask(session, question, screen, argument)
    return True


async def _take(
    session: Session, broadcast_id: str, change: Callable[[Broadcast], Broadcast], ask: Callable[[Broadcast], Screen]
) -> None:
    """Keep what was sent, or say why not and ask again."""
    broadcast = await session.desk.broadcast_drafts.get(broadcast_id) if session.is_operator else None
    if broadcast is None:
        await _end_question(session)
        await session.show(Screen(session.t("broadcast.gone")))
        return
    try:
        changed = change(broadcast)
        check_fits(replace(changed, is_rate=tells_rate(changed)), session.desk.translations)
    except Rejection as rejection:
        session.notice = session.reason(rejection)
        await session.show(ask(broadcast))
        return
    kept = await session.desk.broadcast_drafts.change(changed)
    await _end_question(session)
    if kept is None:
        session.notice = session.t("broadcast.changed_meanwhile")
    await compose(session, kept or await session.desk.broadcast_drafts.open(session.person.id))


async def _end_question(session: Session) -> None:
    async with session.desk.store.transaction() as tx:
        await UserRepository(tx).save(questions.answered(session))


def _html(message: Message) -> str:
    """What is written, or written under a picture, with its entities as markup."""
    if message.text:
        return message.text_html
    return message.caption_html if message.caption and message.photo else ""


def _photo(message: Message) -> str | None:
    return message.photo[-1].file_id if message.photo else None

"""Handlers for writing a draft: its text with formatting, its picture, its readers and its time.

Answers are checked before they are saved. If an answer is rejected, the operator sees why and is asked again.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Final

from telegram import Message

from bot.broadcasts.drafts import BroadcastDrafts
from bot.broadcasts.model import Broadcast, read_template
from bot.broadcasts.screens import compose as screens
from bot.broadcasts.screens.text import check_length
from bot.broadcasts.service import BroadcastService
from bot.core.datetime_parsing import read_days, read_minute, read_moment
from bot.core.errors import Rejection
from bot.infra.i18n import Translations
from bot.infra.telegram.ui.screen import Screen
from bot.users import questions
from bot.users.session import Session

TEXT: Final = "bc_text"
PICTURE: Final = "bc_picture"
START_TIME: Final = "bc_when"
DAILY_TIME: Final = "bc_daily"
DAYS: Final = "bc_days"

Show = Callable[[Session, Broadcast], Awaitable[bool]]


class ComposeHandlers:
    """Show a draft, ask for its parts, and save the operator's answers."""

    def __init__(self, *, drafts: BroadcastDrafts, broadcasts: BroadcastService, translations: Translations) -> None:
        self._drafts = drafts
        self._broadcasts = broadcasts
        self._translations = translations

    def answers(self) -> Mapping[str, questions.AnswerHandler]:
        """Return the handler of each question's answer."""
        return {
            TEXT: self.save_text,
            PICTURE: self.save_picture,
            START_TIME: self.save_start,
            DAILY_TIME: self.save_daily_time,
            DAYS: self.save_days,
        }

    async def show_draft(self, session: Session, broadcast: Broadcast) -> bool:
        """Show all parts of the draft."""
        await session.show(screens.show_draft(session.reader, broadcast))
        return True

    async def show_audience(self, session: Session, broadcast: Broadcast) -> bool:
        """Show the audience and its size, and ask within how many days readers were active."""
        readers = await self._broadcasts.count_readers(broadcast.audience)
        return await _ask(session, DAYS, broadcast.id, screens.ask_audience(session.t, broadcast, readers))

    async def save(self, session: Session, changed: Broadcast, show: Show | None = None) -> bool:
        """Save a change that a button made, and show it with `show`.

        Return False if the draft has changed since it was read. A message that is too long isn't saved; the operator
        sees why.
        """
        try:
            self._check_length(changed)
        except Rejection as rejection:
            await session.acknowledge(session.t.plain(rejection.key, **rejection.arguments), alert=True)
            return True
        saved = await self._drafts.change(changed)
        if saved is None:
            return False
        await session.acknowledge()
        return await (show or self.show_draft)(session, saved)

    async def ask_text(self, session: Session, broadcast: Broadcast, locale: str) -> bool:
        """Ask for the text in one language."""
        return await _ask(session, TEXT, f"{broadcast.id}:{locale}", screens.ask_text(session.t, broadcast, locale))

    async def ask_picture(self, session: Session, broadcast: Broadcast) -> bool:
        """Ask for a picture."""
        return await _ask(session, PICTURE, broadcast.id, screens.ask_picture(session.t, broadcast))

    async def ask_start(self, session: Session, broadcast: Broadcast) -> bool:
        """Ask when to send the broadcast."""
        screen = screens.ask_start(session.reader, broadcast)
        return await _ask(session, START_TIME, broadcast.id, screen)

    async def ask_daily_time(self, session: Session, broadcast: Broadcast) -> bool:
        """Ask at what time of the day to send a daily broadcast."""
        screen = screens.ask_daily_time(session.reader, broadcast)
        return await _ask(session, DAILY_TIME, broadcast.id, screen)

    async def save_text(self, session: Session, argument: str, message: Message) -> None:
        """Save the text for one language, and the picture of the same message if it has one."""
        broadcast_id, _separator, locale = argument.partition(":")

        def change(broadcast: Broadcast) -> Broadcast:
            changed = broadcast.with_text(locale, read_template(_read_html(message)))
            return replace(changed, picture=_photo_id(message) or broadcast.picture)

        await self._save_answer(
            session, broadcast_id, change, lambda broadcast: screens.ask_text(session.t, broadcast, locale)
        )

    async def save_picture(self, session: Session, broadcast_id: str, message: Message) -> None:
        """Save the operator's own picture. Its caption is ignored."""

        def change(broadcast: Broadcast) -> Broadcast:
            photo = _photo_id(message)
            if photo is None:
                raise Rejection("broadcasts.not_a_picture")
            return replace(broadcast, picture=photo)

        await self._save_answer(
            session, broadcast_id, change, lambda broadcast: screens.ask_picture(session.t, broadcast)
        )

    async def save_start(self, session: Session, broadcast_id: str, message: Message) -> None:
        """Save the time when the broadcast starts."""

        def change(broadcast: Broadcast) -> Broadcast:
            starts_at = read_moment(message.text or "", session.now, session.zone)
            return replace(broadcast, starts_at=starts_at, daily_minute=None)

        def ask(broadcast: Broadcast) -> Screen:
            return screens.ask_start(session.reader, broadcast)

        await self._save_answer(session, broadcast_id, change, ask)

    async def save_daily_time(self, session: Session, broadcast_id: str, message: Message) -> None:
        """Save the time of the day of a daily broadcast."""

        def change(broadcast: Broadcast) -> Broadcast:
            return replace(broadcast, starts_at=None, daily_minute=read_minute(message.text or ""))

        def ask(broadcast: Broadcast) -> Screen:
            return screens.ask_daily_time(session.reader, broadcast)

        await self._save_answer(session, broadcast_id, change, ask)

    async def save_days(self, session: Session, broadcast_id: str, message: Message) -> None:
        """Save within how many days readers must have been active."""
        shown = await self._drafts.get(broadcast_id)
        readers = await self._broadcasts.count_readers(shown.audience) if shown else {}

        def change(broadcast: Broadcast) -> Broadcast:
            return replace(broadcast, audience=replace(broadcast.audience, active_days=read_days(message.text or "")))

        def ask(broadcast: Broadcast) -> Screen:
            return screens.ask_audience(session.t, broadcast, readers)

        await self._save_answer(session, broadcast_id, change, ask)

    async def _save_answer(
        self,
        session: Session,
        broadcast_id: str,
        change: Callable[[Broadcast], Broadcast],
        ask: Callable[[Broadcast], Screen],
    ) -> None:
        """Apply `change` to the draft and save it. If it is rejected, say why and ask again."""
        broadcast = await self._drafts.get(broadcast_id) if session.is_operator else None
        if broadcast is None:
            await session.save_user(questions.mark_answered(session))
            await session.show(Screen(session.t("broadcasts.gone")))
            return
        try:
            changed = change(broadcast)
            self._check_length(changed)
        except Rejection as rejection:
            session.notice = session.format_rejection(rejection)
            await session.show(ask(broadcast))
            return
        saved = await self._drafts.change(changed)
        await session.save_user(questions.mark_answered(session))
        if saved is None:
            session.notice = session.t("broadcasts.changed_meanwhile")
        await self.show_draft(session, saved or await self._drafts.open(session.user.id))

    def _check_length(self, changed: Broadcast) -> None:
        check_length(replace(changed, is_rate=changed.needs_quote), self._translations)


async def _ask(session: Session, question: str, argument: str, screen: Screen) -> bool:
    await session.acknowledge()
    await questions.ask(session, question, screen, argument)
    return True


def _read_html(message: Message) -> str:
    """Return the text or the caption of a photo, with its formatting as HTML."""
    if message.text:
        return message.text_html
    return message.caption_html if message.caption and message.photo else ""


def _photo_id(message: Message) -> str | None:
    return message.photo[-1].file_id if message.photo else None

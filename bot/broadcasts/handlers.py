"""Handle `/broadcast`, `/broadcasts` and the buttons of broadcasts, for operators only.

Other users get the same answer as for an unknown command or an old button. Each button contains the revision that it
was shown for. If the broadcast has changed since then, its current state is shown and nothing is done twice. Buttons
of a started broadcast contain no revision: each action needs the status in which its button was shown.

Typed answers are checked before they are saved. If one is rejected, the operator sees why and is asked again.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from telegram import Message

from bot.broadcasts.buttons import (
    BroadcastAction,
    BroadcastButton,
    BroadcastListButton,
    DeliveryAction,
    DeliveryButton,
    NewBroadcastButton,
)
from bot.broadcasts.deliveries import DeliveryService
from bot.broadcasts.messages import ReaderMessages
from bot.broadcasts.model import CHART, PERIODS, Broadcast, BroadcastStatus, BroadcastWarning, Preview, read_template
from bot.broadcasts.screens import compose
from bot.broadcasts.screens.compose import check_length
from bot.broadcasts.screens.confirmed import show_broadcast, show_list, show_progress
from bot.broadcasts.service import BroadcastService
from bot.core.errors import Rejection
from bot.core.time_of_day import MAX_DAYS, MINUTES, read_days, read_minute, read_moment
from bot.infra.i18n import LOCALES, Translations
from bot.infra.telegram.outbound.sender import Delivered, Invalid, Outcome
from bot.infra.telegram.ui.routes import Audience, Menu, Routes
from bot.infra.telegram.ui.screen import Screen
from bot.users import questions
from bot.users.session import Session

TEXT: Final = "bc_text"
PICTURE: Final = "bc_picture"
START_TIME: Final = "bc_when"
DAILY_TIME: Final = "bc_daily"
AUDIENCE: Final = "bc_days"

Show = Callable[[Session, Broadcast], Awaitable[bool]]


@dataclass(frozen=True, slots=True)
class _Question:
    """A question about a draft: its screen, and the draft that an answer makes.

    Both also get the language that the question is about, and the screen the size of the audience. An answer can raise
    a `Rejection`.
    """

    show: Callable[[Session, Broadcast, str, Mapping[str, int]], Screen]
    answer: Callable[[Session, Broadcast, str, Message], Broadcast]


def _read_text(_: Session, broadcast: Broadcast, locale: str, message: Message) -> Broadcast:
    """Return the draft with the text for one language, and the picture of the same message if it has one."""
    changed = broadcast.with_text(locale, read_template(_read_html(message)))
    return replace(changed, picture=_photo_id(message) or broadcast.picture)


def _read_picture(_: Session, broadcast: Broadcast, __: str, message: Message) -> Broadcast:
    """Return the draft with the operator's own picture. Its caption is ignored."""
    photo = _photo_id(message)
    if photo is None:
        raise Rejection("broadcasts.not_a_picture")
    return replace(broadcast, picture=photo)


def _read_start(session: Session, broadcast: Broadcast, _: str, message: Message) -> Broadcast:
    starts_at = read_moment(message.text or "", session.now, session.zone)
    return replace(broadcast, starts_at=starts_at, daily_minute=None)


def _read_daily_time(_: Session, broadcast: Broadcast, __: str, message: Message) -> Broadcast:
    return replace(broadcast, starts_at=None, daily_minute=read_minute(message.text or ""))


def _read_days(_: Session, broadcast: Broadcast, __: str, message: Message) -> Broadcast:
    return replace(broadcast, audience=replace(broadcast.audience, active_days=read_days(message.text or "")))


QUESTIONS: Final[Mapping[str, _Question]] = {
    TEXT: _Question(lambda session, draft, locale, _: compose.ask_text(session.t, draft, locale), _read_text),
    PICTURE: _Question(lambda session, draft, *_: compose.ask_picture(session.t, draft), _read_picture),
    START_TIME: _Question(lambda session, draft, *_: compose.ask_start(session.reader, draft), _read_start),
    DAILY_TIME: _Question(lambda session, draft, *_: compose.ask_daily_time(session.reader, draft), _read_daily_time),
    AUDIENCE: _Question(lambda session, draft, _, readers: compose.ask_audience(session.t, draft, readers), _read_days),
}


def _read_html(message: Message) -> str:
    """Return the text or the caption of a photo, with its formatting as HTML."""
    if message.text:
        return message.text_html
    return message.caption_html if message.caption and message.photo else ""


def _photo_id(message: Message) -> str | None:
    return message.photo[-1].file_id if message.photo else None


READ_ONLY_ACTIONS: Final = frozenset({BroadcastAction.PAGE, BroadcastAction.SHOW_MESSAGES, BroadcastAction.COPY})
"""Actions that change nothing, so they also work in old messages."""

_Action = Callable[[Session, Broadcast, str], Awaitable[bool]]
"""Returns False if the broadcast no longer allows the action."""


class BroadcastHandlers:
    """Let operators write, preview, confirm and list broadcasts, and pause, resume and stop those that have started."""

    def __init__(
        self,
        *,
        broadcasts: BroadcastService,
        deliveries: DeliveryService,
        messages: ReaderMessages,
        translations: Translations,
    ) -> None:
        self._broadcasts = broadcasts
        self._deliveries = deliveries
        self._messages = messages
        self._translations = translations

    def routes(self) -> Routes[Session]:
        """Return the commands and the buttons."""
        routes = Routes[Session](Audience.OPERATORS)
        routes.add_command("broadcast", self.write_broadcast, menu={Menu.OPERATORS: 20})
        routes.add_command("broadcasts", self.list_broadcasts, menu={Menu.OPERATORS: 30})
        routes.add_button(NewBroadcastButton, self.new_broadcast_button)
        routes.add_button(BroadcastListButton, self.list_button)
        routes.add_button(DeliveryButton, self.delivery_button)
        actions: Mapping[BroadcastAction, _Action] = {
            BroadcastAction.PAGE: self._show_page,
            BroadcastAction.EDIT: self._edit,
            BroadcastAction.TEXT: self._ask_text,
            BroadcastAction.DEFAULT_TEXT: self._use_default_text,
            BroadcastAction.PICTURE: self._choose_picture,
            BroadcastAction.AUDIENCE: self._choose_audience,
            BroadcastAction.DAYS: self._choose_days,
            BroadcastAction.WHEN: self._choose_start,
            BroadcastAction.DAILY: self._choose_daily,
            BroadcastAction.DISCARD: self._discard,
            BroadcastAction.COPY: self._copy,
            BroadcastAction.SHOW_MESSAGES: self._show_messages,
            BroadcastAction.PREVIEW: self._preview,
            BroadcastAction.CONFIRM: self._confirm,
            BroadcastAction.CONFIRM_ANYWAY: self._confirm,
            BroadcastAction.CANCEL: self._cancel,
        }
        routes.add_actions(BroadcastButton, self.broadcast_button, actions)
        return routes

    def answers(self) -> Mapping[str, questions.AnswerHandler]:
        """Return the handler of each question's answer."""
        return {name: partial(self._save_answer, question) for name, question in QUESTIONS.items()}

    async def write_broadcast(self, session: Session, _: str) -> None:
        """Show the operator's draft."""
        session.message_id = None
        await self._show_draft(session, await self._broadcasts.open(session.user.id))

    async def list_broadcasts(self, session: Session, _: str) -> None:
        """Show the newest broadcasts."""
        session.message_id = None
        await self._show_list(session, 0)

    async def new_broadcast_button(self, session: Session, _: NewBroadcastButton) -> None:
        """Replace the list with the operator's draft."""
        await session.acknowledge()
        await self._show_draft(session, await self._broadcasts.open(session.user.id))

    async def list_button(self, session: Session, button: BroadcastListButton) -> None:
        """Show another page of the list."""
        await session.acknowledge()
        await self._show_list(session, button.offset)

    async def broadcast_button(self, session: Session, button: BroadcastButton, act: _Action) -> None:
        """Run the button's action, unless the broadcast has changed since the button was shown."""
        broadcast = await self._broadcasts.get(button.broadcast_id)
        if broadcast is None:
            await session.explain("users.stale.button")
        elif button.action not in READ_ONLY_ACTIONS and button.revision != broadcast.revision:
            await self._show_current(session, broadcast)
        elif not await act(session, broadcast, button.argument):
            await self._show_current(session, await self._broadcasts.get(broadcast.id) or broadcast)

    async def _show_current(self, session: Session, broadcast: Broadcast) -> None:
        """Show the broadcast as it is now, because the button was old or another operator was faster."""
        await session.acknowledge(session.t.plain("broadcasts.changed_meanwhile"))
        if broadcast.status is BroadcastStatus.DRAFT and broadcast.operator_id == session.user.id:
            await self._show_draft(session, broadcast)
        else:
            await self._show_page(session, broadcast)

    async def _show_list(self, session: Session, offset: int) -> None:
        page = await self._broadcasts.list_page(offset)
        if offset and not page.broadcasts:
            page = await self._broadcasts.list_page()
        await session.show(show_list(session.reader, page))

    async def _show_page(self, session: Session, broadcast: Broadcast, _: str = "") -> bool:
        await session.acknowledge()
        counts = await self._broadcasts.count_deliveries(broadcast)
        reader = await session.reader_who_knows(broadcast.confirmed_by)
        await session.show(show_broadcast(reader, broadcast, counts))
        return True

    async def _show_draft(self, session: Session, broadcast: Broadcast) -> bool:
        """Show all parts of the draft."""
        await session.show(compose.show_draft(session.reader, broadcast))
        return True

    async def _ask(self, question: str, session: Session, broadcast: Broadcast, locale: str = "") -> bool:
        """Ask for a part of the draft: its text in a language, its picture, its time or its audience."""
        await session.acknowledge()
        screen = await self._make_screen(QUESTIONS[question], session, broadcast, locale)
        await questions.ask(session, question, screen, f"{broadcast.id}:{locale}")
        return True

    async def _save(self, session: Session, changed: Broadcast, show: Show | None = None) -> bool:
        """Save a change that a button made, and show it with `show`.

        Return False if the draft has changed since it was read. A message that is too long isn't saved; the operator
        sees why.
        """
        try:
            self._check_length(changed)
        except Rejection as rejection:
            await session.acknowledge(session.t.plain(rejection.key, **rejection.arguments), alert=True)
            return True
        saved = await self._broadcasts.change(changed)
        if saved is None:
            return False
        await session.acknowledge()
        return await (show or self._show_draft)(session, saved)

    async def _save_answer(self, question: _Question, session: Session, argument: str, message: Message) -> None:
        """Save the draft that an answer makes. If the answer is rejected, say why and ask again."""
        broadcast_id, _separator, locale = argument.partition(":")
        broadcast = await self._broadcasts.get(broadcast_id) if session.is_operator else None
        if broadcast is None:
            await session.save_user(questions.mark_answered(session))
            await session.show(Screen(session.t("broadcasts.gone")))
            return
        try:
            changed = question.answer(session, broadcast, locale, message)
            self._check_length(changed)
        except Rejection as rejection:
            session.notice = session.format_rejection(rejection)
            await session.show(await self._make_screen(question, session, broadcast, locale))
            return
        saved = await self._broadcasts.change(changed)
        await session.save_user(questions.mark_answered(session))
        if saved is None:
            session.notice = session.t("broadcasts.changed_meanwhile")
        await self._show_draft(session, saved or await self._broadcasts.open(session.user.id))

    async def _make_screen(self, question: _Question, session: Session, broadcast: Broadcast, locale: str) -> Screen:
        readers = await self._broadcasts.count_readers(broadcast.audience) if question is QUESTIONS[AUDIENCE] else {}
        return question.show(session, broadcast, locale, readers)

    def _check_length(self, changed: Broadcast) -> None:
        check_length(replace(changed, is_rate=changed.needs_quote), self._translations)

    async def _edit(self, session: Session, broadcast: Broadcast, _: str) -> bool:
        if broadcast.status is not BroadcastStatus.DRAFT:
            return False
        await session.acknowledge()
        return await self._show_draft(session, broadcast)

    async def _ask_text(self, session: Session, broadcast: Broadcast, locale: str) -> bool:
        return locale in LOCALES and await self._ask(TEXT, session, broadcast, locale)

    async def _use_default_text(self, session: Session, broadcast: Broadcast, locale: str) -> bool:
        return await self._save(session, broadcast.with_text(locale, None))

    async def _choose_picture(self, session: Session, broadcast: Broadcast, choice: str) -> bool:
        if not choice:
            return await self._ask(PICTURE, session, broadcast)
        if choice not in {"none", *PERIODS}:
            return False
        changed = replace(broadcast, picture=None if choice == "none" else CHART + choice)
        return await self._save(session, changed)

    async def _choose_audience(self, session: Session, broadcast: Broadcast, choice: str) -> bool:
        if not choice:
            return await self._ask(AUDIENCE, session, broadcast)
        if choice not in {"all", *LOCALES}:
            return False
        audience = replace(broadcast.audience, locale=None if choice == "all" else choice)
        changed = replace(broadcast, audience=audience)
        return await self._save(session, changed, partial(self._ask, AUDIENCE))

    async def _choose_days(self, session: Session, broadcast: Broadcast, choice: str) -> bool:
        if not choice.isdecimal() or int(choice) > MAX_DAYS:
            return False
        changed = replace(broadcast, audience=replace(broadcast.audience, active_days=int(choice) or None))
        return await self._save(session, changed, partial(self._ask, AUDIENCE))

    async def _choose_start(self, session: Session, broadcast: Broadcast, choice: str) -> bool:
        if not choice:
            return await self._ask(START_TIME, session, broadcast)
        return await self._save(session, replace(broadcast, starts_at=None, daily_minute=None))

    async def _choose_daily(self, session: Session, broadcast: Broadcast, choice: str) -> bool:
        if choice == "other":
            return await self._ask(DAILY_TIME, session, broadcast)
        if not choice.isdecimal() or int(choice) >= MINUTES:
            return False
        return await self._save(session, replace(broadcast, starts_at=None, daily_minute=int(choice)))

    async def _discard(self, session: Session, broadcast: Broadcast, _: str) -> bool:
        if await self._broadcasts.discard(broadcast) is None:
            return False
        await session.acknowledge()
        await session.show(compose.show_discarded(session.t))
        return True

    async def _copy(self, session: Session, broadcast: Broadcast, _: str) -> bool:
        await session.acknowledge()
        session.message_id = None
        return await self._show_draft(session, await self._broadcasts.copy(broadcast, session.user.id))

    async def _cancel(self, session: Session, broadcast: Broadcast, _: str) -> bool:
        if not broadcast.can_be_cancelled:
            return False
        stopped = await self._broadcasts.cancel(broadcast, session.user.id)
        if stopped is None:
            return False
        await session.acknowledge(session.t.plain("broadcasts.called_off"))
        return await self._show_page(session, stopped)

    async def _preview(self, session: Session, broadcast: Broadcast, _: str) -> bool:
        """Show the message in each language, then ask whether to send it."""
        if not broadcast.can_be_confirmed:
            return False
        await session.acknowledge()
        try:
            preview = await self._broadcasts.preview(broadcast)
        except Rejection as rejection:
            return await self._show_rejection(session, broadcast, rejection)
        if preview is None:
            return False
        sent = await self._send_previews(session, preview)
        if isinstance(sent, Delivered):
            await session.show_below(compose.ask_to_confirm(session.reader, preview))
        else:
            is_refused = isinstance(sent, Invalid)
            await session.show_below(compose.explain_not_shown(session.t, preview.broadcast, is_refused=is_refused))
        return True

    async def _send_previews(self, session: Session, preview: Preview) -> Outcome:
        """Send the message in each language, and return the first outcome that isn't a success, else a success."""
        sent: Outcome = Delivered()
        for locale in preview.broadcast.languages:
            await session.send_message(compose.show_heading(session.t, locale, preview.readers.get(locale, 0)))
            sent = await self._messages.send_preview(session.chat_id, preview.broadcast, locale)
            if not isinstance(sent, Delivered):
                break
        return sent

    async def _show_messages(self, session: Session, broadcast: Broadcast, _: str) -> bool:
        """Send the messages of a confirmed broadcast, with the newest quote if it has none yet."""
        await session.acknowledge()
        shown = await self._broadcasts.add_quote(broadcast)
        if shown is None:
            await session.show_below(Screen(session.t("broadcasts.no_quote")))
            return True
        for locale in shown.languages:
            await self._messages.send_preview(session.chat_id, shown, locale)
        return True

    async def _confirm(self, session: Session, broadcast: Broadcast, accepted: str) -> bool:
        """Confirm the broadcast. `accepted` are the values of the warnings that the operator accepts."""
        warnings = frozenset(warning for warning in BroadcastWarning if warning in accepted)
        try:
            confirmed = await self._broadcasts.confirm(broadcast, session.user.id, session.zone, warnings)
        except Rejection as rejection:
            await session.acknowledge()
            return await self._show_rejection(session, broadcast, rejection)
        if confirmed is None:
            return False
        await session.acknowledge()
        if isinstance(confirmed, Preview):
            await session.show(compose.ask_to_confirm_again(session.reader, confirmed))
        else:
            await session.show(compose.show_confirmed(session.reader, confirmed))
        return True

    async def _show_rejection(self, session: Session, broadcast: Broadcast, rejection: Rejection) -> bool:
        """Say why the broadcast was rejected, and how to continue.

        A draft can be changed. A broadcast whose time has come keeps waiting.
        """
        reason = session.format_rejection(rejection)
        if broadcast.status is BroadcastStatus.DRAFT:
            session.notice = reason
            return await self._show_draft(session, broadcast)
        await session.show_below(Screen(reason, compose.waiting_rows(session.t, broadcast)))
        return True

    async def delivery_button(self, session: Session, button: DeliveryButton) -> None:
        """Carry out what an operator decides about a started broadcast, and show its progress."""
        if await self._deliveries.get_progress(button.broadcast_id) is None:
            await session.explain("users.stale.button")
            return
        was_done = button.action is DeliveryAction.SHOW or await self._deliveries.decide(
            button.broadcast_id, button.action, session.user.id
        )
        progress = await self._deliveries.get_progress(button.broadcast_id)
        await session.acknowledge(None if was_done else session.t.plain("broadcasts.delivery.nothing_changed"))
        if progress is not None:
            await session.edit_message(show_progress(session.t, progress, session.zone))

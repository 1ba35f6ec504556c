"""Handling of updates: each one's session is loaded, and the first handler that takes the update answers it.

`UpdateRouter.route` has the handlers of each kind of update, in their order. `kirim routes` prints the buttons and
commands.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, nullcontext
from typing import Final

import structlog
from telegram import Chat, Update

from bot.app import App
from bot.checkout.open_draft import load_draft
from bot.checkout.tables import drafts
from bot.core.reasons import list_frames
from bot.infra.db.errors import RowUnreadable, StoreDown
from bot.infra.db.fence import LeaseLost
from bot.infra.telegram.inbound.message_limit import MessageLimit
from bot.infra.telegram.outbound.sender import Delivered, Messenger
from bot.infra.telegram.ui.callbacks import Callback
from bot.infra.telegram.ui.routes import Audience, Command, Route, is_command, read_command, read_press
from bot.infra.telegram.ui.screen import Screen
from bot.users import questions
from bot.users.session import Session

log = structlog.get_logger(__name__)

FRAMES_LOGGED = 4
STALE = "users.stale.button"

ACTIVITY_AFTER_SECONDS: Final = 1.0
ACTIVITY_AGAIN_SECONDS: Final = 4.5
MOST_ACTIVITY_TIMES: Final = 14
"""After a minute, nobody believes it."""

MOST_ACTIVE_CHATS: Final = 50

Handle = Callable[[Session, Update], Awaitable[bool]]
"""Takes an update, and returns whether it was meant for this handler. If not, the next one is asked."""

RouteTable = Mapping[tuple[type[Callback] | str, bool], Route]
"""The routes by what asks for them: a kind of button or a command, and whether in a private chat."""


class UpdateRouter:
    """Passes each update of a chat's queue to the feature that it is for."""

    def __init__(self, app: App, message_limit: MessageLimit) -> None:
        self._app = app
        self._message_limit = message_limit
        self._activity = ActivityIndicator(app.infra.messenger)
        self._routes = index_routes(_routes_of_features(app))
        self._answers = {name: answer for feature in app.features for name, answer in feature.answers.items()}
        self._unreadable = {table: key for feature in app.features for table, key in feature.unreadable_rows.items()}

    async def process(self, update: Update) -> None:
        """Handle one update."""
        app = self._app
        if await self._message_limit.rejects(update):
            return
        session = await app.sessions.load(update, (app.orders.missed.load, load_draft))
        if session is None:
            if update.callback_query is not None:
                await app.sessions.answer_press(update.callback_query)
            elif (chosen := update.chosen_inline_result) is not None and chosen.inline_message_id:
                requests = app.payment_requests.service
                await requests.record_shared(chosen.from_user.id, chosen.result_id, chosen.inline_message_id)
            return
        app.orders.viewed.record_active_user(session.user.id)
        if session.damage is not None:
            await _report(session, session.damage, "")
            return
        async with self._activity.show_in(session.chat_id) if session.is_private else nullcontext():
            await handle(session, update, self.route, self._unreadable)
        await session.acknowledge()
        await show_missed(session, app.orders.missed.show)
        await app.checkout.edited_answers.remember(session)
        await show_missed(session, app.payment_requests.handlers.show_missed)
        await app.sessions.finish(session)

    async def route(self, session: Session, update: Update) -> None:
        """Let the first handler that takes the update handle it."""
        app, message = self._app, update.message
        agents, receipts, conversation = app.support.agents, app.orders.receipts, app.checkout.conversation
        # A command or another button closes the question that a user was asked, and is handled as usual.
        await questions.close_question(self._answers, session, update)
        handlers: tuple[Handle, ...]
        if update.edited_message is not None:
            handlers = (agents.replies.take_edit, app.checkout.edited_answers.take_edit)
        elif update.callback_query is not None:
            handlers = (
                self._take_route,
                agents.staff_chat.take_unreadable_press,
                _refuse_in_group,
                conversation.take,
                _explain_unknown_button,
            )
        elif message is None:
            handlers = (app.users.chats.take_membership,)
        elif is_command(message):
            handlers = (
                self._take_route,
                receipts.take_in_group,
                app.users.chats.take_group_message,
                conversation.take,
                app.home.idle_messages.take,
            )
        elif message.chat.type == Chat.PRIVATE:
            handlers = (
                agents.replies.take_reply,  # to a message of a ticket, also if a question is open
                agents.lookups.take_forwarded,
                app.support.messages.take_reply,
                self._take_answer,
                app.payment_requests.handlers.take_line,
                receipts.take_lone_code,
                conversation.take,
                app.home.idle_messages.take,
            )
        else:
            handlers = (
                agents.replies.take_reply,
                agents.replies.take_topic_message,
                agents.staff_chat.take_move,
                app.users.chats.take_group_message,
            )
        for take in handlers:
            if await take(session, update):
                return

    async def _take_route(self, session: Session, update: Update) -> bool:
        """Do what a button or a command does, if the user may use it here.

        A press by another user is refused. A command that another user may not use doesn't exist for them. Whether an
        order or a ticket is the user's own, the button's handler checks (`Route.belongs_to`).
        """
        asked, agents = read_press(update) or read_command(update), self._app.support.agents.sessions
        if asked is None:
            return False
        route = self._routes.get((asked.name if isinstance(asked, Command) else type(asked), session.is_private))
        if route is None:
            return False
        match route.audience:
            case Audience.EVERYONE:
                opened: object | None = session
            case Audience.OPERATORS:
                opened = session if session.is_operator else None
            case Audience.SUPPORT | Audience.STAFF:
                opened = await agents.open(session, update, route.audience)
        if opened is not None:
            await route.act(opened, asked.text if isinstance(asked, Command) else asked)
        elif isinstance(asked, Command):
            return False
        elif route.audience in {Audience.SUPPORT, Audience.STAFF}:
            await agents.refuse(session)
        else:
            await session.explain(STALE)
        return True

    async def _take_answer(self, session: Session, update: Update) -> bool:
        return await questions.take_answer(self._answers, session, update)


async def handle(
    session: Session,
    update: Update,
    route: Callable[[Session, Update], Awaitable[None]],
    unreadable: Mapping[str, str],
) -> None:
    """Pass the update on to `route`, and report a failure to the user. `unreadable` has the text for a table's rows.

    Raises:
        StoreDown, LeaseLost: the queue of this process or another one handles the same update again.
    """
    try:
        await route(session, update)
    except (StoreDown, LeaseLost) as error:
        if not isinstance(error, RowUnreadable) or error.table not in unreadable:
            raise
        await _report(session, error, unreadable[error.table])
    except Exception as error:  # noqa: BLE001  the chat's next update is handled as usual
        await _report(session, error, "users.chat.broken")


async def show_missed(session: Session, show: Callable[[Session], Awaitable[None]]) -> None:
    """Show what the user missed. If that fails, they miss it still, and the answered update isn't handled again.

    Raises:
        StoreDown, LeaseLost: as `handle` does, but not for a row that can't be read.
    """
    try:
        await show(session)
    except (StoreDown, LeaseLost) as error:
        if not isinstance(error, RowUnreadable):
            raise
        _log_failure(error)
    except Exception as error:  # noqa: BLE001  the user has the answer to their update
        _log_failure(error)


def _log_failure(error: Exception) -> None:
    """Log where an update failed. The error's text can quote what a user wrote."""
    log.error("update_failed", error=type(error).__name__, where=list_frames(error, FRAMES_LOGGED))


async def _report(session: Session, error: Exception, key: str) -> None:
    """Tell the user that the update failed, and log where."""
    _log_failure(error)
    await session.acknowledge()
    if isinstance(error, RowUnreadable) and error.table == drafts.name:
        await session.report_damage()
    else:
        await session.send_message(Screen(session.t(key)))


async def _refuse_in_group(session: Session, _: Update) -> bool:
    """Refuse a press in a group, because users' buttons work only in private chats. Return False in private chats."""
    if session.is_private:
        return False
    await session.acknowledge(session.t.plain("users.stale.in_group"), alert=True)
    return True


async def _explain_unknown_button(session: Session, _: Update) -> bool:
    """Answer that a button is out of date. Users who may not use a button get the same answer."""
    await session.explain(STALE)
    return True


def index_routes(routes: Iterable[Route]) -> RouteTable:
    """Return each route by what asks for it, in private chats and in groups.

    Raises:
        ValueError: a button or a command has two routes.
    """
    table: dict[tuple[type[Callback] | str, bool], Route] = {}
    for route in routes:
        for is_private in filter(route.works, (True, False)):
            if table.setdefault((route.asked, is_private), route) is not route:
                raise ValueError(f"{route.name} has two handlers")
    return table


def list_routes(app: App) -> list[Route]:
    """Return every command and button, with who may use it."""
    return [*_routes_of_features(app), *app.checkout.conversation.list_routes()]


def _routes_of_features(app: App) -> list[Route]:
    return [route for feature in app.features for routes in feature.routes for route in routes.routes]


class ActivityIndicator:
    """Shows "typing…" in a chat if its answer takes longer than a second.

    Telegram shows it for five seconds, or until a message arrives. It isn't a message, so it costs nothing of the
    limits for messages. Still, only some chats get it at once, so that a slow service doesn't double the calls.
    """

    def __init__(self, messenger: Messenger) -> None:
        self._messenger = messenger
        self._showing = 0

    @asynccontextmanager
    async def show_in(self, chat_id: int) -> AsyncIterator[None]:
        """Show it from the second after the block's begin until its end. Failures to show it are ignored."""
        tasks: list[asyncio.Task[None]] = []

        def begin() -> None:
            if self._showing < MOST_ACTIVE_CHATS:
                self._showing += 1
                tasks.append(asyncio.create_task(self._show(chat_id), name="activity"))

        timer = asyncio.get_running_loop().call_later(ACTIVITY_AFTER_SECONDS, begin)
        try:
            yield
        finally:
            timer.cancel()
            for task in tasks:
                self._showing -= 1
                task.cancel()

    async def _show(self, chat_id: int) -> None:
        for _ in range(MOST_ACTIVITY_TIMES):
            if not isinstance(await self._messenger.show_typing(chat_id), Delivered):
                return
            await asyncio.sleep(ACTIVITY_AGAIN_SECONDS)

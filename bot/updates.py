"""Handling of updates: each one's session is loaded, and then its handlers are tried in a fixed order.

1. Features handle edits of messages that were answered before (`HandlerPhase.CORRECTIONS`).
2. `FORGET` closes a typed question when the user does something else.
3. From `SUPPORT` on: commands and buttons of support agents.
4. Features handle answers to typed questions (`HandlerPhase.QUESTIONS`).
5. Group 0: buttons, and commands that ask no questions. They work at any point of a conversation.
6. Other handlers of features, and the conversation (`HandlerPhase.FEATURES`, `HandlerPhase.CONVERSATION`).
7. `FALLBACK`: buttons of the conversation that it no longer handles.
8. `LAST`: all other buttons. The user sees that the button is out of date.
"""

from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any

import structlog
from telegram import Chat, Update
from telegram.ext import Application, ApplicationHandlerStop, CallbackQueryHandler

from bot.checkout.tables import drafts
from bot.core.error_location import list_frames
from bot.infra.db.errors import RowUnreadable, StoreDown
from bot.infra.db.fence import LeaseLost
from bot.infra.feature import Feature, HandlerPhase
from bot.infra.telegram.inbound.message_limit import MessageLimit
from bot.infra.telegram.outbound.activity import ActivityIndicator
from bot.infra.telegram.ui.router import PRIVATE, Audience, Context, Handler, OpenSession, Route, Routes
from bot.infra.telegram.ui.screen import Screen
from bot.users import questions
from bot.users.session import SESSION, Session
from bot.users.session_loader import SessionLoader

log = structlog.get_logger(__name__)

FRAMES_LOGGED = 4
FORGET, SUPPORT, FALLBACK, LAST = -10_100, -10_000, 10_000, 11_000
GROUPS = {
    HandlerPhase.CORRECTIONS: -10_150,
    HandlerPhase.QUESTIONS: -9_000,
    HandlerPhase.FEATURES: 1_000,
    HandlerPhase.CONVERSATION: 5_000,
}
"""The first of PTB's groups for each phase. Each handler has its own group, because PTB runs one handler of a group."""


def register_handlers(application: Application, features: Sequence[Feature]) -> None:  # type: ignore[type-arg]
    """Register every handler in its group."""
    answers = {name: answer for feature in features for name, answer in feature.answers.items()}
    application.add_handler(questions.make_closing_handler(answers), group=FORGET)
    application.add_handler(questions.make_answer_handler(answers))
    _add_routes(application, features)
    for group, handler in _handlers_by_group(features):
        application.add_handler(handler, group=group)
    application.add_handler(CallbackQueryHandler(_answer_unknown_button), group=LAST)
    application.add_error_handler(_error_handler(features))


def _add_routes(application: Application, features: Sequence[Feature]) -> None:  # type: ignore[type-arg]
    """Add the handlers of the routes. Those of support agents have their own groups.

    If another user sends a command of support agents, later handlers get it.
    """
    for group, routes in enumerate(collect_routes(features), SUPPORT):
        handlers = routes.build_handlers(
            routes.open_session or OPEN_SESSION[routes.audience],
            routes.refuse or _explain_stale_button,
            PRIVATE if routes.only is None else routes.only,
        )
        is_for_agents = routes.audience is Audience.SUPPORT
        application.add_handlers(handlers, FALLBACK if routes.is_fallback else group if is_for_agents else 0)


def _handlers_by_group(features: Sequence[Feature]) -> Iterator[tuple[int, Handler]]:
    """Yield the features' other handlers, each with its group."""
    for phase, first in GROUPS.items():
        handlers = (handler for feature in features for handler in feature.handlers.get(phase, ()))
        yield from enumerate(handlers, first)


def collect_routes(features: Sequence[Feature]) -> tuple[Routes[Any], ...]:
    """Return the routes of all features."""
    return tuple(routes for feature in features for routes in feature.routes)


def list_routes(features: Sequence[Feature]) -> list[Route]:
    """Return every command and button, with who may use it."""
    return [route for routes in collect_routes(features) for route in routes.list_routes()]


def create_processor(
    application: Application,  # type: ignore[type-arg]
    message_limit: MessageLimit,
    sessions: SessionLoader,
    activity: ActivityIndicator,
) -> Callable[[Update], Awaitable[None]]:
    """Return the function that handles one update from a chat's queue."""

    async def process(update: Update) -> None:
        if await message_limit.rejects(update):
            return
        session = await sessions.load(update)
        if session is None:
            if update.callback_query is not None:
                await sessions.answer_press(update.callback_query)
            return
        token = SESSION.set(session)
        try:
            if session.damage is not None:
                _check_not_left(session, session.damage)
                await _report_unreadable(session, session.damage, {})
                return
            async with _show_activity(activity, update):
                await application.process_update(update)
            if session.failure is not None:
                raise session.failure
            await session.acknowledge()
            await sessions.finish(session)
        finally:
            SESSION.reset(token)

    return process


def _show_activity(activity: ActivityIndicator, update: Update) -> AbstractAsyncContextManager[None]:
    """Show in a private chat that its message or button is being handled. In groups, nothing is shown."""
    chat = update.effective_chat
    is_asked = update.message is not None or update.callback_query is not None
    return activity.show_in(chat.id) if chat is not None and chat.type == Chat.PRIVATE and is_asked else nullcontext()


async def _open_for_everyone(_: Update) -> Session | None:
    return SESSION.get()


async def _open_for_operators(_: Update) -> Session | None:
    session = SESSION.get()
    return session if session.is_operator else None


OPEN_SESSION: dict[Audience, OpenSession[Session]] = {
    Audience.EVERYONE: _open_for_everyone,
    Audience.OPERATORS: _open_for_operators,
}


async def _explain_stale_button(_: Update) -> None:
    """Answer that the button is out of date. Users who may not use a button get the same answer."""
    await SESSION.get().explain("users.stale.button")


async def _answer_unknown_button(update: Update, _: Context) -> None:
    await _explain_stale_button(update)


def _error_handler(features: Sequence[Feature]) -> Callable[[object, Context], Coroutine[Any, Any, None]]:
    texts = {table: key for feature in features for table, key in feature.unreadable_rows.items()}

    async def report_failure(_: object, context: Context) -> None:
        """Report a failure to the user, and log the kind of error. The chat's next update is handled as usual."""
        session = SESSION.get(None)
        try:
            await _report(context.error, session, texts)
        except (StoreDown, LeaseLost) as error:
            # The queue of this process or another one handles the same update again, so the user gets no message.
            if session is not None:
                session.failure = error
        # Otherwise PTB would pass the update on to the handlers of the next groups, which aren't meant for it.
        raise ApplicationHandlerStop

    return report_failure


async def _report(error: Exception | None, session: Session | None, texts: Mapping[str, str]) -> None:
    """Log the kind of error, and tell the user. Raise an error after which the update is handled again."""
    if session is not None and error is not None:
        _check_not_left(session, error)
    if session is not None and isinstance(error, RowUnreadable) and error.table in texts:
        await _report_unreadable(session, error, texts)
        return
    if session is not None and isinstance(error, StoreDown | LeaseLost):
        raise error
    # The exception's text can quote what a user wrote, so it isn't logged.
    log.error("update_failed", error=type(error).__name__, where=list_frames(error, FRAMES_LOGGED) if error else [])
    if session is not None:
        await session.acknowledge()
        await session.show_below(Screen(session.t("users.chat.broken")))


def _check_not_left(session: Session, error: Exception) -> None:
    """Raise an error about a row that only another process can read, if that one will get the update."""
    may_be_left = session.attempt is not None and session.attempt.may_be_left
    if may_be_left and isinstance(error, RowUnreadable) and error.is_for_others:
        raise error


async def _report_unreadable(session: Session, error: RowUnreadable, texts: Mapping[str, str]) -> None:
    """Explain to the user what can't be read. Retrying doesn't help, so the update isn't retried."""
    log.error("update_failed", error=type(error).__name__, where=list_frames(error, FRAMES_LOGGED))
    await session.acknowledge()
    if error.table == drafts.name:
        await session.report_damage()
    else:
        await session.show_below(Screen(session.t(texts[error.table])))

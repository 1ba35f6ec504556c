"""How an update comes in: who is it, which draft is open, then through the handlers.

Order of the handlers: features take corrections of what was written; `FORGETS` ends a typed question that something
else has overtaken; from `SUPPORT` on come the commands and buttons of support agents; features take typed answers;
group 0 takes what works at any point of any conversation (buttons, commands that ask no questions); then
come the conversation, what is said outside one and other messages in groups; `FALLBACK` takes buttons that the
conversation has left; `LAST` explains presses of buttons that nobody knows.
"""

from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from typing import Any

import structlog
from telegram import Update
from telegram.ext import (
    Application,
    CallbackQueryHandler,
)

from bot.core.error_location import frames
from bot.infra.db.errors import RowUnreadable, StoreDown
from bot.infra.feature import Feature, Phase
from bot.infra.telegram.inbound.message_limit import MessageLimit
from bot.infra.telegram.ui.router import PRIVATE, Audience, Context, Handler, OpenSession, Route, Routes
from bot.infra.telegram.ui.screen import Screen
from bot.users import questions
from bot.users.session import SESSION, Session
from bot.users.session_loader import SessionLoader

log = structlog.get_logger(__name__)

FRAMES_LOGGED = 4
FORGETS, SUPPORT, FALLBACK, LAST = -10_100, -10_000, 10_000, 11_000
GROUPS = {Phase.CORRECTIONS: -10_150, Phase.QUESTIONS: -9_000, Phase.FEATURES: 1_000, Phase.CONVERSATION: 5_000}
"""The first of PTB's groups of each phase. Each handler has a group of its own: one that declines hinders no other."""


def register(application: Application, features: Sequence[Feature]) -> None:  # type: ignore[type-arg]
    """Put every handler in its place."""
    application.add_handler(questions.forget_handler(), group=FORGETS)
    application.add_handler(_answer_handler(features))
    _add_routes(application, features)
    for group, handler in _in_phases(features):
        application.add_handler(handler, group=group)
    application.add_handler(CallbackQueryHandler(_unknown_press), group=LAST)
    application.add_error_handler(_error_handler(features))


def _add_routes(application: Application, features: Sequence[Feature]) -> None:  # type: ignore[type-arg]
    """Add the handlers of the routes, those of support agents in groups of their own.

    A command of support agents that others write is left to the handlers behind it.
    """
    for group, routes in enumerate(routes_of(features), SUPPORT):
        handlers = routes.build_handlers(
            routes.open_session or MAY_USE[routes.audience],
            routes.refuse or _explain,
            PRIVATE if routes.only is None else routes.only,
        )
        of_agents = routes.audience is Audience.SUPPORT
        application.add_handlers(handlers, FALLBACK if routes.is_fallback else group if of_agents else 0)


def _answer_handler(features: Sequence[Feature]) -> Handler:
    return questions.answer_handler({name: answer for feature in features for name, answer in feature.answers.items()})


def _in_phases(features: Sequence[Feature]) -> Iterator[tuple[int, Handler]]:
    """Yield the features' other handlers, each with its group."""
    for phase, first in GROUPS.items():
        handlers = (handler for feature in features for handler in feature.handlers.get(phase, ()))
        yield from enumerate(handlers, first)


def routes_of(features: Sequence[Feature]) -> tuple[Routes[Any], ...]:
    """Return all declared routes."""
    return tuple(routes for feature in features for routes in feature.routes)


def table(features: Sequence[Feature]) -> list[Route]:
    """Return every declared route, for printing."""
    return [route for routes in routes_of(features) for route in routes.list_routes()]


def processor(
    application: Application,  # type: ignore[type-arg]
    message_limit: MessageLimit,
    sessions: SessionLoader,
) -> Callable[[Update], Awaitable[None]]:
    """What the queues hand each update to."""

    async def process(update: Update) -> None:
        if await message_limit.rejects(update):
            return
        session = await sessions.load(update)
        if session is None:
            return
        token = SESSION.set(session)
        try:
            if session.damage is not None:
                await _report_unreadable(session, session.damage, {})
                return
            await application.process_update(update)
            if session.failure is not None:
                raise session.failure
            await session.acknowledge()
            await sessions.finish(session)
        finally:
            SESSION.reset(token)

    return process


async def _anyone(_: Update) -> Session | None:
    return SESSION.get()


async def _operator(_: Update) -> Session | None:
    session = SESSION.get()
    return session if session.is_operator else None


MAY_USE: dict[Audience, OpenSession[Session]] = {Audience.EVERYONE: _anyone, Audience.OPERATORS: _operator}


async def _explain(_: Update) -> None:
    """Answer a press by somebody who may not as a button that means nothing any more."""
    await SESSION.get().explain("stale.button")


async def _unknown_press(update: Update, _: Context) -> None:
    await _explain(update)


def _error_handler(features: Sequence[Feature]) -> Callable[[object, Context], Coroutine[Any, Any, None]]:
    texts = {table: key for feature in features for table, key in feature.unreadable_rows.items()}

    async def apologise(_: object, context: Context) -> None:
        """Report a failure: tell the user, log the kind of error, and let the chat go on."""
        error, session = context.error, SESSION.get(None)
        if isinstance(error, RowUnreadable) and error.table in texts and session is not None:
            await _report_unreadable(session, error, texts)
            return
        if isinstance(error, StoreDown) and session is not None:
            # The queue tries the same update again, so the user isn't told.
            session.failure = error
            return
        # Without the exception's text, which may quote what a user wrote.
        log.error("update_failed", error=type(error).__name__, where=frames(error, FRAMES_LOGGED) if error else [])
        if session is not None:
            await session.acknowledge()
            await session.say(Screen(session.t("talk.broken")))

    return apologise


async def _report_unreadable(session: Session, error: RowUnreadable, texts: Mapping[str, str]) -> None:
    """Tell the user what can't be read. Trying again doesn't help."""
    log.error("update_failed", error=type(error).__name__, where=frames(error, FRAMES_LOGGED))
    await session.acknowledge()
    if error.is_of_draft:
        await session.report_damage()
    else:
        await session.say(Screen(session.t(texts[error.table])))

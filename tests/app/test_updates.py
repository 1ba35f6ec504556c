"""How an update passes through the handlers: after one has failed, no other handler gets it."""

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

import pytest
from telegram import CallbackQuery, Chat, Message, Update, User
from telegram.ext import Application, ApplicationBuilder, CommandHandler, MessageHandler, filters

from bot.infra.db.errors import RowForOthers, RowUnreadable, StoreDown
from bot.infra.db.fence import LeaseLost
from bot.infra.feature import Feature, HandlerPhase
from bot.infra.telegram.ui.router import Routes
from bot.infra.telegram.ui.screen import Screen
from bot.updates import register_handlers
from bot.users.buttons import NewOrderButton
from bot.users.session import SESSION, Session, as_handler

EMMA = User(1001, "Emma", is_bot=False)
CHAT = Chat(EMMA.id, Chat.PRIVATE)
NOW = datetime(2026, 3, 1, tzinfo=UTC)


class FakeSession:
    """A session that records what the user is shown."""

    is_private = True
    damage = None
    attempt: Any = None

    def __init__(self, fails_with: Exception | None = None) -> None:
        self.failure: Exception | None = None
        self.t = lambda key: key
        self.user = SimpleNamespace(id=EMMA.id, open_question=None)
        self.chat_id = EMMA.id
        self.shown: list[str] = []
        self._fails_with = fails_with

    async def acknowledge(self, text: str | None = None) -> None:
        self.shown.append(text or "")

    async def show_below(self, screen: Screen) -> None:
        if self._fails_with is not None:
            raise self._fails_with
        self.shown.append(screen.text)


class Handlers:
    """Handlers in two groups. The first one fails."""

    def __init__(self, error: Exception) -> None:
        self.error = error
        self.reached: list[str] = []

    def feature(self) -> Feature:
        """Return a feature with later handlers that take every update that reaches them."""
        routes, fallback = Routes[Session](), Routes[Session](is_fallback=True)
        routes.add_button(NewOrderButton, self._fail)
        fallback.add_button(NewOrderButton, self._take_later)
        return Feature(
            name="checkout",
            routes=(routes, fallback),
            handlers={
                HandlerPhase.FEATURES: (CommandHandler("fails", as_handler(self._fail)),),
                HandlerPhase.CONVERSATION: (MessageHandler(filters.ALL, as_handler(self._take_later)),),
            },
            unreadable_rows={"orders": "orders.unreadable"},
        )

    async def _fail(self, _: Session, __: object) -> None:
        self.reached.append("first")
        raise self.error

    async def _take_later(self, _: Session, __: object) -> None:
        self.reached.append("later")


def update_with(application: Application[Any, Any, Any, Any, Any, Any], what: str) -> Update:
    message = Message(1, NOW, CHAT, from_user=EMMA, text="/fails" if what == "command" else "halo")
    message.set_bot(application.bot)
    if what == "command":
        body: dict[str, Any] = message.to_dict()
        body["entities"] = [{"type": "bot_command", "offset": 0, "length": len("/fails")}]
        return Update(1, message=Message.de_json(body, application.bot))
    query = CallbackQuery("1", EMMA, "1", message=message, data=NewOrderButton().pack())
    return Update(1, callback_query=query)


async def handle(error: Exception, what: str, session: FakeSession | None = None) -> tuple[Handlers, FakeSession]:
    """Let an update meet a handler that fails."""
    application, handlers, session = (
        ApplicationBuilder().token("1:A").build(),
        Handlers(error),
        session or FakeSession(),
    )
    application._initialized = True  # without Telegram
    application.bot._bot_user = User(1, "Kirim", is_bot=True, username="kirim_bot")
    register_handlers(application, [handlers.feature()])
    token = SESSION.set(cast("Session", session))
    try:
        await application.process_update(update_with(application, what))
    finally:
        SESSION.reset(token)
    return handlers, session


@pytest.mark.parametrize("what", ["command", "button"])
@pytest.mark.parametrize("error", [StoreDown(), LeaseLost()])
async def test_an_update_that_the_database_failed_is_left_for_the_next_attempt(error: Exception, what: str) -> None:
    handlers, session = await handle(error, what)
    assert handlers.reached == ["first"]
    assert session.failure is error
    assert session.shown == []


@pytest.mark.parametrize("what", ["command", "button"])
async def test_a_mistake_of_ours_is_reported_once_and_no_other_handler_takes_the_update(what: str) -> None:
    handlers, session = await handle(KeyError("ours"), what)
    assert handlers.reached == ["first"]
    assert session.failure is None
    assert session.shown == ["", "users.chat.broken"]


@pytest.mark.parametrize("what", ["command", "button"])
async def test_a_row_that_cannot_be_read_is_reported_once(what: str) -> None:
    unreadable = RowUnreadable()
    unreadable.table = "orders"
    handlers, session = await handle(unreadable, what)
    assert handlers.reached == ["first"]
    assert session.failure is None
    assert session.shown == ["", "orders.unreadable"]


@pytest.mark.parametrize("what", ["command", "button"])
@pytest.mark.parametrize("may_be_left", [True, False])
async def test_a_row_that_others_can_read_is_reported_only_if_none_of_them_gets_the_update(
    what: str, *, may_be_left: bool
) -> None:
    for_others, session = RowForOthers("its key is missing"), FakeSession()
    for_others.table, session.attempt = "orders", SimpleNamespace(may_be_left=may_be_left)
    handlers, session = await handle(for_others, what, session)
    assert handlers.reached == ["first"]
    assert session.failure is (for_others if may_be_left else None)
    assert session.shown == ([] if may_be_left else ["", "orders.unreadable"])


async def test_a_database_that_fails_during_the_report_makes_another_attempt() -> None:
    failure = StoreDown()
    handlers, session = await handle(KeyError("ours"), "button", FakeSession(failure))
    assert handlers.reached == ["first"]
    assert session.failure is failure

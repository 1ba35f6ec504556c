"""How an update passes through the handlers: after one has failed, no other handler gets it."""

from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import cast

import pytest
from telegram import Update

from bot.infra.db.errors import RowUnreadable, StoreDown
from bot.infra.db.fence import LeaseLost
from bot.infra.db.vault import UnknownKey
from bot.infra.telegram.ui.routes import Routes
from bot.infra.telegram.ui.screen import Screen
from bot.updates import handle, index_routes, show_missed
from bot.users.session import Session

EMMA = 1001
UPDATE = Update(1)


class FakeSession:
    """A session that records what the user is shown."""

    def __init__(self, fails_with: Exception | None = None) -> None:
        self.t = lambda key: key
        self.user = SimpleNamespace(id=EMMA, open_question=None)
        self.chat_id = EMMA
        self.shown: list[str] = []
        self._fails_with = fails_with

    async def acknowledge(self, text: str | None = None) -> None:
        self.shown.append(text or "")

    async def send_message(self, screen: Screen) -> None:
        if self._fails_with is not None:
            raise self._fails_with
        self.shown.append(screen.text)


async def process(error: Exception, session: FakeSession | None = None) -> FakeSession:
    """Let an update meet a handler that fails."""
    session = session or FakeSession()

    async def fail(_: object, __: object) -> None:
        raise error

    await handle(cast("Session", session), UPDATE, fail, {"orders": "orders.unreadable"})
    return session


@pytest.mark.parametrize("error", [StoreDown(), LeaseLost(), UnknownKey("0a1b2c3d")])
async def test_an_update_that_the_database_failed_is_left_for_the_next_attempt(error: Exception) -> None:
    session = FakeSession()
    with pytest.raises(type(error)):
        await process(error, session)
    assert session.shown == []


async def test_a_mistake_of_ours_is_reported_once() -> None:
    session = await process(KeyError("ours"))
    assert session.shown == ["", "users.chat.broken"]


async def test_a_row_that_cannot_be_read_is_reported_once() -> None:
    unreadable = RowUnreadable()
    unreadable.table = "orders"
    session = await process(unreadable)
    assert session.shown == ["", "orders.unreadable"]


async def test_a_database_that_fails_during_the_report_makes_another_attempt() -> None:
    with pytest.raises(StoreDown):
        await process(KeyError("ours"), FakeSession(StoreDown()))


def failing_with(error: Exception) -> Callable[[Session], Awaitable[None]]:
    """Return what fails to show what a user missed."""

    async def show(_: Session) -> None:
        raise error

    return show


@pytest.mark.parametrize("error", [KeyError("ours"), RowUnreadable()])
async def test_an_answered_update_is_not_handled_again_because_of_what_its_user_missed(error: Exception) -> None:
    session = FakeSession()
    await show_missed(cast("Session", session), failing_with(error))
    assert session.shown == []


@pytest.mark.parametrize("error", [StoreDown(), LeaseLost()])
async def test_what_the_database_failed_to_show_is_shown_at_the_next_attempt(error: Exception) -> None:
    with pytest.raises(type(error)):
        await show_missed(cast("Session", FakeSession()), failing_with(error))


async def _ignore(_: object, __: object) -> None:
    """Do nothing."""


def test_what_asks_for_a_route_asks_for_one_alone_in_each_place() -> None:
    private, groups = Routes[Session](), Routes[Session](in_private=False, in_groups=True)
    for routes in (private, groups):
        routes.add_command("help", _ignore, menu={})
    table = index_routes([*private.routes, *groups.routes])
    assert table["help", True] is private.routes[0]
    assert table["help", False] is groups.routes[0]
    private.add_command("help", _ignore, menu={})
    with pytest.raises(ValueError, match="/help"):
        index_routes(private.routes)

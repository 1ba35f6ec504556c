"""The composition root: its parts are connected, so an event of one reaches the others."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest
from telegram import CallbackQuery, Chat, Message, Update, User
from typer.testing import CliRunner

from bot import __version__
from bot.__main__ import cli
from bot.app import App
from bot.infra.outbox.model import NotificationKind, Sent, Undeliverable
from bot.infra.outbox.rendering import Renderers
from bot.infra.process_state import ProcessState
from bot.infra.telegram.inbound.message_limit import MessageLimit
from bot.infra.telegram.outbound.activity import ActivityIndicator
from bot.orders.buttons import OrderAction
from bot.orders.notification_kinds import OrderNotification
from bot.orders.notification_queue import order_notifications
from bot.orders.repository import OrderRepository
from bot.recipients.buttons import RecipientAction
from bot.settlement.client.errors import RateLimited
from bot.settlement.model import SlowDown
from bot.staff.alarm_model import AlarmKind
from bot.staff.alarm_repository import AlarmRepository
from bot.updates import create_processor
from bot.web_servers import WebServers
from tests.app.built_app import built_app
from tests.infra.builders import as_stored
from tests.orders.builders import an_open_order
from tests.texts import text

EMMA = 1001
TOKEN = "abcdefghijklmnopqrstuvwxyz_-0123"


@pytest.fixture
async def app(file: str) -> AsyncIterator[App]:
    async with built_app(file, http_port=8080, public_url="https://pay.example") as app:  # the port isn't opened
        yield app


async def test_the_orders_of_a_user_who_writes_are_polled_first(app: App) -> None:
    handled: list[Update] = []

    async def process_update(update: Update) -> None:
        handled.append(update)

    chat, user = Chat(EMMA, Chat.PRIVATE), User(EMMA, "Emma", is_bot=False)
    update = Update(1, message=Message(1, datetime.now(UTC), chat, from_user=user, text="halo"))
    application = cast("Any", SimpleNamespace(process_update=process_update))
    message_limit = MessageLimit(0, app.clock, app.infra.messenger, app.readers.translator_for)
    await create_processor(application, message_limit, app.sessions, ActivityIndicator(app.infra.messenger))(update)
    assert handled == [update]
    assert app.orders.poller._viewed.users() == (EMMA,)


async def test_a_press_on_a_message_that_telegram_does_not_show_is_answered(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered: list[tuple[str, str | None]] = []

    async def answer_press(query_id: str, text_of_answer: str | None = None) -> None:
        answered.append((query_id, text_of_answer))

    monkeypatch.setattr(app.infra.messenger, "answer_press", answer_press)
    user = User(EMMA, "Emma", is_bot=False, language_code="id")
    update = Update(1, callback_query=CallbackQuery("77", user, "1", data="o:1", inline_message_id="x"))
    message_limit = MessageLimit(0, app.clock, app.infra.messenger, app.readers.translator_for)
    nothing = cast("Any", None)
    await create_processor(nothing, message_limit, app.sessions, ActivityIndicator(app.infra.messenger))(update)
    assert answered == [("77", text("users.stale.button", "id"))]


async def test_an_order_whose_page_is_open_is_polled_first(app: App) -> None:
    order = an_open_order(page_token=TOKEN)
    async with app.database.transaction() as tx:
        assert await OrderRepository(tx).add(order)
    servers = WebServers(app, ProcessState())
    servers.show_pages(cast("Any", None))  # no update is received
    transport = httpx.ASGITransport(servers.public)
    async with httpx.AsyncClient(transport=transport, base_url="https://pay.example") as browser:
        assert app.orders.poller._viewed.references() == ()
        (await browser.get(f"/p/{TOKEN}")).raise_for_status()
        assert app.orders.poller._viewed.references() == (order.reference,)


async def test_a_rejection_of_anybodys_request_halves_the_budget_of_the_poller(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def reject(*_: object, **__: object) -> None:
        raise RateLimited(429, "slow down")

    monkeypatch.setattr(app.client, "order", reject)
    assert app.orders.poller._budget.per_second == 10
    with pytest.raises(SlowDown):
        await app.settlement.look_up("svc-1")
    assert app.orders.poller._budget.per_second == pytest.approx(5, abs=0.5)


def test_each_action_of_an_order_has_a_handler(app: App) -> None:
    above = {action for feature in app.features for action in feature.order_actions}
    assert app.orders.handlers.actions | above == set(OrderAction)
    assert app.orders.handlers.actions & above == set()


def test_each_button_of_a_recipient_does_something(app: App) -> None:
    above = {action for feature in app.features for action in feature.recipient_actions}
    assert app.recipients.handlers.actions | above == set(RecipientAction)
    assert app.recipients.handlers.actions & above == set()


def test_each_kind_of_message_has_a_renderer(app: App) -> None:
    ours = (kinds for kinds in NotificationKind.__subclasses__() if kinds.__module__.startswith("bot."))
    assert app.renderers.kinds == {kind for kinds in ours for kind in kinds}


@pytest.mark.parametrize("kind", [OrderNotification.PAID, OrderNotification.FAILED, OrderNotification.STUCK])
async def test_operators_hear_of_a_message_about_money_that_telegram_refuses(app: App, kind: OrderNotification) -> None:
    order, now = an_open_order(), app.clock.now()
    (notification,) = order_notifications(order, (kind,), now)
    async with app.database.transaction() as tx:
        assert await OrderRepository(tx).add(order)
        await app.delivery._run_follow_ups(tx, [as_stored(notification)], Undeliverable("message is too long"), now)
        assert [alarm.kind for alarm in await AlarmRepository(tx).open()] == [AlarmKind.MESSAGE_REFUSED]


def test_no_kind_of_message_has_two_renderers(app: App) -> None:
    async def render(*_: object) -> Sent:
        return Sent()

    with pytest.raises(ValueError, match="two renderers for paid"):
        Renderers(
            app.readers.open,
            {OrderNotification.PAID: render, OrderNotification.SENT: render},
            {OrderNotification.PAID: render},
        )


def test_the_command_tells_its_version() -> None:
    result = CliRunner().invoke(cli, ["--version"])
    assert (result.exit_code, result.output) == (0, f"Kirim {__version__}\n")

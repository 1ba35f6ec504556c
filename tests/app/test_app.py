"""The composition root: its parts are connected, so an event of one reaches the others."""

from collections.abc import AsyncIterator
from types import SimpleNamespace

import pytest
from telegram import CallbackQuery, Update, User
from typer.testing import CliRunner

from bot import __version__
from bot.__main__ import cli
from bot.app import App
from bot.infra.outbox.model import NotificationKind, Sent
from bot.infra.outbox.rendering import Renderers
from bot.infra.telegram.inbound.message_limit import MessageLimit
from bot.orders.notifications import OrderNotification
from bot.settlement.errors import SlowDown
from bot.updates import UpdateRouter
from tests.app.built_app import built_app
from tests.texts import text

EMMA = 1001


@pytest.fixture
async def app(file: str) -> AsyncIterator[App]:
    async with built_app(file, http_port=8080, public_url="https://pay.example") as app:  # the port isn't opened
        yield app


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
    await UpdateRouter(app, message_limit).process(update)
    assert answered == [("77", text("users.stale.button", "id"))]


async def test_a_rejection_of_anybodys_request_halves_the_budget_of_the_poller(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def reject(*_: object, **__: object) -> None:
        raise SlowDown(reason="slow down")

    monkeypatch.setattr(app.settlement, "_open_transport", lambda: SimpleNamespace(send=reject))
    assert app.orders.poller._budget.per_second == 10
    with pytest.raises(SlowDown):
        await app.settlement.look_up("svc-1")
    assert app.orders.poller._budget.per_second == pytest.approx(5, abs=0.5)


def test_each_kind_of_message_has_a_renderer(app: App) -> None:
    ours = (kinds for kinds in NotificationKind.__subclasses__() if kinds.__module__.startswith("bot."))
    assert app.renderers.kinds == {kind for kinds in ours for kind in kinds}


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

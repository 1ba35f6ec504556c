"""Each outcome of a message, from a Bot API server over real HTTP."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from structlog.testing import capture_logs
from telegram.ext import ExtBot

from bot.infra.telegram.outbound.limiter import Limits, Priority, SendLimiter
from bot.infra.telegram.outbound.sender import (
    Delivered,
    Gone,
    Messenger,
    Moved,
    NotModified,
    TryLater,
    Unreachable,
)
from bot.infra.telegram.transport import TelegramRequest
from bot.infra.telegram.ui.screen import Button
from tests.pictures import png
from tests.sandbox.telegram_sandbox import EMMA, Running, running

KEYBOARD = (
    (Button("Pay", data="pay:1", style="success"), Button("Copy", copy="bc1q…")),
    (Button("Page", url="https://example.org"),),
)


@asynccontextmanager
async def messenger(url: str, token: str, **timeouts: Any) -> AsyncIterator[Messenger]:
    request = TelegramRequest(**{"read_timeout": 5.0} | timeouts)
    limiter = SendLimiter(Limits(chat_per_second=1000))
    bot = ExtBot[Priority](token, f"{url}/bot", request=request, rate_limiter=limiter)
    async with request:
        yield Messenger(bot)
        await bot.shutdown()


@pytest.fixture
async def server() -> AsyncIterator[Running]:
    async with running() as started:
        await started.says(EMMA, "/start")
        yield started


@pytest.fixture
async def telegram(server: Running) -> AsyncIterator[Messenger]:
    async with messenger(server.url, server.settings.bot_token) as ready:
        yield ready


async def fault(server: Running, kind: str, method: str = "sendMessage", **more: Any) -> None:
    await server.posts("/sandbox/faults", {"fault": kind, "method": method, **more})


async def texts(server: Running) -> list[str]:
    return [message["text"] for message in await server.sees(EMMA) if "text" in message]


async def sent(telegram: Messenger, html: str = "Hello", **more: Any) -> int:
    outcome = await telegram.send_text(EMMA, html, priority="talk", **more)
    assert isinstance(outcome, Delivered)
    assert outcome.message_id is not None
    return outcome.message_id


async def test_a_message_arrives_with_its_markup_and_buttons(server: Running, telegram: Messenger) -> None:
    message_id = await sent(telegram, "<b>500.000</b> &amp; https://example.org", keyboard=KEYBOARD)
    shown = (await server.sees(EMMA))[-1]
    assert (shown["message_id"], shown["text"]) == (message_id, "500.000 & https://example.org")
    assert shown["link_preview_options"] == {"is_disabled": True}
    (pay, copy), (page,) = shown["reply_markup"]["inline_keyboard"]
    assert pay == {"text": "Pay", "callback_data": "pay:1", "style": "success"}
    assert copy == {"text": "Copy", "copy_text": {"text": "bc1q…"}}
    assert page["url"] == "https://example.org/"


async def test_a_picture_arrives_with_its_caption(server: Running, telegram: Messenger) -> None:
    outcome = await telegram.send_photo(EMMA, png(30, 30), "<i>Scan</i>", KEYBOARD, priority="money")
    assert isinstance(outcome, Delivered)
    shown = (await server.sees(EMMA))[-1]
    assert shown["caption"] == "Scan"
    assert shown["photo"]
    assert outcome.message_id is not None
    edited = await telegram.edit_caption(EMMA, outcome.message_id, "Paid", priority="money")
    assert edited == Delivered(outcome.message_id)
    assert (await server.sees(EMMA))[-1]["caption"] == "Paid"


async def test_a_picture_is_uploaded_once_and_takes_the_place_of_another(server: Running, telegram: Messenger) -> None:
    first, second = png(30, 30), png(40, 30)
    outcome = await telegram.send_photo(EMMA, first, "One", KEYBOARD, priority="talk")
    assert isinstance(outcome, Delivered)
    assert outcome.message_id is not None
    assert outcome.photo_id == _photo(await server.sees(EMMA))
    for picture, caption in ((second, "Two"), (first, "<b>One</b> again")):
        assert (
            await telegram.edit_photo(EMMA, outcome.message_id, picture, caption, KEYBOARD, priority="talk") == outcome
        )
    shown = (await server.sees(EMMA))[-1]
    assert (shown["caption"], _photo([shown])) == ("One again", outcome.photo_id)
    assert (
        await telegram.edit_photo(EMMA, outcome.message_id, first, "<b>One</b> again", KEYBOARD, priority="talk")
        == NotModified()
    )
    assert isinstance(await telegram.send_photo(EMMA, first, "Once more", priority="talk"), Delivered)
    assert _photo(await server.sees(EMMA)) == outcome.photo_id


def _photo(messages: list[dict[str, Any]]) -> str:
    return str(messages[-1]["photo"][-1]["file_id"])


async def test_a_message_that_is_no_more_is_gone(telegram: Messenger) -> None:
    message_id = await sent(telegram)
    await telegram.delete(EMMA, message_id, priority="talk")
    assert await telegram.edit_text(EMMA, message_id, "Changed", priority="talk") == Gone()
    assert await telegram.edit_keyboard(EMMA, message_id, KEYBOARD, priority="talk") == Gone()
    assert await telegram.delete(EMMA, message_id, priority="talk") == Gone()


async def test_whoever_blocked_the_bot_is_unreachable(server: Running, telegram: Messenger) -> None:
    await server.people.patch(f"/sandbox/people/{EMMA}", json={"blocked": True})
    outcome = await telegram.send_text(EMMA, "Hello", priority="bulk")
    assert isinstance(outcome, Unreachable)
    assert "blocked" in outcome.reason


@pytest.mark.parametrize("chat", [4242, -1004242])
async def test_a_chat_that_nobody_knows_is_unreachable(telegram: Messenger, chat: int) -> None:
    assert isinstance(await telegram.send_text(chat, "Hello", priority="talk"), Unreachable)


async def test_a_refusal_for_frequency_says_when_and_that_nothing_was_sent(
    server: Running, telegram: Messenger
) -> None:
    await fault(server, "429", retry_after=77)
    assert await telegram.send_text(EMMA, "Hello", priority="money") == TryLater(77.0)


@pytest.mark.parametrize(
    ("kind", "arrives"), [("drop_before", False), ("drop_after", True), ("500", False), ("html", False)]
)
async def test_a_call_without_an_answer_may_have_arrived(
    server: Running, telegram: Messenger, kind: str, *, arrives: bool
) -> None:
    await fault(server, kind, times=1)
    outcome = await telegram.send_text(EMMA, "once", priority="money")
    assert isinstance(outcome, TryLater)
    assert outcome.maybe_sent
    assert (await texts(server)).count("once") == arrives
    await sent(telegram, "and the way is free again")


async def test_a_refused_token_is_said_without_the_token(server: Running) -> None:
    token = "999999:" + "z" * 35
    with capture_logs() as logs:
        async with messenger(server.url, token) as stranger:
            outcome = await stranger.send_text(EMMA, "Hello", priority="money")
    assert isinstance(outcome, TryLater)
    assert not outcome.maybe_sent
    assert [line["event"] for line in logs] == ["bot_token_rejected"]
    assert "zzz" not in str(logs)


async def group(server: Running, kind: str = "group") -> int:
    chat = await server.posts("/sandbox/chats", {"title": "Friends", "type": kind, "members": [EMMA]})
    return int(chat["id"])


async def test_a_group_that_moved_says_where_to(server: Running, telegram: Messenger) -> None:
    chat = await group(server)
    moved = await server.posts(f"/sandbox/chats/{chat}/migrate", {})
    assert await telegram.send_text(chat, "Hello", priority="talk") == Moved(moved["id"])
    assert isinstance(await telegram.send_text(moved["id"], "Hello", priority="talk"), Delivered)


async def test_a_group_that_threw_the_bot_out_is_unreachable(server: Running, telegram: Messenger) -> None:
    chat = await group(server, "supergroup")
    await server.posts(f"/sandbox/chats/{chat}/bot", {"from": EMMA, "status": "kicked"})
    assert isinstance(await telegram.send_text(chat, "Hello", priority="talk"), Unreachable)

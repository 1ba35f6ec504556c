"""Delivery of updates to a webhook: in the order of their queue, with the secret, again after an error."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

from tests.sandbox.serving import serving
from tests.sandbox.telegram_sandbox import EMMA, SARI, Running, running
from tests.waiting import TIMEOUT_SECONDS, until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request


BUTTON = {"inline_keyboard": [[{"text": "x", "callback_data": "y"}]]}


class Hook:
    """A bot's webhook with scripted answers. With `opened` it answers only after that."""

    def __init__(self, *answers: Response, opened: asyncio.Event | None = None) -> None:
        self.answers = list(answers)
        self.opened = opened
        self.received: asyncio.Queue[tuple[str | None, dict[str, Any]]] = asyncio.Queue()

    async def answer(self, request: Request) -> Response:
        secret = request.headers.get("x-telegram-bot-api-secret-token")
        await self.received.put((secret, await request.json()))
        if self.opened is not None:
            await self.opened.wait()
        return self.answers.pop(0) if self.answers else Response()

    async def gets(self, count: int) -> list[str]:
        """Return what the next updates are: the text of a message, the data of a press, or the kind of update."""
        async with asyncio.timeout(TIMEOUT_SECONDS):
            return [describe((await self.received.get())[1]) for _ in range(count)]

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[str]:
        async with serving(Starlette(routes=[Route("/hook", self.answer, methods=["POST"])])) as url:
            yield f"{url}/hook"


def describe(update: dict[str, Any]) -> str:
    kind = next(name for name in update if name != "update_id")
    return str(update[kind].get("text") or update[kind].get("data") or kind)


async def shows_a_button(server: Running, person: int) -> int:
    """Let `person` start the bot and get a message with a button. The bot has received its updates."""
    await server.says(person, "/start")
    shown = (await server.calls("sendMessage", chat_id=person, text="x", reply_markup=BUTTON)).json()["result"]
    started = await server.hears()
    await server.hears(offset=started[-1]["update_id"] + 1)
    return int(shown["message_id"])


async def has_no_pending(server: Running) -> bool:
    return not (await server.calls("getWebhookInfo")).json()["result"]["pending_update_count"]


async def test_a_webhook_gets_every_update_once_in_order_with_the_secret() -> None:
    hook = Hook()
    async with running() as server, hook.listening() as url:
        await server.says(EMMA, "before")
        await server.calls("setWebhook", url=url, secret_token="s3cret")
        await server.says(EMMA, "after")
        async with asyncio.timeout(TIMEOUT_SECONDS):
            got = [await hook.received.get() for _ in range(2)]
        info = (await server.calls("getWebhookInfo")).json()["result"]
    assert [(secret, update["message"]["text"]) for secret, update in got] == [
        ("s3cret", "before"),
        ("s3cret", "after"),
    ]
    assert (info["url"], info["pending_update_count"]) == (url, 0)


async def test_messages_of_a_chat_wait_for_each_other_but_not_other_chats_or_presses() -> None:
    opened = asyncio.Event()
    hook = Hook(opened=opened)
    async with running() as server, hook.listening() as url:
        message_id = await shows_a_button(server, EMMA)
        await server.calls("setWebhook", url=url)
        await server.says(EMMA, "first")
        await server.says(EMMA, "second")
        await server.says(SARI, "other chat")
        await server.presses(EMMA, message_id, "y")
        at_once = await hook.gets(3)
        pending = (await server.calls("getWebhookInfo")).json()["result"]["pending_update_count"]
        opened.set()
        later = await hook.gets(1)
        await until(lambda: has_no_pending(server))
    assert sorted(at_once) == ["first", "other chat", "y"]
    assert (pending, later) == (4, ["second"])


@pytest.mark.parametrize(
    ("held", "expected"),
    [("hold_presses_at_least", ["message", "y"]), ("hold_messages_at_least", ["y", "message"])],
)
async def test_presses_or_messages_can_be_held_back_until_they_are_released(held: str, expected: list[str]) -> None:
    hook = Hook()
    async with running() as server, hook.listening() as url:
        message_id = await shows_a_button(server, EMMA)
        await server.posts("/sandbox/deliveries", {held: 3600})
        await server.calls("setWebhook", url=url)
        await server.presses(EMMA, message_id, "y")
        await server.says(EMMA, "message")
        first = await hook.gets(1)
        await server.people.delete("/sandbox/deliveries")
        second = await hook.gets(1)
    assert [*first, *second] == expected


async def test_lost_deliveries_come_again_and_only_lost_answers_reached_the_bot_before() -> None:
    hook = Hook()
    async with running() as server, hook.listening() as url:
        await server.calls("setWebhook", url=url)
        await server.posts("/sandbox/deliveries", {"lost_requests_share": 1})
        await server.says(EMMA, "hello")
        await until(lambda: has_error(server, "Wrong response from the webhook: 503 Service Unavailable"))
        unreached = hook.received.empty()
        await server.posts("/sandbox/deliveries", {"lost_requests_share": 0, "lost_answers_share": 1})
        reached = await hook.gets(1)
        await until(lambda: has_error(server, "Read timeout expired"))
        await server.people.delete("/sandbox/deliveries")
        await until(lambda: has_no_pending(server))
        again = await hook.gets(1)
    assert (unreached, reached, again) == (True, ["hello"], ["hello"])


async def has_error(server: Running, message: str) -> bool:
    return bool((await server.calls("getWebhookInfo")).json()["result"].get("last_error_message") == message)

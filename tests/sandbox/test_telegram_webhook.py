"""Delivery of updates to a webhook: in order, with the secret, again after an error."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.sandbox.serving import serving
from tests.sandbox.telegram_sandbox import EMMA, running
from tests.waiting import TIMEOUT_SECONDS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request


class Hook:
    """A bot's webhook with scripted answers."""

    def __init__(self, *answers: Response) -> None:
        self.answers = list(answers)
        self.received: asyncio.Queue[tuple[str | None, dict[str, Any]]] = asyncio.Queue()

    async def answer(self, request: Request) -> Response:
        secret = request.headers.get("x-telegram-bot-api-secret-token")
        await self.received.put((secret, await request.json()))
        return self.answers.pop(0) if self.answers else Response()

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[str]:
        async with serving(Starlette(routes=[Route("/hook", self.answer, methods=["POST"])])) as url:
            yield f"{url}/hook"


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


async def test_an_update_that_a_webhook_refuses_comes_again() -> None:
    hook = Hook(Response(status_code=500))
    async with running() as server, hook.listening() as url:
        await server.calls("setWebhook", url=url)
        await server.says(EMMA, "hello")
        async with asyncio.timeout(TIMEOUT_SECONDS):
            (_, first), (_, second) = [await hook.received.get() for _ in range(2)]
        info = (await server.calls("getWebhookInfo")).json()["result"]
    assert first == second
    assert info["last_error_message"].startswith("Wrong response from the webhook: 500")


async def test_a_webhook_may_answer_with_a_method() -> None:
    hook = Hook(JSONResponse({"method": "sendMessage", "chat_id": EMMA, "text": "from the hook"}))
    async with running() as server, hook.listening() as url:
        await server.calls("setWebhook", url=url)
        await server.says(EMMA, "hello")
        await server.says(EMMA, "again")
        async with asyncio.timeout(TIMEOUT_SECONDS):
            _ = [await hook.received.get() for _ in range(2)]
        assert "from the hook" in [message["text"] for message in await server.sees(EMMA)]


async def test_setting_a_webhook_can_drop_what_is_pending() -> None:
    async with running() as server:
        await server.says(EMMA, "hello")
        await server.calls("deleteWebhook", drop_pending_updates=True)
        assert await server.hears() == []


async def test_webhook_secrets_that_telegram_would_not_take_are_refused() -> None:
    async with running() as server:
        bad = (await server.calls("setWebhook", url="https://x.co/", secret_token="a b")).json()
        long = (await server.calls("setWebhook", url="https://x.co/", secret_token="a" * 257)).json()
    assert bad["description"] == "Bad Request: secret token contains unallowed characters"
    assert long["description"] == "Bad Request: secret token is too long"

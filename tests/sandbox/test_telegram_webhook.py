"""Delivery of updates to a webhook: in the order of their queue, with the secret, again after an error."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.sandbox.bot_api.updates import create_pauses, find_queue
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


async def test_webhook_secrets_that_telegram_would_not_take_are_refused() -> None:
    async with running() as server:
        bad = (await server.calls("setWebhook", url="https://x.co/", secret_token="a b")).json()
        long = (await server.calls("setWebhook", url="https://x.co/", secret_token="a" * 257)).json()
    assert [each["error_code"] for each in (bad, long)] == [400, 400]


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


async def test_a_webhook_gets_no_more_updates_at_once_than_it_has_connections() -> None:
    opened = asyncio.Event()
    hook = Hook(opened=opened)
    async with running() as server, hook.listening() as url:
        people = await server.posts("/sandbox/crowd", {"count": 5}, "ids")
        await server.calls("setWebhook", url=url, max_connections=2)
        for person in people:
            await server.says(person, str(person))
        at_once = await hook.gets(2)
        waiting = hook.received.qsize()
        opened.set()
        later = await hook.gets(3)
    assert waiting == 0
    assert sorted(at_once + later) == [str(person) for person in people]


async def test_a_chat_that_floods_a_failing_webhook_delays_other_chats_as_on_telegram() -> None:
    hook = Hook(*(Response(status_code=500, headers={"retry-after": "3600"}) for _ in range(2)))
    async with running() as server, hook.listening() as url:
        for text in ("a", "b", "c"):
            await server.says(EMMA, text)
        await server.says(SARI, "other chat")
        await server.calls("setWebhook", url=url, max_connections=1)
        first = await hook.gets(1)
        await server.posts("/sandbox/deliveries", {})
        again = await hook.gets(1)
        await server.posts("/sandbox/deliveries", {})
        rest = await hook.gets(4)
    assert (first, again) == (["a"], ["a"]), "two updates are loaded, both of them Emma's"
    assert rest[0] == "a"
    assert sorted(rest) == ["a", "b", "c", "other chat"]


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


async def test_a_press_that_is_not_accepted_within_150_seconds_is_dropped() -> None:
    hook = Hook()
    async with running() as server, hook.listening() as url:
        message_id = await shows_a_button(server, EMMA)
        await server.posts("/sandbox/deliveries", {"hold_presses_at_least": 3600})
        await server.calls("setWebhook", url=url)
        await server.presses(EMMA, message_id, "y")
        server.clock.pass_(seconds=151)
        await server.people.delete("/sandbox/deliveries")
        await until(lambda: has_no_pending(server))
    assert hook.received.empty()


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


async def test_a_delivery_can_be_sent_twice_at_the_same_time() -> None:
    opened = asyncio.Event()
    hook = Hook(opened=opened)
    async with running() as server, hook.listening() as url:
        await server.posts("/sandbox/deliveries", {"repeated_share": 1})
        await server.calls("setWebhook", url=url)
        await server.says(EMMA, "hello")
        both = await hook.gets(2)
        opened.set()
        await until(lambda: has_no_pending(server))
    assert both == ["hello", "hello"]


async def test_unknown_faults_of_deliveries_are_rejected() -> None:
    async with running() as server:
        unknown = await server.people.post("/sandbox/deliveries", json={"hold": 1})
    assert (unknown.status_code, unknown.json()) == (400, {"error": "unknown: hold"})


async def test_the_same_webhook_again_does_not_interrupt_a_delivery() -> None:
    opened = asyncio.Event()
    hook = Hook(opened=opened)
    async with running() as server, hook.listening() as url:
        await server.calls("setWebhook", url=url, secret_token="s3cret")
        await server.says(EMMA, "hello")
        await hook.gets(1)
        same = (await server.calls("setWebhook", url=url, secret_token="s3cret")).json()["result"]
        opened.set()
        await until(lambda: has_no_pending(server))
    assert (same, hook.received.empty()) == (True, True)


async def test_only_addresses_that_telegram_accepts_or_of_this_machine_become_webhooks() -> None:
    async with running() as server:
        answers = {
            url: (await server.calls("setWebhook", url=url)).json().get("description")
            for url in (
                "http://example.com/hook",
                "https://example.com:8080/hook",
                "https://example.com:8443/hook",
                "http://127.0.0.1:8080/hook",
                "http://localhost:8080/hook",
            )
        }
    assert [answer for answer in answers.values() if answer] == [
        "Bad Request: bad webhook: An HTTPS URL must be provided for webhook",
        "Bad Request: bad webhook: Webhook can be set up only on ports 80, 88, 443 or 8443",
    ]


def test_the_first_retry_is_immediate_and_later_ones_take_up_to_two_minutes() -> None:
    pauses = create_pauses()
    first = [next(pauses) for _ in range(7)]
    later = [next(pauses) for _ in range(20)]
    assert first == [0, 2, 4, 8, 16, 32, pytest.approx(64, abs=4)]
    assert all(60 <= pause <= 120 for pause in later)


def test_each_kind_of_update_has_its_queue() -> None:
    texts = [
        '{"update_id": 1, "message": {"chat": {"id": 7}, "from": {"id": 8}}}',
        '{"update_id": 2, "edited_message": {"chat": {"id": 7}, "from": {"id": 8}}}',
        '{"update_id": 3, "callback_query": {"from": {"id": 7}, "message": {"chat": {"id": 9}}}}',
        '{"update_id": 4, "my_chat_member": {"chat": {"id": 7}, "from": {"id": 8}}}',
    ]
    assert [find_queue(text) for text in texts] == [
        ("messages", 7),
        ("messages", 7),
        ("presses", 7),
        ("memberships", 7),
    ]

"""The webhook: what it accepts, the order of its checks, and that it answers after an update is saved."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette

from bot.infra.db.errors import StoreDown
from bot.infra.http import ports, server, webhook
from bot.infra.http.server import MAX_BODY_BYTES, SecurityHeadersMiddleware
from bot.infra.http.webhook import WebhookHandler
from bot.infra.redaction import redact
from bot.infra.telegram.inbound.receiver import UPDATES_RECEIVED, UpdateIntake
from bot.infra.telegram.inbound.webhook import Webhook
from tests.infra.fake_inbox import FakeStore, LoopClock, inbox_in_memory  # noqa: F401  a fixture
from tests.infra.test_receiver import FakeQueues, message
from tests.waiting import TIMEOUT_SECONDS

TOKEN = "123456789:AAF-secret_secret_secret_secret_secret"
WEBHOOK = Webhook.derive(TOKEN, "https://pay.example")
SECRET = {"x-telegram-bot-api-secret-token": WEBHOOK.secret}


class Public:
    """A public server with only the webhook, over a fake inbox."""

    def __init__(self, store: FakeStore | None = None) -> None:
        self.store = store or FakeStore()
        self.queues = FakeQueues()
        self.intake = UpdateIntake(self.store.port, self.queues, LoopClock())
        app = Starlette(routes=[WebhookHandler(WEBHOOK, self.intake).route()])
        self.app = SecurityHeadersMiddleware(app, encrypted=True)
        self.telegram = httpx.AsyncClient(transport=httpx.ASGITransport(self.app), base_url="https://pay.example")

    async def post(self, content: object, headers: dict[str, str] | None = None) -> httpx.Response:
        """Post `content` (bytes or JSON) with the secret token, or with these headers."""
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        return await self.telegram.post(WEBHOOK.path, content=body, headers=SECRET if headers is None else headers)


async def test_an_update_is_saved_and_queued_before_the_empty_answer() -> None:
    public = Public()
    before = UPDATES_RECEIVED.labels("message")._value.get()
    answer = await public.post(message(7, chat=5))
    assert (answer.status_code, answer.content) == (200, b"")
    assert set(public.store.inbox.rows) == {7}
    assert public.queues.submitted == [7]
    assert UPDATES_RECEIVED.labels("message")._value.get() == before + 1


async def test_an_update_that_comes_again_is_accepted_and_changes_nothing() -> None:
    public = Public()
    answers = [(await public.post(message(7, chat=5))).status_code for _ in range(2)]
    assert answers == [200, 200]
    assert public.queues.submitted == [7]
    assert public.queues.reread == [5], "its first delivery may have ended between the commit and the queue"


class SlowFirstStore(FakeStore):
    """A database whose first transaction is committed a while before its caller continues."""

    def __init__(self) -> None:
        super().__init__()
        self._pauses = [0.05]

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Any]:
        async with super().transaction() as tx:
            yield tx
        if self._pauses:
            await asyncio.sleep(self._pauses.pop())


async def test_of_an_update_that_comes_twice_at_once_the_second_waits_for_the_first() -> None:
    """If the queue read the inbox before the first delivery has queued the update, it would handle it twice."""
    public = Public(SlowFirstStore())
    both = await asyncio.gather(public.post(message(7)), public.post(message(7)))
    assert [answer.status_code for answer in both] == [200, 200]
    assert public.queues.calls == ["new", "again"]


async def test_telegram_repeats_an_update_soon_while_the_database_is_away() -> None:
    public = Public()
    public.store.failures = [StoreDown("gone")]
    away = await public.post(message(7))
    back = await public.post(message(7))
    assert (away.status_code, away.headers["retry-after"], back.status_code) == (503, "1", 200)
    assert public.queues.submitted == [7]


async def test_a_database_that_hangs_is_not_waited_for_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook, "SAVE_SECONDS", 0.01)
    public = Public(FakeStore(commits_take=10 * TIMEOUT_SECONDS))
    async with asyncio.timeout(TIMEOUT_SECONDS):
        answer = await public.post(message(7))
    assert answer.status_code == 503
    assert public.queues.submitted == []
    public.store.commits_take = 0
    assert (await public.post(message(7))).status_code == 200
    assert public.queues.submitted == [7]


@pytest.mark.parametrize(
    "headers", [{}, {"x-telegram-bot-api-secret-token": "wrong"}, {"x-telegram-bot-api-secret-token": "\xe9" * 43}]
)
async def test_nothing_is_read_without_the_secret_token(headers: dict[str, str]) -> None:
    public = Public()
    reads, statuses = 0, []

    async def receive() -> dict[str, Any]:
        nonlocal reads
        reads += 1
        return {"type": "http.request", "body": json.dumps(message(7)).encode(), "more_body": False}

    async def send(event: Any) -> None:
        if event["type"] == "http.response.start":
            statuses.append(event["status"])

    raw = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
    place = {"method": "POST", "path": WEBHOOK.path, "root_path": "", "query_string": b""}
    await public.app({"type": "http", "headers": raw, **place}, receive, send)
    assert (statuses, reads, public.queues.submitted) == ([401], 0, [])


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"\xff",
        b"[]",
        b"null",
        b'{"message": {}}',
        b'{"update_id": "7"}',
        b'{"update_id": true}',
        b'{"update_id": 7.0}',
        b'{"update_id": -1}',
        b'{"update_id": 9223372036854775808}',
        b"[" * 100_000,
    ],
)
async def test_what_is_no_update_is_rejected(body: bytes) -> None:
    assert (await Public().post(body)).status_code == 400


@asynccontextmanager
async def served(public: Public) -> AsyncIterator[int]:
    listener = await ports.bind("127.0.0.1", 0)
    async with server.serve(public.app, listener):
        yield listener.getsockname()[1]


async def test_a_body_without_a_length_is_cut_off_when_it_has_become_too_large(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(server, "DISCARD_SECONDS", 0.05)
    public = Public()
    head = f"POST {WEBHOOK.path} HTTP/1.1\r\nhost: x\r\nx-telegram-bot-api-secret-token: {WEBHOOK.secret}\r\n"
    chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    async with asyncio.timeout(TIMEOUT_SECONDS), served(public) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"{head}transfer-encoding: chunked\r\n\r\n".encode() + chunk * (MAX_BODY_BYTES // 0x10000 + 1))
        status = await reader.readline()  # the body hasn't ended
        writer.close()
    assert status.split()[1] == b"413"


def test_path_and_secret_follow_from_the_token_alone_and_do_not_show_it() -> None:
    again, other = Webhook.derive(TOKEN, "https://pay.example"), Webhook.derive(TOKEN + "x", "https://pay.example")
    assert again == WEBHOOK
    assert {WEBHOOK.path, WEBHOOK.secret}.isdisjoint({other.path, other.secret})
    assert WEBHOOK.url == "https://pay.example" + WEBHOOK.path
    assert len(WEBHOOK.path.removeprefix("/telegram/")) == 32
    assert not WEBHOOK.secret.startswith(WEBHOOK.path.removeprefix("/telegram/")), "one doesn't give away the other"
    assert not any(part in f"{WEBHOOK.url}{WEBHOOK.secret}" for part in TOKEN.split(":"))
    assert not any(secret in repr(WEBHOOK) for secret in (WEBHOOK.path, WEBHOOK.secret))


def test_the_path_is_removed_from_logs() -> None:
    assert redact(f"POST {WEBHOOK.url} 200") == "POST https://pay.example/telegram/<token> 200"

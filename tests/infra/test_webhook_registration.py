"""What the leader tells Telegram about the webhook, against the sandbox's Telegram."""

from typing import Any

from structlog.testing import capture_logs

from bot.infra.telegram.inbound.receiver import ALLOWED_UPDATES
from bot.infra.telegram.inbound.webhook import (
    CHECK_SECONDS,
    MAX_CONNECTIONS,
    RETRY_SECONDS,
    Webhook,
    WebhookRegistration,
)
from bot.sandbox.telegram import SANDBOX_TOKEN
from tests.sandbox.telegram_sandbox import EMMA, Running, running

LOOPBACK = "http://127.0.0.1:1"


async def list_calls(server: Running) -> list[str]:
    """Return the calls of the bot about webhooks, without those that only read."""
    calls = (await server.people.get("/sandbox/calls")).json()["calls"]
    return [call["method"] for call in calls if call["method"] in {"setWebhook", "deleteWebhook"}]


async def get_info(server: Running) -> dict[str, Any]:
    info: dict[str, Any] = (await server.calls("getWebhookInfo")).json()["result"]
    return info


async def test_the_webhook_is_set_once_for_each_leader_and_again_when_it_differs() -> None:
    webhook = Webhook.derive(SANDBOX_TOKEN, LOOPBACK)
    async with running() as server:
        registration = WebhookRegistration(server.bot, webhook)
        await registration.begin()
        assert await list_calls(server) == [], "not before the bot can answer there"
        pauses = [await registration.tick() for _ in range(3)]
        once = await list_calls(server)
        info = await get_info(server)
        await registration.begin()
        await registration.tick()
        as_next_leader = await list_calls(server)
        await server.calls("deleteWebhook")
        with capture_logs() as logs:
            await registration.tick()
        restored = await get_info(server)
    assert pauses == [CHECK_SECONDS] * 3
    assert once == ["setWebhook"]
    assert (info["url"], info["max_connections"]) == (webhook.url, MAX_CONNECTIONS)
    assert set(info["allowed_updates"]) == set(ALLOWED_UPDATES)
    assert as_next_leader == ["setWebhook"] * 2
    assert restored["url"] == webhook.url
    assert [(line["event"], line["differed"]) for line in logs] == [("webhook_set", ["url", "max_connections"])]


async def test_polling_deletes_a_webhook_and_only_then_calls_anything() -> None:
    async with running() as server:
        registration = WebhookRegistration(server.bot, None)
        await registration.begin()
        await registration.tick()
        without = await list_calls(server)
        await server.says(EMMA, "hello")
        await server.calls("setWebhook", url=f"{LOOPBACK}/hook")
        with capture_logs() as logs:
            await registration.tick()
        calls = await list_calls(server)
        waiting = await server.hears()
    assert without == []
    assert calls == ["setWebhook", "deleteWebhook"]
    assert "webhook_deleted" in [line["event"] for line in logs]
    assert len(waiting) == 1, "updates that wait are kept"


async def test_an_address_that_telegram_rejects_is_logged_with_the_reason_and_tried_again() -> None:
    webhook = Webhook.derive(SANDBOX_TOKEN, "http://pay.example")
    async with running() as server:
        with capture_logs() as logs:
            pause = await WebhookRegistration(server.bot, webhook).tick()
    (line,) = logs
    assert pause == RETRY_SECONDS
    assert (line["event"], line["error"]) == ("webhook_not_checked", "BadRequest")
    assert "an https url must be provided" in line["reason"]
    assert webhook.path not in str(logs)
    assert webhook.secret not in str(logs)

"""Delivery of updates to the bot's webhook: one at a time, in order, each until it is accepted.

Telegram uses several connections, but a bot must not rely on that, so the sandbox uses one. The first retry is
immediate, later ones are slower and slower. An update older than a day is dropped.
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import httpx
import structlog

from bot.sandbox.bot_api.server.dispatch import run
from bot.sandbox.bot_api.server.errors import ApiError
from bot.sandbox.bot_api.server.params import Params
from bot.sandbox.bot_api.updates import KEPT_SECONDS

if TYPE_CHECKING:
    from bot.sandbox.bot_api.box import Sandbox
    from bot.sandbox.bot_api.model import JsonObject
    from bot.sandbox.bot_api.updates import PendingUpdate

TIMEOUT_SECONDS = 30.0
MAX_PAUSE_SECONDS = 60.0
NOT_IN_ANSWERS = ("get", "setwebhook", "deletewebhook", "close", "logout")

log = structlog.get_logger(__name__)


async def keep_delivering(box: Sandbox) -> None:
    """Deliver forever, whenever there is a webhook and an update."""
    async with httpx.AsyncClient(timeout=TIMEOUT_SECONDS, trust_env=False) as client:
        failures = 0
        while True:
            webhook, update = box.world.state.webhook, box.updates.first()
            if webhook is None or update is None:
                await _something_new(box)
            elif await _deliver(box, client, webhook, update):
                failures = 0
            else:
                failures += 1
                await _pause(box, min(MAX_PAUSE_SECONDS, 2.0 ** (failures - 1)) if failures > 1 else 0)


async def _something_new(box: Sandbox) -> None:
    waits = [asyncio.ensure_future(event.wait()) for event in (box.updates.arrived, box.webhook_changed)]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
    box.updates.arrived.clear()
    box.webhook_changed.clear()


async def _pause(box: Sandbox, seconds: float) -> None:
    """Wait, but no longer than until a webhook is set again."""
    box.webhook_changed.clear()
    try:
        await asyncio.wait_for(box.webhook_changed.wait(), seconds)
    except TimeoutError:
        return


async def _deliver(box: Sandbox, client: httpx.AsyncClient, webhook: JsonObject, update: PendingUpdate) -> bool:
    if box.world.now() - update.at > KEPT_SECONDS:
        box.updates.acknowledge(update.id)
        return True
    problem = await _post(box, client, webhook, update)
    if problem is None:
        box.updates.acknowledge(update.id)
        return True
    log.info("webhook_failed", error=problem)
    webhook |= {"last_error_date": int(box.world.now()), "last_error_message": problem}
    box.world.save_state()
    return False


async def _post(box: Sandbox, client: httpx.AsyncClient, webhook: JsonObject, update: PendingUpdate) -> str | None:
    headers = {"Content-Type": "application/json"}
    if webhook["secret_token"]:
        headers["X-Telegram-Bot-Api-Secret-Token"] = webhook["secret_token"]
    try:
        answer = await client.post(webhook["url"], content=update.text.encode(), headers=headers)
    except httpx.TimeoutException:
        return "Read timeout expired"
    except (httpx.HTTPError, httpx.InvalidURL):
        return "Connection refused"
    if not answer.is_success:
        return f"Wrong response from the webhook: {answer.status_code} {answer.reason_phrase}"
    await _run_answer(box, answer)
    return None


async def _run_answer(box: Sandbox, answer: httpx.Response) -> None:
    """Run the method that a webhook's answer names. Its result isn't reported."""
    try:
        values: Any = json.loads(answer.content or b"null")
    except ValueError:
        return
    method = str(values.get("method", "")) if isinstance(values, dict) else ""
    if not method or method.lower().startswith(NOT_IN_ANSWERS):
        return
    try:
        await run(box, method, Params(values))
    except ApiError as error:
        log.info("webhook_reply_rejected", method=method, code=error.code)

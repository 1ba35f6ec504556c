"""Delivery of updates to the bot's webhook, as Telegram's server does it (`WebhookActor` of telegram-bot-api).

Updates of one queue are sent one at a time, each until it is accepted. Queues are sent beside each other. Messages of
a chat, presses of a user and changes of the bot's own membership have different queues, so a press can overtake a
message of the same chat, and the other way round.

The first retry is immediate, later ones are slower and slower, unless the bot's answer names a time (`Retry-After`).
"""

from __future__ import annotations

import asyncio
import json
import random
from collections import deque
from typing import TYPE_CHECKING, Any, NoReturn

import httpx
import structlog

from bot.sandbox.bot_api.server.dispatch import run
from bot.sandbox.bot_api.server.errors import ApiError
from bot.sandbox.bot_api.server.params import Params
from bot.sandbox.bot_api.updates import KEPT_SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bot.sandbox.bot_api.box import Sandbox
    from bot.sandbox.bot_api.model import JsonObject
    from bot.sandbox.bot_api.server.delivery_faults import Kind
    from bot.sandbox.bot_api.updates import PendingUpdate

TIMEOUT_SECONDS = 30.0
MAX_PAUSE_SECONDS = 60.0
MAX_RETRY_AFTER_SECONDS = 3600.0
PRESS_KEPT_SECONDS = 150
"""A press that isn't accepted within this time is dropped."""

LOADED_PER_CONNECTION = 2
"""How many updates are in the queues at most, per connection. While all of them fail, no other update is sent."""

NOT_IN_ANSWERS = ("get", "setwebhook", "deletewebhook", "close", "logout")
QUEUES = {
    "callback_query": ("press", "from"),
    "my_chat_member": ("membership", "chat"),
    "message_reaction": ("reaction", "chat"),
    "message_reaction_count": ("reaction count", "chat"),
}
"""Kind of an update -> its kind of queue, and whose id tells queues of this kind apart."""

MESSAGES = ("message", "chat")
HELD_AS: dict[str, Kind] = {"press": "press", "membership": "membership"}
"""Kind of queue -> as what its updates are held back, if not as messages."""

QueueKey = tuple[str, int]

log = structlog.get_logger(__name__)


async def keep_delivering(box: Sandbox) -> NoReturn:
    """Deliver forever. A change of the webhook ends what is being sent, and begins again."""
    async with httpx.AsyncClient(timeout=TIMEOUT_SECONDS, trust_env=False, limits=httpx.Limits()) as client:
        while True:
            box.webhook_changed.clear()
            webhook = box.world.state.webhook
            delivery = None if webhook is None else asyncio.create_task(_Delivery(box, client, webhook).run())
            try:
                await _wait_for_change(box, delivery)
            finally:
                if delivery is not None:
                    delivery.cancel()
                    await asyncio.wait({delivery})


async def _wait_for_change(box: Sandbox, delivery: asyncio.Task[NoReturn] | None) -> None:
    changed = asyncio.create_task(box.webhook_changed.wait())
    try:
        await asyncio.wait({changed, *([delivery] if delivery else ())}, return_when=asyncio.FIRST_COMPLETED)
        if delivery is not None and delivery.done():
            delivery.result()
    finally:
        changed.cancel()


def find_queue(text: str) -> QueueKey:
    """Return the queue of an update's JSON text."""
    update: JsonObject = json.loads(text)
    kind = next(name for name in update if name != "update_id")
    name, owner = QUEUES.get(kind, MESSAGES)
    return name, int(update[kind][owner]["id"])


def create_pauses() -> Iterator[float]:
    """Yield the seconds before each retry of an update."""
    yield 0.0
    pause = 1.0
    while True:
        pause = min(2 * pause, MAX_PAUSE_SECONDS * random.uniform(1, 2))  # noqa: S311  no secret
        yield pause


class _Delivery:
    """The delivery to one webhook, from its setting to the next change."""

    def __init__(self, box: Sandbox, client: httpx.AsyncClient, webhook: JsonObject) -> None:
        self._box = box
        self._client = client
        self._webhook = webhook
        self._connections = asyncio.Semaphore(webhook["max_connections"])
        self._room = LOADED_PER_CONNECTION * int(webhook["max_connections"])
        self._queues: dict[QueueKey, deque[PendingUpdate]] = {}
        self._last_loaded = 0
        self._changed = box.updates.arrived

    async def run(self) -> NoReturn:
        """Deliver until cancelled."""
        async with asyncio.TaskGroup() as group:
            while True:
                self._changed.clear()
                for update in self._box.updates.find_after(self._last_loaded, self._room):
                    self._load(group, update)
                await self._changed.wait()
        raise AssertionError

    def _load(self, group: asyncio.TaskGroup, update: PendingUpdate) -> None:
        self._last_loaded = update.id
        self._room -= 1
        key = find_queue(update.text)
        if key in self._queues:
            self._queues[key].append(update)
        else:
            self._queues[key] = deque([update])
            group.create_task(self._run_queue(key))

    async def _run_queue(self, key: QueueKey) -> None:
        queue = self._queues[key]
        while queue:
            await self._deliver(key, queue[0])
            self._box.updates.acknowledge(queue.popleft().id)
            self._room += 1
            self._changed.set()
        del self._queues[key]

    async def _deliver(self, key: QueueKey, update: PendingUpdate) -> None:
        """Send an update until it is accepted or too old."""
        kept = PRESS_KEPT_SECONDS if key[0] == "press" else KEPT_SECONDS
        await self._box.deliveries.hold(HELD_AS.get(key[0], "message"))
        pauses = create_pauses()
        while self._box.world.now() - update.at <= kept:
            async with self._connections:
                problem, retry_after = await self._send(update)
            if problem is None:
                return
            self._note(problem)
            await self._box.deliveries.wait(retry_after or next(pauses))

    async def _send(self, update: PendingUpdate) -> tuple[str | None, float]:
        """Send an update once, with the faults of deliveries. Return the problem, and after how long to retry."""
        faults = self._box.deliveries
        if faults.loses_request():
            return "Wrong response from the webhook: 503 Service Unavailable", 0
        if faults.repeats():
            answer, _ = await asyncio.gather(self._post(update), self._post(update))
        else:
            answer = await self._post(update)
        return ("Read timeout expired", 0) if faults.loses_answer() else answer

    async def _post(self, update: PendingUpdate) -> tuple[str | None, float]:
        headers = {"Content-Type": "application/json"}
        if self._webhook["secret_token"]:
            headers["X-Telegram-Bot-Api-Secret-Token"] = self._webhook["secret_token"]
        try:
            answer = await self._client.post(self._webhook["url"], content=update.text.encode(), headers=headers)
        except httpx.TimeoutException:
            return "Read timeout expired", 0
        except (httpx.HTTPError, httpx.InvalidURL):
            return "Connection refused", 0
        if not answer.is_success:
            problem = f"Wrong response from the webhook: {answer.status_code} {answer.reason_phrase}"
            return problem, _read_retry_after(answer)
        await _run_answer(self._box, answer)
        return None, 0

    def _note(self, problem: str) -> None:
        log.info("webhook_failed", error=problem)
        self._webhook |= {"last_error_date": int(self._box.world.now()), "last_error_message": problem}
        self._box.world.save_state()


def _read_retry_after(answer: httpx.Response) -> float:
    seconds = answer.headers.get("retry-after", "")
    return min(float(seconds), MAX_RETRY_AFTER_SECONDS) if seconds.isdecimal() else 0


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

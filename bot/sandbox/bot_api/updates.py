"""The queue of updates for the bot, the long poll that reads it, and the delivery to a webhook, as Telegram does them.

An update stays until a later offset acknowledges it or a day has passed. A negative offset keeps that many of the
newest. A second long poll ends the first with a conflict.

Updates of one queue are sent to a webhook one at a time, each until it is accepted (`WebhookActor` of
telegram-bot-api). Queues are sent beside each other. Messages of a chat, presses of a user and changes of the bot's own
membership have different queues, so a press can overtake a message of the same chat, and the other way round. The first
retry is immediate, later ones are slower and slower, unless the bot's answer names a time (`Retry-After`).
"""

from __future__ import annotations

import asyncio
import json
import random
from collections import OrderedDict, deque
from itertools import islice
from typing import TYPE_CHECKING, Any, NoReturn

import httpx
import structlog

from bot.sandbox.bot_api.calls import ApiError, Params
from bot.sandbox.bot_api.methods import run
from bot.sandbox.bot_api.model import PendingUpdate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bot.sandbox.bot_api.box import Sandbox
    from bot.sandbox.bot_api.model import JsonObject
    from bot.sandbox.bot_api.world import World

KEPT_SECONDS = 86_400
CONFLICT_PAUSE_SECONDS = 3.0
NOT_BY_DEFAULT = frozenset({"chat_member", "message_reaction", "message_reaction_count"})
OTHER_POLL = "terminated by other getUpdates request; make sure that only one bot instance is running"


class UpdateQueue:
    """Unacknowledged updates, oldest first."""

    def __init__(self, world: World, pending: list[PendingUpdate]) -> None:
        self._world = world
        self._pending = OrderedDict((update.id, update) for update in sorted(pending, key=lambda update: update.id))
        self._poll: asyncio.Future[str | None] | None = None
        self._next_conflict = 0.0
        self.arrived = asyncio.Event()
        self.polled = asyncio.Event()
        """Set when the bot asks for updates the first time: from then on it answers."""

    def __len__(self) -> int:
        return len(self._pending)

    def add(self, kind: str, payload: JsonObject) -> None:
        """Queue an update, unless the bot excludes its kind."""
        state = self._world.state
        wanted = kind not in NOT_BY_DEFAULT if state.allowed_updates is None else kind in state.allowed_updates
        if not wanted:
            return
        state.last_update_id += 1
        text = json.dumps({"update_id": state.last_update_id, kind: payload}, ensure_ascii=False)
        update = PendingUpdate(state.last_update_id, self._world.now(), text)
        self._pending[update.id] = update
        self._world.save_state()
        self._world.journal.put("update", str(update.id), update)
        self.arrived.set()
        self._end_poll(None)

    def take(self, offset: int, limit: int) -> list[str]:
        """Acknowledge updates before `offset`. Return the JSON texts of up to `limit` updates."""
        too_old = self._world.now() - KEPT_SECONDS
        if offset < 0:
            offset = next(islice(reversed(self._pending), -offset - 1, None), 0)
        while (first := next(iter(self._pending.values()), None)) is not None and (
            first.id < offset or first.at < too_old
        ):
            self.acknowledge(first.id)
        return [update.text for update in islice(self._pending.values(), limit)]

    async def poll(self, offset: int, limit: int, seconds: float) -> list[str]:
        """Return updates like `take`. If there are none, wait up to `seconds`.

        Raises:
            ApiError: 409, another poll or a webhook has taken over.
        """
        found = self.take(offset, limit)
        if found or not seconds:
            return found
        self._end_poll(OTHER_POLL)
        waiting = self._poll = asyncio.get_running_loop().create_future()
        try:
            reason = await asyncio.wait_for(waiting, seconds)
        except TimeoutError:
            reason = None
        finally:
            if self._poll is waiting:
                self._poll = None
        if reason is not None:
            await self.conflict(reason)
        return self.take(offset, limit)

    async def conflict(self, reason: str) -> None:
        """Reject a poll: the first time at once, then slowly, so that two bots don't compete at full speed.

        Raises:
            ApiError: 409, always.
        """
        loop = asyncio.get_running_loop()
        if loop.time() < self._next_conflict:
            await asyncio.sleep(CONFLICT_PAUSE_SECONDS)
        else:
            self._next_conflict = loop.time() + CONFLICT_PAUSE_SECONDS
        raise ApiError(409, f"Conflict: {reason}")

    def end_poll_for_webhook(self) -> None:
        """End a waiting poll because a webhook was set."""
        self._end_poll("terminated by setWebhook request")

    def find_after(self, update_id: int, limit: int) -> list[PendingUpdate]:
        """Return up to `limit` updates that came after this one."""
        return list(islice((update for update in self._pending.values() if update.id > update_id), limit))

    def acknowledge(self, update_id: int) -> None:
        """Remove an update that the bot has received."""
        if self._pending.pop(update_id, None) is not None:
            self._world.journal.put("update", str(update_id), None)

    def _end_poll(self, reason: str | None) -> None:
        if self._poll is not None and not self._poll.done():
            self._poll.set_result(reason)


TIMEOUT_SECONDS = 30.0
MAX_PAUSE_SECONDS = 60.0
MAX_RETRY_AFTER_SECONDS = 3600.0
PRESS_KEPT_SECONDS = 150
"""A press that isn't accepted within this time is dropped."""

LOADED_PER_CONNECTION = 2
"""How many updates are in the queues at most, per connection. While all of them fail, no other update is sent."""

NOT_IN_ANSWERS = ("get", "setwebhook", "deletewebhook")
QUEUES = {"callback_query": ("presses", "from"), "my_chat_member": ("memberships", "chat")}
"""Kind of an update -> its kind of queue, and whose id tells queues of this kind apart."""

MESSAGES = ("messages", "chat")

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
        kept = PRESS_KEPT_SECONDS if key[0] == "presses" else KEPT_SECONDS
        await self._box.deliveries.hold(key[0])
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
        if faults.happens("lost_requests_share"):
            return "Wrong response from the webhook: 503 Service Unavailable", 0
        if faults.happens("repeated_share"):
            answer, _ = await asyncio.gather(self._post(update), self._post(update))
        else:
            answer = await self._post(update)
        return ("Read timeout expired", 0) if faults.happens("lost_answers_share") else answer

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

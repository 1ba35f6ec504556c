"""The rate limiter for all calls to Telegram, with the interface of python-telegram-bot.

The library's own `AIORateLimiter` knows no limits of a chat and no priorities. It sends 60 messages in the first
second, and a 429 for one chat stops all others. Here each chat has its own limits, and messages in bulk share one pace.
A 429 pauses its chat and slows down bulk, and nothing else.
"""

import asyncio
import itertools
import random
import time
from collections import defaultdict, deque
from collections.abc import Callable, Coroutine
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal, get_args

import structlog
from prometheus_client import Histogram
from telegram.ext import BaseRateLimiter

from bot.core.backoff import Backoff
from bot.infra.metrics import start_at_zero
from bot.infra.telegram.outcomes import SlowDown, Unsent

log = structlog.get_logger(__name__)

Priority = Literal["money", "talk", "bulk"]
"""The priorities, highest first: messages about money, the conversation, messages to many users in bulk."""

Kind = Literal["message", "edit"]
Rank = tuple[Priority, Kind]
PRIORITIES: tuple[Priority, ...] = get_args(Priority)
KINDS: tuple[Kind, ...] = get_args(Kind)
ApiResult = bool | dict[str, Any] | list[dict[str, Any]]

SEND_WAIT_SECONDS: Final = Histogram(
    "kirim_send_wait_seconds",
    "How long a message or an edit waited for its turn within Telegram's limits.",
    ["priority"],
    buckets=(0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 15, 60, 300),
)
start_at_zero(SEND_WAIT_SECONDS, PRIORITIES)

LONGEST_WAIT_SECONDS = 30.0
"""Messages about money don't wait here for longer pauses of their chat. Their sender has saved them, and waits itself.

Otherwise a few such chats would occupy all that the outbox sends at once.
"""

REPETITIONS: dict[Priority, int] = {"money": 2, "talk": 6, "bulk": 0}
"""Repetitions of a rejected call. Others go back to their sender, which has saved when to try again.

Answers to users aren't saved, so they have to outlast a minute in which Telegram rejects everything.
"""

REPEAT_PAUSES = Backoff(first=1.0, longest=LONGEST_WAIT_SECONDS)
"""The pauses before a rejected call is repeated. Telegram can ask for longer ones.

They grow, because a chat that rejects each call shouldn't get one every second.
"""

SPREAD_SECONDS = 3.0
"""Each pause is longer by a random part of this. Otherwise all chats of a crowd would be rejected together again."""

FREE_PER_SECOND = 29.7
"""How many messages in bulk Telegram accepts for nothing: a little below the documented 30, as it counts arrivals."""

LEAST_SHARE, GROWN_AFTER_SECONDS = 1 / 6, 20.0
"""Bulk keeps at least this share of its maximum, and grows from nothing to all of it in that time.

Even a Telegram that rejects everything isn't burdened by that, because each rejected chat waits.
"""

SAME_REJECTION_SECONDS = 0.5
"""Calls that are sent so soon after bulk was slowed down belong to the same rejection."""

MAX_LATENESS = 0.1
"""Seconds of delay that bulk makes up for when the program was busy. The network varies by that much, too."""

BURST_GAPS = 2
"""How many gaps between messages a rested chat makes up for: three messages at once, or five edits."""

MINUTE = 60.5
"""Seconds of a minute, with a margin: Telegram counts arrivals, and some messages take longer to arrive."""

WAKES_LATER: dict[Rank, float] = {rank: n / 1000 for n, rank in enumerate(itertools.product(PRIORITIES, KINDS))}
"""Seconds by which a call wakes later than a chat's turn, so that of several calls the most important one takes it.

Edits come after messages of their priority, so that no message waits for one.
"""

SWEEP_SECONDS, HOUR_SECONDS, MAX_COUNTED = 60.0, 3600.0, 10_000

_READS, _LIGHT = ("get", "answer"), ("edit", "delete")
_UNLIMITED = frozenset({"sendChatAction", "setMessageReaction"})

ON_SEND: ContextVar[Callable[[], None]] = ContextVar("leaves", default=lambda: None)
"""Called right before a call is sent. A call that is cancelled earlier certainly did nothing."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of sending. Telegram documents 1 a second in a chat, 20 a minute in a group, 30 a second in bulk.

    Args:
        chat_per_second: messages to a chat after three at once, which Telegram accepts in practice. After five at once,
            for quick presses, edits and deletions can be twice as many.
        group_per_minute: messages and edits in a group (its chat id is negative).
        bulk_per_second: maximum of messages in bulk, evenly spaced. Above `FREE_PER_SECOND` for paid ones alone.
    """

    chat_per_second: float = 1.0
    group_per_minute: int = 20
    bulk_per_second: float = FREE_PER_SECOND


class SendLimiter(BaseRateLimiter[Priority]):
    """Makes each call wait for its turn. `rate_limit_args` is the priority; None means "talk".

    Calls that show nothing in a chat are sent at once. A call that Telegram rejected with 429 did nothing. It is
    repeated after pauses of up to 30 seconds, as often as `REPETITIONS` says. Otherwise the caller gets `SlowDown`.
    """

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._chats: dict[int | str, _Chat] = {}
        self._bulk = _BulkPace(self._limits.bulk_per_second)
        self._closed = asyncio.Event()
        self._swept_at = float("-inf")
        self._rejected_at = deque[float](maxlen=MAX_COUNTED)

    @property
    def bulk_per_second(self) -> float:
        """Return the current limit of messages in bulk a second. It adapts to what Telegram accepts."""
        return self._bulk.per_second(_now())

    @property
    def slow_downs(self) -> int:
        """Return how often Telegram rejected one of these calls with 429 in the last hour, up to `MAX_COUNTED`."""
        return sum(at > _now() - HOUR_SECONDS for at in self._rejected_at)

    async def initialize(self) -> None:
        """Let calls wait (again)."""
        self._closed.clear()

    async def shutdown(self) -> None:
        """Cancel all waiting calls."""
        self._closed.set()

    async def process_request(  # noqa: PLR0917  python-telegram-bot's signature
        self,
        callback: Callable[..., Coroutine[Any, Any, ApiResult]],
        args: Any,  # noqa: ANN401  likewise
        kwargs: dict[str, Any],
        endpoint: str,
        data: dict[str, Any],
        rate_limit_args: Priority | None,
    ) -> ApiResult:
        """Wait for the call's turn, call `callback`, and return its result.

        Raises:
            Unsent: the bot is shutting down.
            SlowDown: Telegram asks for a pause that is too long to wait here.
            ValueError: the priority is unknown.
        """
        priority: Priority = rate_limit_args or "talk"
        if priority not in PRIORITIES:
            raise ValueError(f"no such priority: {priority!r}")
        if data.get("chat_id") is None or endpoint.startswith(_READS) or endpoint in _UNLIMITED:
            return await callback(*args, **kwargs)
        kind: Kind = "edit" if endpoint.startswith(_LIGHT) else "message"
        chat = self._get_chat(data["chat_id"])
        chat.calls += 1
        try:
            # Only one call of a rank is sent at a time, so that none overtakes another, also while it is repeated.
            async with chat.turns[priority, kind]:
                return await self._send(chat, (priority, kind), partial(callback, *args, **kwargs), data)
        finally:
            chat.calls -= 1

    async def _send(
        self, chat: "_Chat", rank: Rank, call: Callable[[], Coroutine[Any, Any, ApiResult]], data: dict[str, Any]
    ) -> ApiResult:
        priority, kind = rank
        waits_since, rejections = time.perf_counter(), 0
        while True:
            await self._wait_for_turn(chat, rank, is_paid=bool(data.get("allow_paid_broadcast")))
            chat.count_call(kind, _now())
            SEND_WAIT_SECONDS.labels(priority).observe(time.perf_counter() - waits_since)
            ON_SEND.get()()
            sent_at = _now()
            try:
                return await call()
            except SlowDown as error:
                waits_since, rejections = time.perf_counter(), rejections + 1
                spread = random.uniform(0, SPREAD_SECONDS)  # noqa: S311  no secret
                chat.pause(kind, _now() + max(error.seconds, REPEAT_PAUSES.after(rejections)) + spread)
                self._rejected_at.append(_now())
                if rejections == 1:  # another one is about the chat's own limit
                    self._bulk.slow_down(sent_at, _now())
                if error.seconds > LONGEST_WAIT_SECONDS or rejections > REPETITIONS[priority]:
                    raise

    async def _wait_for_turn(self, chat: "_Chat", rank: Rank, *, is_paid: bool) -> None:
        while True:
            await self._sleep_until(lambda now: chat.get_turn(rank, now))
            if rank[0] != "bulk":
                break
            waits_since = _now()
            async with self._bulk.line:
                await self._sleep_until(lambda _: self._bulk.next_slot)
                now = _now()
                # Meanwhile, other messages may have been sent to the chat.
                if chat.get_turn(rank, now) <= now:
                    self._bulk.take_slot(waits_since, now, is_paid=is_paid)
                    break

    async def _sleep_until(self, get_time: Callable[[float], float]) -> None:
        """Sleep until the time that `get_time` returns. It can become later meanwhile."""
        while (wake_at := get_time(_now())) > _now() and not self._closed.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout_at(wake_at):
                    await self._closed.wait()
        if self._closed.is_set():
            raise Unsent("the bot is shutting down")

    def _get_chat(self, chat_id: int | str) -> "_Chat":
        now = _now()
        if now - self._swept_at >= SWEEP_SECONDS:
            self._swept_at = now
            self._chats = {each: chat for each, chat in self._chats.items() if not chat.is_idle(now)}
        if chat_id not in self._chats:
            self._chats[chat_id] = _Chat(self._limits, is_group=str(chat_id).startswith("-"))
        return self._chats[chat_id]


class _Chat:
    """The limits of one chat, and the turns of its calls. Times are seconds of the event loop."""

    def __init__(self, limits: Limits, *, is_group: bool) -> None:
        self.turns = defaultdict[Rank, asyncio.Lock](asyncio.Lock)
        self.calls = 0
        """How many calls wait or are being made."""
        self._gap = 1 / limits.chat_per_second
        self._full_at: dict[Kind, float] = dict.fromkeys(KINDS, float("-inf"))
        """When the whole burst is allowed again."""
        self._paused_until: dict[Kind, float] = dict.fromkeys(KINDS, float("-inf"))
        self._latest = deque[float](maxlen=limits.group_per_minute if is_group else 0)

    def get_turn(self, rank: Rank, now: float) -> float:
        """Return when the next call of this rank may be sent. It is in the past if that is now.

        Raises:
            SlowDown: the chat is paused for more than `LONGEST_WAIT_SECONDS`, and the call is about money, or only
                edits are paused: an answer that is a message must not wait behind an edit for so long.
        """
        priority, kind = rank
        pause = self._paused_until[kind] - now
        is_only_edits = self._paused_until[kind] > self._paused_until["message"]
        if pause > LONGEST_WAIT_SECONDS + SPREAD_SECONDS and (priority == "money" or is_only_edits):
            raise SlowDown(pause)
        ready_at = max(self._paused_until[kind], self._full_at[kind] - BURST_GAPS * self._gap)
        if self._latest and len(self._latest) == self._latest.maxlen:
            ready_at = max(ready_at, self._latest[0] + MINUTE)
        return ready_at + WAKES_LATER[rank] if ready_at > now else ready_at

    def count_call(self, kind: Kind, now: float) -> None:
        """Count a call that is sent now."""
        self._full_at[kind] = max(self._full_at[kind], now) + (self._gap if kind == "message" else self._gap / 2)
        self._latest.append(now)

    def pause(self, kind: Kind, until: float) -> None:
        """Allow no call before `until`, because Telegram rejected one of this kind and asked for a pause.

        After a rejected edit or deletion, messages are still allowed. None of them waits because an old one can't be
        changed.
        """
        for each in (kind, "edit"):
            self._paused_until[each] = max(self._paused_until[each], until)

    def is_idle(self, now: float) -> bool:
        """Return whether there is no call, and no earlier one limits the next. The chat can then be forgotten."""
        minute_ends = self._latest[-1] + MINUTE if self._latest else now
        return not self.calls and max(*self._full_at.values(), *self._paused_until.values(), minute_ends) <= now


class _BulkPace:
    """Evenly spaced slots for messages in bulk. Their rate falls by half after a rejection, and grows again."""

    def __init__(self, most: float) -> None:
        self.line = asyncio.Lock()
        self.next_slot = float("-inf")
        self._most = self._halved_to = most
        self._halved_at = float("-inf")

    def per_second(self, now: float) -> float:
        """Return the current rate."""
        return min(self._halved_to + self._most * (now - self._halved_at) / GROWN_AFTER_SECONDS, self._most)

    def slow_down(self, sent_at: float, now: float) -> None:
        """Halve the rate, because a call that was sent at `sent_at` was rejected.

        A call that was sent before the rate was halved says nothing about the halved rate, so it changes nothing.
        """
        if sent_at > self._halved_at + SAME_REJECTION_SECONDS:
            self._halved_to, self._halved_at = max(self.per_second(now) / 2, LEAST_SHARE * self._most), now
            log.info("bulk_rate_halved", per_second=round(self._halved_to, 1))

    def take_slot(self, waits_since: float, now: float, *, is_paid: bool) -> None:
        """Take the current slot. Compute the next one from its time, even if the timer was late.

        At most `MAX_LATENESS` is made up for, so that a pause causes no burst.
        """
        rate = self.per_second(now)
        due = max(self.next_slot, waits_since, now - MAX_LATENESS)
        self.next_slot = due + 1 / (rate if is_paid else min(rate, FREE_PER_SECOND))


def _now() -> float:
    return asyncio.get_running_loop().time()

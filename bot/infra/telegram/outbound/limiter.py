"""The rate limiter for all calls to Telegram, with the interface of python-telegram-bot.

The library's own `AIORateLimiter` knows no limits of a chat and no priorities. It sends 60 messages in the first
second, and a 429 for one chat stops all others.
"""

import time
from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from typing import Any, Final

from prometheus_client import Histogram
from telegram.ext import BaseRateLimiter

from bot.core.backoff import Backoff
from bot.infra.metrics import start_at_zero
from bot.infra.telegram.errors import SlowDown
from bot.infra.telegram.outbound.pace import Kind, Limits
from bot.infra.telegram.outbound.scheduler import LONGEST_WAIT_SECONDS, PRIORITIES, Call, Priority, SendScheduler

__all__ = ["ON_SEND", "Limits", "Priority", "SendLimiter"]

SEND_WAIT_SECONDS: Final = Histogram(
    "kirim_send_wait_seconds",
    "How long a message or an edit waited for its turn within Telegram's limits.",
    ["priority"],
    buckets=(0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 15, 60, 300),
)
start_at_zero(SEND_WAIT_SECONDS, PRIORITIES)

ApiResult = bool | dict[str, Any] | list[dict[str, Any]]

REPEAT_PAUSES = Backoff(first=1.0, longest=LONGEST_WAIT_SECONDS)
"""The pauses before a rejected call is repeated. Telegram can ask for longer ones.

They grow, because a chat that rejects each call shouldn't get one every second.
"""

REPETITIONS: dict[Priority, int] = {"money": 2, "talk": 6, "bulk": 0}
"""Repetitions of a rejected call. Others go back to their sender, which has saved when to try again.

Answers to users aren't saved, so they have to outlast a minute in which Telegram rejects everything.
"""

_READS = ("get", "answer")
_UNLIMITED = frozenset({"sendChatAction", "setMessageReaction"})
_LIGHT = ("edit", "delete", "pin", "unpin")


def _do_nothing() -> None:
    """Do nothing. This is the default of `ON_SEND`."""


ON_SEND: ContextVar[Callable[[], None]] = ContextVar("leaves", default=_do_nothing)
"""Called right before a call is sent. A call that is cancelled earlier certainly did nothing."""


class SendLimiter(BaseRateLimiter[Priority]):
    """Makes each call wait for its turn (`SendScheduler`). `rate_limit_args` is the priority; None means "talk".

    Calls that show nothing in a chat are sent at once. A call that Telegram rejected with 429 did nothing. It is
    repeated after pauses of up to 30 seconds, as often as `REPETITIONS` says. Otherwise the caller gets `SlowDown`.
    """

    def __init__(self, limits: Limits | None = None) -> None:
        self._scheduler = SendScheduler(limits or Limits())

    @property
    def per_second(self) -> float:
        """Return the current limit of messages a second to all chats. It adapts to what Telegram accepts."""
        return self._scheduler.per_second

    @property
    def bulk_per_second(self) -> float:
        """Return the current limit of messages in bulk a second."""
        return self._scheduler.bulk_per_second

    @property
    def slow_downs(self) -> int:
        """Return how often Telegram rejected one of these calls with 429 in the last hour."""
        return self._scheduler.slow_downs

    async def initialize(self) -> None:
        """Let the rate begin to grow, so that it is high before many users write at once."""
        _ = self.per_second

    async def shutdown(self) -> None:
        """Cancel all waiting calls."""
        self._scheduler.close()

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
        if _is_unlimited(endpoint, data):
            return await callback(*args, **kwargs)
        kind: Kind = "edit" if endpoint.startswith(_LIGHT) else "message"
        call = Call(data["chat_id"], priority, kind, is_paid=bool(data.get("allow_paid_broadcast")))
        while True:
            try:
                return await self._try_once(call, callback, args, kwargs)
            except SlowDown as error:
                if error.seconds > LONGEST_WAIT_SECONDS or call.rejections > REPETITIONS[priority]:
                    raise

    async def _try_once(
        self,
        call: Call,
        callback: Callable[..., Coroutine[Any, Any, ApiResult]],
        args: Any,  # noqa: ANN401  likewise
        kwargs: dict[str, Any],
    ) -> ApiResult:
        began = time.perf_counter()
        async with self._scheduler.wait_for_turn(call):
            SEND_WAIT_SECONDS.labels(call.priority).observe(time.perf_counter() - began)
            ON_SEND.get()()
            try:
                return await callback(*args, **kwargs)
            except SlowDown as error:
                self._scheduler.slow_down(call, max(error.seconds, REPEAT_PAUSES.after(call.rejections + 1)))
                raise


def _is_unlimited(endpoint: str, data: dict[str, Any]) -> bool:
    return data.get("chat_id") is None or endpoint.startswith(_READS) or endpoint in _UNLIMITED

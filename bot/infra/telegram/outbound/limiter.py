"""The one limiter that everything sent goes through, as python-telegram-bot wants it.

Its own `AIORateLimiter` knows neither the limits of a chat nor priorities. It sends 60 in the first second, and one
chat's 429 halts all the others.
"""

from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from typing import Any

from telegram.ext import BaseRateLimiter

from bot.infra.telegram.errors import SlowDown
from bot.infra.telegram.outbound.pace import Kind, Limits
from bot.infra.telegram.outbound.scheduler import RANKS, Call, Priority, SendScheduler

__all__ = ["ON_SEND", "Limits", "Priority", "SendLimiter"]

Answer = bool | dict[str, Any] | list[dict[str, Any]]

TRIES: dict[Priority, int] = {"money": 3, "talk": 3, "bulk": 1}
"""What is refused in bulk goes back to its sender at once, who can put it off over a restart."""

LONGEST_WAIT_SECONDS = 30.0
"""A longer pause is the caller's to plan: it can remember the message over a restart."""

_READS = ("get", "answer")
_FREE = frozenset({"sendChatAction", "setMessageReaction"})
_LIGHT = ("edit", "delete", "pin", "unpin")


def _nothing() -> None:
    """Nobody asks."""


ON_SEND: ContextVar[Callable[[], None]] = ContextVar("leaves", default=_nothing)
"""Called when a call has had its wait and is made: one that is cancelled before surely did nothing."""


class SendLimiter(BaseRateLimiter[Priority]):
    """Gives each call its turn (`SendScheduler`). `rate_limit_args` is its priority; None is "talk".

    Calls that show nothing in a chat go at once. A call that Telegram refused for its frequency did nothing and is
    repeated, at most twice, after pauses of up to half a minute; `SlowDown` goes to the caller otherwise.
    """

    def __init__(self, limits: Limits | None = None) -> None:
        self._dispatcher = SendScheduler(limits or Limits())

    async def initialize(self) -> None:
        """Nothing to do: it starts with the first call."""

    async def shutdown(self) -> None:
        """Let nobody wait any more."""
        self._dispatcher.close()

    async def process_request(  # noqa: PLR0917  python-telegram-bot's signature
        self,
        callback: Callable[..., Coroutine[Any, Any, Answer]],
        args: Any,  # noqa: ANN401  likewise
        kwargs: dict[str, Any],
        endpoint: str,
        data: dict[str, Any],
        rate_limit_args: Priority | None,
    ) -> Answer:
        """Call `callback` when it is its turn, and return what it returns.

        Raises:
            Unsent: the bot is shutting down.
            SlowDown: Telegram asks for a longer pause than is worth waiting here.
            ValueError: there is no such priority.
        """
        priority: Priority = rate_limit_args or "talk"
        if priority not in RANKS:
            raise ValueError(f"no such priority: {priority!r}")
        if _is_free(endpoint, data):
            return await callback(*args, **kwargs)
        kind: Kind = "edit" if endpoint.startswith(_LIGHT) else "message"
        call = Call(data["chat_id"], priority, kind, is_paid=bool(data.get("allow_paid_broadcast")))
        for _ in range(TRIES[priority] - 1):
            try:
                return await self._once(call, callback, args, kwargs)
            except SlowDown as refused:
                if refused.seconds > LONGEST_WAIT_SECONDS:
                    raise
        return await self._once(call, callback, args, kwargs)

    async def _once(
        self,
        call: Call,
        callback: Callable[..., Coroutine[Any, Any, Answer]],
        args: Any,  # noqa: ANN401  likewise
        kwargs: dict[str, Any],
    ) -> Answer:
        async with self._dispatcher.turn(call):
            ON_SEND.get()()
            try:
                return await callback(*args, **kwargs)
            except SlowDown as refused:
                self._dispatcher.pause(call.chat_id, refused.seconds)
                raise


def _is_free(endpoint: str, data: dict[str, Any]) -> bool:
    return data.get("chat_id") is None or endpoint.startswith(_READS) or endpoint in _FREE

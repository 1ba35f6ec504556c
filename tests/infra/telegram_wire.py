"""A replacement of Telegram for the limiter's tests in virtual time."""

import asyncio
from collections import Counter, defaultdict
from typing import Any

from bot.infra.telegram.errors import SlowDown
from bot.infra.telegram.outbound.limiter import SendLimiter
from bot.infra.telegram.outbound.pace import Limits
from bot.infra.telegram.outbound.scheduler import Priority
from bot.sandbox.bot_api.calls import TooManyRequests
from bot.sandbox.bot_api.limits import RateLimiter
from bot.sandbox.bot_api.model import Chat
from tests.virtual_time import now


class Wire:
    """Replaces Telegram. It records when each call arrives, and rejects the calls that the test lists.

    `telegram` rejects more, as the sandbox does.
    """

    def __init__(
        self, limits: Limits | None = None, *, takes: float = 0.03, telegram: RateLimiter | None = None
    ) -> None:
        self.limiter = SendLimiter(limits)
        self.telegram = telegram
        self.takes = takes
        self.sent: list[tuple[float, int, Priority, str]] = []
        self.refusals: dict[int, list[float]] = defaultdict(list)
        self.rejects_until: dict[int, float] = {}
        self.rejected = 0
        self._accepted: list[tuple[int, str]] = []
        self.under_way: Counter[tuple[int, str]] = Counter()
        self.in_order: dict[tuple[int, str], list[str]] = defaultdict(list)
        """The texts of a chat that must be sent in their order: messages of one priority, or edits of one."""
        self.at_once = 0

    async def send(
        self,
        chat: int,
        priority: Priority = "talk",
        text: str = "",
        endpoint: str = "sendMessage",
        *,
        paid: bool = False,
    ) -> Any:
        data = {"chat_id": chat, "text": text} | ({"allow_paid_broadcast": True} if paid else {})
        args = (chat, priority, text, endpoint)
        return await self.limiter.process_request(self._call, args, {}, endpoint, data, priority)

    async def _call(self, chat: int, priority: Priority, text: str, endpoint: str) -> bool:
        order = f"{priority} {'messages' if endpoint.startswith('send') else 'edits'}"
        self.under_way[chat, order] += 1
        self.at_once = max(self.at_once, self.under_way[chat, order])
        self.in_order[chat, order].append(text)
        self.sent.append((now(), chat, priority, text))
        try:
            await asyncio.sleep(self.takes)
            if self.refusals[chat]:
                raise SlowDown(self.refusals[chat].pop(0))
            if now() < self.rejects_until.get(chat, now()):
                raise SlowDown(1.0)
            self._count(chat, text)
            self._accepted.append((chat, text))
        finally:
            self.under_way[chat, order] -= 1
        return True

    def _count(self, chat: int, text: str) -> None:
        if self.telegram is None:
            return
        try:
            self.telegram.count(Chat(chat, "private"), {"text": text}, now())
        except TooManyRequests as error:
            self.rejected += 1
            raise SlowDown((error.parameters or {})["retry_after"]) from error

    def times(self, chat: int | None = None, priority: Priority | None = None) -> list[float]:
        return [at for at, to, via, _ in self.sent if chat in {None, to} and priority in {None, via}]

    def texts(self, chat: int) -> list[str]:
        return [text for _, to, _, text in self.sent if to == chat]

    def accepted(self, chat: int) -> list[str]:
        return [text for to, text in self._accepted if to == chat]


def most_in_any(window: float, times: list[float]) -> int:
    return max(sum(start <= at < start + window for at in times) for start in times)

"""Telegram's limits on sending: per second in total, per second in a chat, and per minute in a group."""

from __future__ import annotations

import math
from collections import OrderedDict, deque
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bot.sandbox.bot_api.calls import TooManyRequests

if TYPE_CHECKING:
    from bot.sandbox.bot_api.model import Chat, JsonObject, Limits

MINUTE = 60.0
ANSWERED_WITHIN = 60.0
ALIKE_WITHIN = 60.0


class BulkDetector:
    """Decides which messages are "bulk notifications to multiple users". Times in Unix seconds.

    A server can't see why a bot sends a message. It can see that the user did nothing in the chat for a minute, so the
    message is a notification, and that another chat got the same content within a minute, so it goes to multiple users.
    Both together are bulk. An answer isn't, although all users get the same question, nor is the notification of a
    payment, which differs for each user. The first message of a bulk isn't recognised.
    """

    def __init__(self) -> None:
        self._acted_at: dict[int, float] = {}
        self._sent: OrderedDict[str, tuple[int, float]] = OrderedDict()

    def note_act(self, chat_id: int, now: float) -> None:
        """Note that a user did something in a chat that the bot can answer."""
        self._acted_at[chat_id] = now

    def is_bulk(self, chat: Chat, content: JsonObject, now: float) -> bool:
        """Return whether a message is one of many, and remember it."""
        while self._sent and next(iter(self._sent.values()))[1] <= now - ALIKE_WITHIN:
            self._sent.popitem(last=False)
        key = repr(content)
        earlier = self._sent.pop(key, None)
        self._sent[key] = chat.id, now
        is_alike = earlier is not None and earlier[0] != chat.id
        is_answer = now - self._acted_at.get(chat.id, -math.inf) <= ANSWERED_WITHIN
        return chat.type == "private" and is_alike and not is_answer


class _Bucket:
    """A token bucket that refills at a steady rate, up to a capacity. Times in Unix seconds."""

    def __init__(self, rate: float, capacity: float, now: float) -> None:
        self.rate, self.capacity, self.tokens, self.at = rate, capacity, capacity, now

    def seconds_until_one(self, now: float) -> float:
        self.tokens = min(self.capacity, self.tokens + max(0.0, now - self.at) * self.rate)
        self.at = now
        return 0.0 if self.tokens >= 1 else (1 - self.tokens) / self.rate


class RateLimiter:
    """Count the messages of a bot: new ones, copies and forwards. Edits don't count, as documented."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.bulk = BulkDetector()
        self._start()

    def _start(self) -> None:
        self._total: _Bucket | None = None
        self._chats: dict[int, _Bucket] = {}
        self._groups: dict[int, deque[float]] = {}

    def change(self, **changes: Any) -> Limits:  # noqa: ANN401  fields of Limits
        """Change some of the limits and restart counting."""
        self.limits = replace(self.limits, **changes)
        self._start()
        return self.limits

    def count(self, chat: Chat, content: JsonObject, now: float, *, paid: bool = False) -> None:
        """Count a message to a chat. `paid` ones (`allow_paid_broadcast`) don't count towards the total.

        Whether others do depends on `Limits.total_applies_to`.

        Raises:
            TooManyRequests: the limit is reached. The message isn't counted.
        """
        if not self.limits.enforce:
            return
        waits = [self._group_wait(chat, now), self._chat(chat, now).seconds_until_one(now)]
        total = self._total_bucket(now)
        is_bulk = self.bulk.is_bulk(chat, content, now)
        is_counted = not paid and (is_bulk or self.limits.total_applies_to == "all")
        if is_counted:
            waits.append(total.seconds_until_one(now))
        if max(waits) > 0:
            raise TooManyRequests(math.ceil(max(waits)))
        self._chat(chat, now).tokens -= 1
        total.tokens -= 1 if is_counted else 0
        if chat.type != "private":
            self._groups[chat.id].append(now)

    def _total_bucket(self, now: float) -> _Bucket:
        if self._total is None:
            rate = self.limits.total_per_second
            self._total = _Bucket(rate, max(1.0, rate), now)
        return self._total

    def _chat(self, chat: Chat, now: float) -> _Bucket:
        if chat.id not in self._chats:
            self._chats[chat.id] = _Bucket(self.limits.chat_per_second, self.limits.chat_burst, now)
        return self._chats[chat.id]

    def _group_wait(self, chat: Chat, now: float) -> float:
        if chat.type == "private":
            return 0.0
        sent = self._groups.setdefault(chat.id, deque())
        while sent and sent[0] <= now - MINUTE:
            sent.popleft()
        return sent[0] + MINUTE - now if len(sent) >= self.limits.group_per_minute else 0.0

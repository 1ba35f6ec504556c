"""The scheduler of all calls to Telegram. It decides which call is sent next, and when.

Calls wait in a queue for each chat, priority and kind. The first call of a chat that its limits allow is its head. It
is ready, and in the heap of its group (`_Group`), by priority and age. If the limits allow none, the head is in the
heap `_resting`, by the time when it may be sent. One timer serves all.

Entries are never removed from the middle of a heap. An outdated entry is noticed when it comes first. So each step
costs the logarithm of the number of waiting chats, and no chat delays another.

There are groups for edits, messages, broadcasts and paid broadcasts. Broadcasts get the slots that messages leave.

A call that Telegram rejects (429) pauses its chat, or only its edits if it is one. It halves the rates of all groups,
which then grow again.
"""

import asyncio
import heapq
import itertools
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Literal, get_args

import structlog

from bot.infra.telegram.errors import SlowDown, Unsent
from bot.infra.telegram.outbound.pace import AdaptiveRate, ChatPace, EvenPace, Kind, Limits

log = structlog.get_logger(__name__)

Priority = Literal["money", "talk", "bulk"]
"""The priorities, highest first: messages about money, the conversation, messages to many users in bulk."""

ChatId = int | str
PRIORITIES: tuple[Priority, ...] = get_args(Priority)
RANKS: dict[tuple[Priority, Kind], int] = {
    each: rank for rank, each in enumerate(itertools.product(PRIORITIES, get_args(Kind)))
}
"""The ranks, the smallest first. Edits have ranks of their own, so that no message waits for one of its priority."""

LONGEST_WAIT_SECONDS = 30.0
"""Messages about money don't wait here for longer pauses of their chat. Their sender has saved them, and waits itself.

Otherwise a few such chats would occupy all that the outbox sends at once.
"""

SWEEP_SECONDS = 60.0
HOUR_SECONDS, MAX_COUNTED = 3600.0, 10_000


@dataclass(slots=True, eq=False)
class Call:
    """A call that waits for its turn. A repetition uses the same object and so keeps its place."""

    chat_id: ChatId
    priority: Priority
    kind: Kind = "message"
    is_paid: bool = False
    number: int = 0
    granted: asyncio.Future[None] | None = None
    sent_at: float = 0.0
    rejections: int = 0

    @property
    def rank(self) -> int:
        """The rank of its priority and kind. The smallest is sent first."""
        return RANKS[self.priority, self.kind]


@dataclass(slots=True, eq=False)
class _Chat:
    pace: ChatPace
    queues: tuple[deque[Call], ...] = field(default_factory=lambda: tuple(deque() for _ in RANKS))
    busy: list[bool] = field(default_factory=lambda: [False] * len(RANKS))
    placed: Call | None = None
    """The head that is in a heap now."""
    placed_at: float = 0.0

    def head(self, now: float) -> Call | None:
        """Return the next call: of those that can be sent first, the one with the smallest rank.

        Only one call of a rank is sent at a time, so that none overtakes another.
        """
        first = [queue[0] for queue, busy in zip(self.queues, self.busy, strict=True) if queue and not busy]
        return min(first, key=lambda call: max(self.pace.ready_at(call.kind), now), default=None)

    def is_idle(self, now: float) -> bool:
        return not any(self.queues) and not any(self.busy) and self.pace.is_idle(now)


_Entry = tuple[float, int, int, _Chat, Call]


@dataclass(slots=True, eq=False)
class _Group:
    """Heads that are ready, and the paces that each of them needs a slot of."""

    paces: tuple[EvenPace, ...]
    ready: list[_Entry] = field(default_factory=list)

    def get_next_slot(self) -> float:
        return max(pace.get_next_slot() for pace in self.paces)


class SendScheduler:
    """Decides when each call is sent. Times are those of the event loop."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._chats: dict[ChatId, _Chat] = {}
        self._resting: list[_Entry] = []
        self._rate = AdaptiveRate(limits.start_per_second, limits.most_per_second)
        self._bulk_rate = AdaptiveRate(limits.bulk_per_second, limits.bulk_per_second)
        total, bulk = EvenPace(self._rate), EvenPace(self._bulk_rate)
        self._messages = _Group((total,))
        self._edits = _Group((EvenPace(self._rate),))
        self._broadcasts = _Group((bulk, total))
        self._paid = _Group((bulk,))
        # In this order they take the slots that they share.
        self._groups = (self._edits, self._messages, self._broadcasts, self._paid)
        self._timer: asyncio.TimerHandle | None = None
        self._numbers = itertools.count(1)
        self._swept_at = float("-inf")
        self._rejected_at = deque[float](maxlen=MAX_COUNTED)

    @property
    def per_second(self) -> float:
        """Return the current limit of messages a second to all chats. It begins to grow when it is first asked for."""
        return self._rate.per_second(_now())

    @property
    def bulk_per_second(self) -> float:
        """Return the current limit of messages in bulk a second."""
        return self._bulk_rate.per_second(_now())

    @property
    def slow_downs(self) -> int:
        """Return how many calls Telegram rejected in the last hour, up to `MAX_COUNTED`."""
        return sum(at > _now() - HOUR_SECONDS for at in self._rejected_at)

    @asynccontextmanager
    async def wait_for_turn(self, call: Call) -> AsyncGenerator[None]:
        """Wait for the call's turn. No other call of its chat and rank is sent during the block.

        Raises:
            Unsent: the scheduler was closed while the call waited.
            SlowDown: the chat is paused for more than `LONGEST_WAIT_SECONDS`, and the call is about money, or only
                edits are paused.
        """
        now, chat = _now(), self._chat(call.chat_id)
        remaining = chat.pace.remaining_pause(now, call.kind)
        # An answer that is a message must not wait behind an edit for so long.
        is_only_edits = remaining > chat.pace.remaining_pause(now, "message")
        if remaining > LONGEST_WAIT_SECONDS and (call.priority == "money" or is_only_edits):
            raise SlowDown(remaining)
        await self._wait(chat, call)
        try:
            yield
        finally:
            chat.busy[call.rank] = False
            self._place(chat)
            self._grant_all_ready()

    def slow_down(self, call: Call, seconds: float) -> None:
        """Send nothing to the call's chat for so many seconds, and less to all chats. Telegram rejected the call.

        If it was an edit or a deletion, only those wait in its chat.

        A call that is rejected again is about its chat's own limit, so it doesn't slow down the others further.
        """
        now, chat = _now(), self._chat(call.chat_id)
        chat.pace.pause(now + seconds, call.kind)
        if seconds > LONGEST_WAIT_SECONDS:
            self._return_waiting(chat, seconds, call.kind)
        call.rejections += 1
        self._rejected_at.append(now)
        if call.rejections == 1 and self._rate.halve(call.sent_at, now):
            self._bulk_rate.halve(call.sent_at, now)
            log.info(
                "message_rate_halved",
                per_second=round(self.per_second, 1),
                bulk_per_second=round(self.bulk_per_second, 1),
            )

    def close(self) -> None:
        """Cancel all waiting calls with `Unsent`."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for call in [call for chat in self._chats.values() for queue in chat.queues for call in queue]:
            if call.granted is not None and not call.granted.done():
                call.granted.set_exception(Unsent("the bot is shutting down"))
        self._chats.clear()
        for group in self._groups:
            group.ready.clear()
        self._resting.clear()

    @staticmethod
    def _return_waiting(chat: _Chat, seconds: float, rejected: Kind) -> None:
        """Return the chat's waiting calls that must not wait so long to their sender, with `SlowDown`.

        After a rejected edit these are all edits, and after a rejected message all calls about money.
        """
        for (priority, kind), rank in RANKS.items():
            queue = chat.queues[rank]
            while queue and (kind == "edit" if rejected == "edit" else priority == "money"):
                call = queue.popleft()
                if call.granted is not None and not call.granted.done():
                    call.granted.set_exception(SlowDown(seconds))

    def _chat(self, chat_id: ChatId) -> _Chat:
        if chat_id not in self._chats:
            is_group = str(chat_id).startswith("-")
            self._chats[chat_id] = _Chat(ChatPace(self._limits, is_group=is_group))
        return self._chats[chat_id]

    async def _wait(self, chat: _Chat, call: Call) -> None:
        queue = chat.queues[call.rank]
        if call.number:  # a repetition goes to the front
            queue.appendleft(call)
        else:
            call.number = next(self._numbers)
            queue.append(call)
        call.granted = asyncio.get_running_loop().create_future()
        self._place(chat)
        self._grant_all_ready()
        try:
            await call.granted
        except asyncio.CancelledError:
            self._withdraw(chat, call)
            raise

    def _withdraw(self, chat: _Chat, call: Call) -> None:
        if call.granted is not None and not call.granted.cancelled():  # its turn came at the same time
            chat.busy[call.rank] = False
        elif call in chat.queues[call.rank]:
            chat.queues[call.rank].remove(call)
        self._place(chat)
        self._grant_all_ready()

    def _place(self, chat: _Chat) -> None:
        """Put the chat's head into its heap, unless it is there already."""
        now = _now()
        head = chat.head(now)
        if head is None or head is chat.placed:
            return
        chat.placed, chat.placed_at = head, now
        ready_at = chat.pace.ready_at(head.kind)
        if ready_at <= chat.placed_at:
            heapq.heappush(self._get_group(head).ready, (head.rank, head.number, next(self._numbers), chat, head))
        else:
            heapq.heappush(self._resting, (ready_at, head.number, next(self._numbers), chat, head))

    def _get_group(self, call: Call) -> _Group:
        if call.kind == "edit":
            return self._edits
        if call.priority != "bulk":
            return self._messages
        return self._paid if call.is_paid else self._broadcasts

    def _grant_all_ready(self) -> None:
        now = _now()
        self._sweep(now)
        while self._resting and self._resting[0][0] <= now:
            self._place_again(heapq.heappop(self._resting))
        for group in self._groups:
            while group.ready and now >= group.get_next_slot():
                self._grant_if_ready(heapq.heappop(group.ready), now)
        self._set_timer()

    def _place_again(self, entry: _Entry) -> None:
        *_, chat, call = entry
        if chat.placed is call:
            chat.placed = None
            self._place(chat)

    def _grant_if_ready(self, entry: _Entry, now: float) -> None:
        *_, chat, call = entry
        if chat.placed is not call or chat.head(now) is not call or chat.pace.ready_at(call.kind) > now:
            self._place_again(entry)
        else:
            chat.placed = None
            self._grant(chat, call, now)
            self._place(chat)

    def _grant(self, chat: _Chat, call: Call, now: float) -> None:
        chat.queues[call.rank].popleft()
        if call.granted is None or call.granted.done():  # cancelled, but its task hasn't run since
            return
        chat.busy[call.rank] = True
        call.sent_at = now
        chat.pace.count_call(call.kind, now)
        for pace in self._get_group(call).paces:
            pace.take_slot(chat.placed_at, now)
        call.granted.set_result(None)

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        times = [group.get_next_slot() for group in self._groups if group.ready]
        if self._resting:
            times.append(self._resting[0][0])
        if times:
            self._timer = asyncio.get_running_loop().call_at(min(times), self._grant_all_ready)

    def _sweep(self, now: float) -> None:
        if now - self._swept_at >= SWEEP_SECONDS:
            self._swept_at = now
            self._chats = {key: chat for key, chat in self._chats.items() if not chat.is_idle(now)}


def _now() -> float:
    return asyncio.get_running_loop().time()

"""One dispatcher for all that is sent: whose turn it is, and when.

Calls wait in a queue for each chat and priority. A chat is either ready or resting. It is ready when its head may go as
far as the chat is concerned: the heaps of the gates order these by priority, then by age. The heap `_resting` orders
the others by when they may go. One timer serves all. Entries of the heaps are never removed from within: what changed
meanwhile is noticed when an entry comes up. So each step costs the logarithm of the number of waiting chats, and no
chat can hold up another.

The gates are those of edits, of messages, of broadcasts, which take what slots the messages leave, and of broadcasts
that are paid for.
"""

import asyncio
import heapq
import itertools
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Literal, get_args

from bot.infra.telegram.errors import Unsent
from bot.infra.telegram.outbound.pace import ChatPace, Kind, Limits, Line

Priority = Literal["money", "talk", "bulk"]
"""What goes first: messages about money, then the conversation, then broadcasts."""

ChatId = int | str
RANKS: dict[Priority, int] = {priority: rank for rank, priority in enumerate(get_args(Priority))}
BULK = RANKS["bulk"]

SWEEP_SECONDS = 60.0


@dataclass(slots=True, eq=False)
class Call:
    """One call that wants its turn; kept for a repetition, so that it keeps its place."""

    chat_id: ChatId
    priority: Priority
    kind: Kind = "message"
    is_paid: bool = False
    number: int = 0
    granted: asyncio.Future[None] | None = None

    @property
    def rank(self) -> int:
        """Smaller goes first."""
        return RANKS[self.priority]


@dataclass(slots=True, eq=False)
class _Chat:
    pace: ChatPace
    queues: tuple[deque[Call], ...] = field(default_factory=lambda: tuple(deque() for _ in RANKS))
    busy: list[bool] = field(default_factory=lambda: [False] * len(RANKS))
    placed: Call | None = None
    placed_at: float = 0.0

    def head(self) -> Call | None:
        """The next call. Calls of one priority are made one after the other, so that none overtakes another."""
        for queue, busy in zip(self.queues, self.busy, strict=True):
            if queue and not busy:
                return queue[0]
        return None

    def is_idle(self, now: float) -> bool:
        return not any(self.queues) and not any(self.busy) and self.pace.is_rested(now)


_Entry = tuple[float, int, int, _Chat, Call]


@dataclass(slots=True, eq=False)
class _Gate:
    """Those who are ready, and the lines that each of them has to take a slot of."""

    lines: tuple[Line, ...]
    ready: list[_Entry] = field(default_factory=list)

    def opens_at(self) -> float:
        return max(line.opens_at() for line in self.lines)


class SendScheduler:
    """Gives turns. Time is the event loop's."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._chats: dict[ChatId, _Chat] = {}
        self._resting: list[_Entry] = []
        total, bulk = Line(limits.total_per_second), Line(limits.bulk_per_second)
        self._messages = _Gate((total,))
        self._edits = _Gate((Line(limits.total_per_second),))
        self._broadcasts = _Gate((bulk, total))
        self._paid = _Gate((bulk,))
        # In this order they take what they share.
        self._gates = (self._edits, self._messages, self._broadcasts, self._paid)
        self._bulk_paused_until = float("-inf")
        self._timer: asyncio.TimerHandle | None = None
        self._numbers = itertools.count(1)
        self._swept_at = float("-inf")

    @asynccontextmanager
    async def turn(self, call: Call) -> AsyncGenerator[None]:
        """Wait for the call's turn. No other call of its priority is made in its chat during the block.

        Raises:
            Unsent: the dispatcher was closed meanwhile.
        """
        chat = self._chat(call.chat_id)
        await self._wait(chat, call)
        try:
            yield
        finally:
            chat.busy[call.rank] = False
            self._place(chat)
            self._pump()

    def pause(self, chat_id: ChatId, seconds: float) -> None:
        """Telegram refused a call to this chat: nothing goes there for so long, and nothing in bulk at all."""
        until = _now() + seconds
        self._chat(chat_id).pace.pause(until)
        self._bulk_paused_until = max(self._bulk_paused_until, until)

    def close(self) -> None:
        """Let nobody wait any more: their calls surely were not sent."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for call in [call for chat in self._chats.values() for queue in chat.queues for call in queue]:
            if call.granted is not None and not call.granted.done():
                call.granted.set_exception(Unsent("the bot is shutting down"))
        self._chats.clear()
        for gate in self._gates:
            gate.ready.clear()
        self._resting.clear()

    def _chat(self, chat_id: ChatId) -> _Chat:
        if chat_id not in self._chats:
            is_group = str(chat_id).startswith("-")
            self._chats[chat_id] = _Chat(ChatPace(self._limits, is_group=is_group))
        return self._chats[chat_id]

    async def _wait(self, chat: _Chat, call: Call) -> None:
        queue = chat.queues[call.rank]
        if call.number:  # it had its turn already and comes back to the head
            queue.appendleft(call)
        else:
            call.number = next(self._numbers)
            queue.append(call)
        call.granted = asyncio.get_running_loop().create_future()
        self._place(chat)
        self._pump()
        try:
            await call.granted
        except asyncio.CancelledError:
            self._withdraw(chat, call)
            raise

    def _withdraw(self, chat: _Chat, call: Call) -> None:
        if call.granted is not None and not call.granted.cancelled():  # its turn came in the same moment
            chat.busy[call.rank] = False
        elif call in chat.queues[call.rank]:
            chat.queues[call.rank].remove(call)
        self._place(chat)
        self._pump()

    def _place(self, chat: _Chat) -> None:
        """Put the chat where its head belongs, unless it is there already."""
        head = chat.head()
        if head is None or head is chat.placed:
            return
        chat.placed, chat.placed_at = head, _now()
        may_go = self._ready_at(chat, head)
        if may_go <= chat.placed_at:
            heapq.heappush(self._gate(head).ready, (head.rank, head.number, next(self._numbers), chat, head))
        else:
            heapq.heappush(self._resting, (may_go, head.number, next(self._numbers), chat, head))

    def _gate(self, call: Call) -> _Gate:
        if call.kind == "edit":
            return self._edits
        if call.rank != BULK:
            return self._messages
        return self._paid if call.is_paid else self._broadcasts

    def _ready_at(self, chat: _Chat, call: Call) -> float:
        may_go = chat.pace.ready_at(call.kind)
        return max(may_go, self._bulk_paused_until) if call.rank == BULK else may_go

    def _pump(self) -> None:
        now = _now()
        self._sweep(now)
        while self._resting and self._resting[0][0] <= now:
            self._place_anew(heapq.heappop(self._resting))
        for gate in self._gates:
            while gate.ready and now >= gate.opens_at():
                self._consider(heapq.heappop(gate.ready), now)
        self._set_timer()

    def _place_anew(self, entry: _Entry) -> None:
        *_, chat, call = entry
        if chat.placed is call:
            chat.placed = None
            self._place(chat)

    def _consider(self, entry: _Entry, now: float) -> None:
        *_, chat, call = entry
        if chat.placed is not call or chat.head() is not call or self._ready_at(chat, call) > now:
            self._place_anew(entry)
        else:
            chat.placed = None
            self._grant(chat, call, now)
            self._place(chat)

    def _grant(self, chat: _Chat, call: Call, now: float) -> None:
        chat.queues[call.rank].popleft()
        if call.granted is None or call.granted.done():  # cancelled, and its task has not run since
            return
        chat.busy[call.rank] = True
        chat.pace.take(call.kind, now)
        for line in self._gate(call).lines:
            line.take(chat.placed_at, now)
        call.granted.set_result(None)

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        times = [gate.opens_at() for gate in self._gates if gate.ready]
        if self._resting:
            times.append(self._resting[0][0])
        if times:
            self._timer = asyncio.get_running_loop().call_at(min(times), self._pump)

    def _sweep(self, now: float) -> None:
        if now - self._swept_at >= SWEEP_SECONDS:
            self._swept_at = now
            self._chats = {key: chat for key, chat in self._chats.items() if not chat.is_idle(now)}


def _now() -> float:
    return asyncio.get_running_loop().time()

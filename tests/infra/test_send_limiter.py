"""The limiter, in virtual time: order, pace, and what a rejection delays."""

import asyncio
from collections import Counter, defaultdict
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.app import create_send_limits
from bot.config import load
from bot.infra.telegram.outbound.limiter import ON_SEND, SPREAD_SECONDS, Limits, Priority, SendLimiter
from bot.infra.telegram.outcomes import SlowDown
from bot.sandbox.bot_api.calls import TooManyRequests
from bot.sandbox.bot_api.limits import RateLimiter
from bot.sandbox.bot_api.model import Chat
from bot.sandbox.bot_api.model import Limits as TelegramLimits
from tests.examples import examples
from tests.infra.keys import REQUIRED_SETTINGS
from tests.virtual_time import VirtualLoop, in_virtual_time, now

GROUP = -100200300


class Wire:
    """Replaces Telegram. It records when each call arrives, and rejects the calls that the test lists.

    `counts` is what its limit of 30 messages a second counts. Without it there is no limit.
    """

    def __init__(self, limits: Limits | None = None, *, takes: float = 0.03, counts: Any = None) -> None:
        self.limiter = SendLimiter(limits)
        self.takes = takes
        self.telegram = RateLimiter(TelegramLimits(enforce=counts is not None, total_applies_to=counts or "bulk"))
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
        self, chat: int, priority: Priority = "talk", text: str = "", endpoint: str = "sendMessage", **more: object
    ) -> Any:
        data = {"chat_id": chat, **more}
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
            try:
                self.telegram.count(Chat(chat, "private"), {"text": text}, now())
            except TooManyRequests as error:
                self.rejected += 1
                raise SlowDown((error.parameters or {})["retry_after"]) from error
            self._accepted.append((chat, text))
        finally:
            self.under_way[chat, order] -= 1
        return True

    def times(self, chat: int | None = None, priority: Priority | None = None) -> list[float]:
        return [at for at, to, via, _ in self.sent if chat in {None, to} and priority in {None, via}]

    def texts(self, chat: int) -> list[str]:
        return [text for _, to, _, text in self.sent if to == chat]

    def accepted(self, chat: int) -> list[str]:
        return [text for to, text in self._accepted if to == chat]


def most_in_any(window: float, times: list[float]) -> int:
    return max(sum(start <= at < start + window for at in times) for start in times)


async def begin(*calls: Any) -> list[asyncio.Task[Any]]:
    """Begin calls, and return when those that needn't wait are being made."""
    tasks = [asyncio.create_task(call) for call in calls]
    await asyncio.sleep(0.01)
    return tasks


async def patiently(wire: Wire, chat: int, priority: Priority, text: str) -> None:
    """Send as the session and the outbox do: what the limiter gives back is tried again."""
    while True:
        try:
            await wire.send(chat, priority, text)
            break
        except SlowDown as slow:
            await asyncio.sleep(slow.seconds)


@pytest.mark.parametrize(
    ("changed", "limits"),
    [
        ({}, Limits()),
        ({"chat_messages_per_second": 2}, Limits(chat_per_second=2)),
        ({"group_messages_per_minute": 60}, Limits(group_per_minute=60)),
        ({"broadcast_messages_per_second": 5}, Limits(bulk_per_second=5)),
        ({"broadcast_messages_per_second": 300, "allow_paid_broadcast": True}, Limits(bulk_per_second=300)),
    ],
    ids=str,
)
def test_each_setting_changes_its_own_limit_alone(changed: dict[str, object], limits: Limits) -> None:
    assert create_send_limits(load(None, **REQUIRED_SETTINGS, **changed)) == limits


@in_virtual_time
async def test_a_message_about_money_overtakes_a_broadcast_at_once() -> None:
    wire = Wire()
    broadcast = await begin(*(wire.send(chat, "bulk") for chat in range(1, 601)))
    for number in range(20):
        await asyncio.sleep(0.713)
        asked = now()
        await wire.send(9000 + number, "money")
        assert wire.times(9000 + number) == [asked]
    await asyncio.gather(*broadcast)
    sent = wire.times(priority="bulk")
    assert most_in_any(1.0, sent) <= 30
    assert 600 / (sent[-1] - sent[0]) > 28.5
    assert all(later - earlier >= 1 / 29.7 - 0.001 for earlier, later in pairwise(sent)), "evenly spaced"


@in_virtual_time
async def test_answers_to_two_hundred_chats_are_sent_at_once() -> None:
    wire, asked = Wire(), now()
    await asyncio.gather(*(wire.send(chat) for chat in range(1, 201)))
    assert set(wire.times()) == {asked}


@in_virtual_time
async def test_in_a_chat_money_comes_before_answers_and_answers_before_bulk() -> None:
    for chat in (1, GROUP):
        wire = Wire(Limits(group_per_minute=3))
        await asyncio.gather(*(wire.send(chat, "bulk", "first") for _ in range(3)))
        # A group has used up its minute then, and any chat its burst.
        await asyncio.gather(*(wire.send(chat, each) for _ in range(2) for each in ("bulk", "talk", "money")))
        assert [each for _, _, each, _ in wire.sent][3:] == ["money"] * 2 + ["talk"] * 2 + ["bulk"] * 2


@pytest.mark.parametrize(("endpoint", "burst", "gap"), [("sendMessage", 3, 1.0), ("editMessageText", 5, 0.5)])
def test_a_rested_chat_takes_a_few_at_once_and_then_one_after_the_other(endpoint: str, burst: int, gap: float) -> None:
    @in_virtual_time
    async def run() -> None:
        wire, asked = Wire(takes=0.0), now()
        await asyncio.gather(*(wire.send(1, text=str(number), endpoint=endpoint) for number in range(9)))
        waits = [at - asked for at in wire.times(1)]
        assert waits == pytest.approx([0.0] * burst + [gap * number for number in range(1, 10 - burst)], abs=0.01)
        assert wire.texts(1) == [str(number) for number in range(9)]

    run()


@in_virtual_time
async def test_a_group_gets_at_most_twenty_a_minute_and_edits_count() -> None:
    wire = Wire()
    wire.refusals[GROUP] = [1.0, 5.0, 25.0]
    endpoints = ["sendMessage", "editMessageText"]
    await asyncio.gather(*(wire.send(GROUP, endpoint=endpoints[number % 2]) for number in range(50)))
    assert most_in_any(60.0, wire.times(GROUP)) == 20
    assert len(wire.accepted(GROUP)) == 50


@in_virtual_time
async def test_a_rejection_pauses_its_chat_and_slows_down_bulk_and_nothing_else() -> None:
    wire = Wire()
    broadcast = await begin(*(wire.send(chat, "bulk") for chat in (*range(100, 150), 1, *range(150, 600))))
    await asyncio.sleep(1)
    wire.refusals[1] = [7.0]
    refused = await begin(wire.send(1, text="refused"), wire.send(1, text="after"))
    rejected_at = wire.times(1)[0] + wire.takes
    await asyncio.sleep(0.1)
    asked = now()
    await asyncio.gather(wire.send(2), wire.send(3, "money"))
    assert now() - asked == pytest.approx(wire.takes)
    await asyncio.gather(*refused)
    assert wire.texts(1)[:3] == ["refused", "refused", "after"], "the refused one keeps its place"
    assert 7.0 <= wire.times(1)[1] - rejected_at <= 7.0 + SPREAD_SECONDS + 0.01
    await asyncio.gather(*broadcast)
    assert wire.times(1, "bulk")[0] >= rejected_at + 7.0, "it has waited for its slot when the chat was paused"
    in_bulk = wire.times(priority="bulk")
    assert sum(rejected_at < at <= rejected_at + 1 for at in in_bulk) == pytest.approx(29.7 / 2, abs=2)
    assert sum(rejected_at + 11 < at <= rejected_at + 12 for at in in_bulk) == pytest.approx(29.7, abs=1)
    assert wire.limiter.bulk_per_second == 29.7


@in_virtual_time
async def test_money_for_a_chat_with_a_long_pause_goes_back_to_its_sender_without_a_call() -> None:
    wire = Wire()
    wire.refusals[1] = [3600.0]
    waiting = await begin(wire.send(1, "money", "refused"), *(wire.send(1, "money") for _ in range(4)))
    results = await asyncio.gather(*waiting, return_exceptions=True)
    assert all(isinstance(result, SlowDown) for result in results)
    await asyncio.sleep(10)
    for endpoint in ("sendMessage", "deleteMessage"):
        with pytest.raises(SlowDown) as later:
            await wire.send(1, "money", "", endpoint)
        assert later.value.seconds == pytest.approx(3590, abs=1 + SPREAD_SECONDS)
    assert wire.texts(1) == ["refused"]
    asked = now()
    await wire.send(1, "talk")
    assert now() - asked == pytest.approx(later.value.seconds, abs=1), "an answer is saved nowhere, so it waits"
    await wire.send(1, "money")


@pytest.mark.parametrize("endpoint", ["deleteMessage", "editMessageText", "editMessageCaption", "editMessageMedia"])
def test_no_message_waits_for_an_edit_that_is_slow_or_rejected(endpoint: str) -> None:
    @in_virtual_time
    async def run() -> None:
        wire = Wire(takes=60.0)
        slow = await begin(wire.send(1, "money", "slow", endpoint))
        wire.takes, asked = 0.03, now()
        await wire.send(1, "money", "paid")
        assert now() - asked < 0.1
        await asyncio.gather(*slow)
        for seconds in (7.0, 3600.0):
            wire.refusals[1] = [seconds]
            edits = await begin(*(wire.send(1, each, "", endpoint) for each in ("money", "talk", "talk")))
            await asyncio.sleep(1)
            asked = now()
            await asyncio.gather(wire.send(1, "money", "failed"), wire.send(1, "talk", "an answer"))
            assert now() - asked < 0.5
            results = await asyncio.gather(*edits, return_exceptions=True)
            assert any(isinstance(result, SlowDown) for result in results) == (seconds == 3600.0)
        for priority in ("money", "talk"):  # its sender may send an answer next, which must not wait for it
            with pytest.raises(SlowDown):
                await wire.send(1, priority, "another edit", endpoint)

    run()


@in_virtual_time
async def test_a_cancelled_call_takes_no_turn_and_delays_nobody() -> None:
    wire, left = Wire(takes=0.0), []
    ON_SEND.set(lambda: left.append(now()))
    asked = now()
    waiting = [asyncio.create_task(wire.send(1, text=str(number))) for number in range(6)]
    # In the same iteration of the loop as its turn, and before it.
    asyncio.get_running_loop().call_at(asked + 1.0, waiting[3].cancel)
    await asyncio.sleep(0)
    waiting[4].cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    assert wire.texts(1) == ["0", "1", "2", "5"]
    assert wire.times(1)[-1] == pytest.approx(asked + 1.0, abs=0.05)
    assert left == wire.times(1), "who is cancelled before that knows that nothing was sent"
    wire.takes = 1000.0
    for number in range(2):  # while it is made, and in the moment of its turn
        (hanging,) = [asyncio.create_task(wire.send(1))]
        await asyncio.sleep(number)
        hanging.cancel()
        await asyncio.gather(hanging, return_exceptions=True)
    wire.takes = 0.1
    await asyncio.wait_for(wire.send(1), 5)


@in_virtual_time
async def test_a_paid_broadcast_has_its_own_pace_and_what_is_free_keeps_to_telegrams() -> None:
    wire = Wire(Limits(bulk_per_second=100))
    asked = now()
    await asyncio.gather(*(wire.send(chat, "bulk", allow_paid_broadcast=True) for chat in range(1, 401)))
    assert now() - asked == pytest.approx(4.0, abs=0.1)
    asked = now()
    await asyncio.gather(*(wire.send(chat, "bulk") for chat in range(1001, 1061)))
    assert now() - asked == pytest.approx(60 / 29.7, abs=0.1)


@in_virtual_time
async def test_a_crowd_is_answered_in_seconds_where_telegram_counts_all_messages() -> None:
    wire, asked = Wire(takes=0.1, counts="all"), now()
    await asyncio.gather(*(wire.send(chat) for chat in range(1, 201)))
    assert now() - asked < 15, "30 a second would take 6, and repeating all together a minute"


@in_virtual_time
async def test_a_minute_and_a_half_of_rejections_lose_no_answer_and_keep_the_order_of_each_chat() -> None:
    wire, began = Wire(takes=0.05), now()
    wire.rejects_until = dict.fromkeys(range(1, 41), began + 90)

    async def walk(chat: int) -> None:
        for step in range(3):
            await patiently(wire, chat, "talk", f"{chat}:{step}")

    await asyncio.gather(*(walk(chat) for chat in range(1, 41)))
    for chat in range(1, 41):
        assert wire.accepted(chat) == [f"{chat}:{step}" for step in range(3)]
    assert sum(began + 10 < at < began + 90 for at in wire.times()) / 80 < 5, "and Telegram wasn't hammered"


CALLS = st.tuples(
    st.sampled_from([1, 2, 3, GROUP]),
    st.sampled_from(["money", "talk", "bulk"]),
    st.sampled_from(["sendMessage", "editMessageText"]),
    st.floats(0, 3),
    st.booleans(),
)


@settings(deadline=None, max_examples=examples(60))
@given(st.lists(CALLS, max_size=40), st.lists(st.sampled_from([1, 2, GROUP]), max_size=2))
def test_whatever_comes_is_sent_once_in_order_within_its_priority_or_cancelled(
    calls: list[tuple[int, Priority, str, float, bool]], refused: list[int]
) -> None:
    async def run() -> None:
        wire = Wire(takes=0.2)
        for chat in refused:
            wire.refusals[chat].append(3.0)
        tasks = []
        for number, (chat, priority, endpoint, pause, cancelled) in enumerate(calls):
            tasks.append(asyncio.create_task(wire.send(chat, priority, f"{number:03}", endpoint)))
            await asyncio.sleep(pause)
            if cancelled:
                tasks[-1].cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        for (_, priority, *_), result in zip(calls, results, strict=True):
            went_back = priority == "bulk" and isinstance(result, SlowDown)
            assert result is True or went_back or isinstance(result, asyncio.CancelledError)
        assert wire.at_once <= 1
        in_bulk = wire.times(priority="bulk")
        assert not in_bulk or most_in_any(1.0, in_bulk) <= 30
        assert all(texts == sorted(texts) for texts in wire.in_order.values())
        delivered = {text for *_, text in wire.sent}
        assert all(f"{number:03}" in delivered for number, result in enumerate(results) if result is True)

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(run())

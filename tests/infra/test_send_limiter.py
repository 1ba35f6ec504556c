"""The limiter, in virtual time: order, speed, and which calls a rejection delays."""

import asyncio
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.infra.telegram.errors import SlowDown, Unsent
from bot.infra.telegram.outbound.limiter import SendLimiter
from bot.infra.telegram.outbound.pace import Limits
from bot.infra.telegram.outbound.scheduler import Priority
from tests.examples import examples
from tests.infra.telegram_wire import Wire, most_in_any
from tests.virtual_time import VirtualLoop, in_virtual_time, now

GROUP = -100200300


@in_virtual_time
async def test_a_message_about_money_overtakes_a_broadcast_at_once() -> None:
    wire = Wire()
    broadcast = [asyncio.create_task(wire.send(chat, "bulk")) for chat in range(1, 601)]
    delays = []
    for number in range(20):
        await asyncio.sleep(0.713)
        asked = now()
        await wire.send(9000 + number, "money")
        delays.append(wire.times(9000 + number)[0] - asked)
    assert max(delays) <= 0.05
    await asyncio.gather(*broadcast)
    sent = wire.times(priority="bulk")
    assert most_in_any(1.0, sent) <= 30
    assert 600 / (sent[-1] - sent[0]) > 28.5, "and they take nothing from it, because there is room for both"


@in_virtual_time
async def test_priorities_go_in_their_order_whatever_the_order_of_asking() -> None:
    wire = Wire()
    priorities: list[Priority] = ["bulk", "talk", "money"]
    await asyncio.gather(*(wire.send(chat, priorities[chat % 3]) for chat in range(60)))
    # The first call found an empty queue.
    assert [priority for _, _, priority, _ in wire.sent][1:] == ["money"] * 20 + ["talk"] * 20 + ["bulk"] * 19


@in_virtual_time
async def test_all_chats_together_never_get_more_than_the_rate_in_any_second() -> None:
    wire = Wire(Limits(start_per_second=29.7, most_per_second=29.7))

    async def waves() -> None:
        for wave in range(6):
            await asyncio.gather(*(wire.send(1000 * wave + chat) for chat in range(70)))
            await asyncio.sleep(0.4 * wave)

    await waves()
    assert most_in_any(1.0, wire.times()) <= 30
    assert all(later - earlier >= 1 / 29 - 0.0051 for earlier, later in pairwise(wire.times()))


@in_virtual_time
async def test_a_rested_chat_takes_three_at_once_and_then_one_a_second() -> None:
    wire = Wire()
    begin = now()
    await asyncio.gather(*(wire.send(1, text=str(number)) for number in range(8)))
    waits = [at - begin for at in wire.times(1)]
    assert waits[2] < 0.2
    assert [round(wait) for wait in waits[3:]] == [1, 2, 3, 4, 5]
    assert wire.texts(1) == [str(number) for number in range(8)]


@in_virtual_time
async def test_one_chat_full_of_messages_holds_up_no_other() -> None:
    wire = Wire()
    flood = [asyncio.create_task(wire.send(1)) for _ in range(50)]
    await asyncio.sleep(1)
    asked = now()
    await asyncio.gather(*(wire.send(chat) for chat in range(2, 22)))
    assert max(wire.times(chat)[0] for chat in range(2, 22)) - asked <= 22 / 29
    for task in flood:
        task.cancel()
    await asyncio.gather(*flood, return_exceptions=True)


@in_virtual_time
async def test_a_group_gets_at_most_twenty_a_minute_and_edits_count() -> None:
    wire = Wire()
    endpoints = ["sendMessage", "editMessageText"]
    await asyncio.gather(*(wire.send(GROUP, endpoint=endpoints[number % 2]) for number in range(50)))
    assert most_in_any(60.0, wire.times(GROUP)) == 20


@in_virtual_time
async def test_edits_follow_quick_presses_but_not_without_end() -> None:
    wire = Wire()
    begin = now()
    await asyncio.gather(*(wire.send(1, endpoint="editMessageText") for _ in range(9)))
    waits = [at - begin for at in wire.times(1)]
    assert waits[4] < 0.3
    assert waits[-1] == pytest.approx(2.0, abs=0.1)


@in_virtual_time
async def test_two_calls_of_one_priority_in_one_chat_are_never_under_way_together() -> None:
    wire = Wire(takes=0.9)
    await asyncio.gather(*(wire.send(1, text=str(number)) for number in range(4)))
    assert wire.at_once == 1
    assert wire.texts(1) == ["0", "1", "2", "3"]


@in_virtual_time
async def test_money_need_not_wait_for_the_end_of_a_slow_conversation_call() -> None:
    wire = Wire(takes=12.0)
    talk = asyncio.create_task(wire.send(1, "talk"))
    await asyncio.sleep(0.1)
    asked = now()
    money = asyncio.create_task(wire.send(1, "money"))
    await asyncio.gather(talk, money)
    assert wire.times(1, "money")[0] - asked < 0.05


@in_virtual_time
async def test_a_rejection_pauses_its_chat_and_no_other_not_even_a_broadcast() -> None:
    wire = Wire()
    wire.refusals[1] = [7.0]
    broadcast = [asyncio.create_task(wire.send(chat, "bulk")) for chat in range(100, 130)]
    refused = asyncio.create_task(wire.send(1, text="refused"))
    after = asyncio.create_task(wire.send(1, text="after"))
    await asyncio.sleep(0.1)
    refused_at = wire.times(1)[0] + wire.takes
    begin = now()
    await asyncio.gather(*(wire.send(chat, priority) for chat, priority in ((2, "talk"), (3, "money"))))  # type: ignore[arg-type]
    assert now() - begin < 0.3
    assert await asyncio.gather(refused, after, *broadcast)
    assert wire.texts(1) == ["refused", "refused", "after"], "the refused one keeps its place"
    assert wire.times(1)[1] >= refused_at + 7.0
    assert wire.times(priority="bulk")[-1] < refused_at + 3.0


@in_virtual_time
async def test_a_call_is_repeated_only_so_often_and_less_and_less_quickly() -> None:
    wire = Wire(takes=0.0)
    priorities: dict[int, Priority] = {1: "money", 2: "talk", 3: "bulk"}
    for chat in priorities:
        wire.refusals[chat] = [1.0] * 10
    results = await asyncio.gather(
        *(wire.send(chat, priority) for chat, priority in priorities.items()), return_exceptions=True
    )
    assert all(isinstance(result, SlowDown) for result in results)
    pauses = {chat: [later - at for at, later in pairwise(wire.times(chat))] for chat in priorities}
    assert pauses[1] == pytest.approx([1, 2], abs=0.15)
    assert pauses[2] == pytest.approx([1, 2, 4, 8, 16, 30], abs=0.15), "an answer is saved nowhere"
    assert pauses[3] == []
    assert wire.limiter.slow_downs == 3 + 7 + 1
    await asyncio.sleep(3600)
    assert wire.limiter.slow_downs == 0


@in_virtual_time
async def test_a_long_pause_is_left_to_the_caller() -> None:
    for seconds in (31.0, 300.0, 3600.0):
        wire = Wire()
        wire.refusals[1] = [seconds]
        begin = now()
        with pytest.raises(SlowDown) as refused:
            await wire.send(1, "money")
        assert refused.value.seconds == seconds
        assert now() - begin < 1


@in_virtual_time
async def test_money_for_a_chat_with_a_long_pause_goes_back_to_its_sender_without_a_call() -> None:
    wire = Wire()
    wire.refusals[1] = [3600.0]
    refused = asyncio.create_task(wire.send(1, "talk"))
    await asyncio.sleep(0)
    waiting = [asyncio.create_task(wire.send(1, "money")) for _ in range(4)]  # a chat gets three at once
    results = await asyncio.gather(refused, *waiting, return_exceptions=True)
    assert [type(result) for result in results] == [SlowDown, bool, SlowDown, SlowDown, SlowDown]
    await asyncio.sleep(10)
    with pytest.raises(SlowDown) as later:
        await wire.send(1, "money")
    assert later.value.seconds == pytest.approx(3590, abs=1)
    assert len(wire.times(1)) == 2
    begin = now()
    await wire.send(1, "talk")
    assert now() - begin == pytest.approx(later.value.seconds, abs=1), "an answer is saved nowhere, so it waits"
    await wire.send(1, "money")


@pytest.mark.parametrize("endpoint", ["deleteMessage", "editMessageText", "editMessageCaption", "editMessageMedia"])
def test_no_message_about_money_waits_for_an_edit_that_is_slow_or_rejected(endpoint: str) -> None:
    @in_virtual_time
    async def run() -> None:
        wire = Wire(takes=60.0)
        slow = asyncio.create_task(wire.send(1, "money", "slow", endpoint))
        await asyncio.sleep(1)
        wire.takes, asked = 0.03, now()
        await wire.send(1, "money", "paid")
        assert now() - asked < 0.1
        await slow
        for seconds in (7.0, 3600.0):
            wire.refusals[1] = [seconds]
            rejected = asyncio.create_task(wire.send(1, "money", "rejected", endpoint))
            await asyncio.sleep(1)
            asked = now()
            await asyncio.gather(wire.send(1, "money", "failed"), wire.send(1, "talk", "an answer"))
            assert now() - asked < 0.5
            assert not rejected.done() or seconds == 3600.0
            await asyncio.gather(rejected, return_exceptions=True)
        with pytest.raises(SlowDown):
            await wire.send(1, "money", "another edit", endpoint)

    run()


@in_virtual_time
async def test_no_answer_waits_behind_an_edit_that_telegram_pauses_for_long() -> None:
    wire = Wire()
    wire.refusals[1] = [3600.0]
    edits = [asyncio.create_task(wire.send(1, "talk", "", "editMessageText")) for _ in range(8)]
    results = await asyncio.gather(*edits, return_exceptions=True)
    assert all(isinstance(result, SlowDown) for result in results)
    later, answer = wire.send(1, "talk", "", "deleteMessage"), wire.send(1, "talk", "an answer")
    asked = now()
    assert isinstance((await asyncio.gather(later, answer, return_exceptions=True))[0], SlowDown)
    assert now() - asked < 0.5
    assert wire.texts(1)[-1] == "an answer"


@in_virtual_time
async def test_an_edit_waits_for_a_pause_that_a_message_caused() -> None:
    wire = Wire()
    wire.refusals[1] = [3600.0]
    with pytest.raises(SlowDown):
        await wire.send(1, "money", "paid")
    with pytest.raises(SlowDown):
        await wire.send(1, "money", "", "deleteMessage")
    assert len(wire.times(1)) == 1


@in_virtual_time
async def test_other_errors_are_never_repeated_here() -> None:
    limiter = SendLimiter()
    calls = 0

    async def call() -> bool:
        nonlocal calls
        calls += 1
        raise TimeoutError

    for _ in range(2):
        with pytest.raises(TimeoutError):
            await limiter.process_request(call, (), {}, "sendMessage", {"chat_id": 1}, "talk")
    assert calls == 2, "and the priority is free again afterwards"


@in_virtual_time
async def test_answers_to_presses_questions_to_telegram_and_reactions_wait_for_nothing() -> None:
    wire = Wire()
    flood = [asyncio.create_task(wire.send(1)) for _ in range(100)]
    await asyncio.sleep(0)
    begin = now()
    for endpoint in ("answerCallbackQuery", "getMe", "getChat", "sendChatAction", "setMessageReaction"):
        await wire.send(1, endpoint=endpoint)
    assert now() - begin == pytest.approx(5 * wire.takes)
    for task in flood:
        task.cancel()
    await asyncio.gather(*flood, return_exceptions=True)


@in_virtual_time
async def test_a_cancelled_call_leaves_nothing_behind_and_delays_nobody() -> None:
    wire = Wire()
    waiting = [asyncio.create_task(wire.send(1, text=str(number))) for number in range(20)]
    await asyncio.sleep(0.5)
    for task in waiting[:18]:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    assert wire.texts(1) == ["0", "1", "2", "18", "19"]
    await asyncio.sleep(200)
    await wire.send(2)
    dispatcher = wire.limiter._scheduler
    assert set(dispatcher._chats) == {2}
    assert not dispatcher._messages.ready
    assert not dispatcher._resting


@in_virtual_time
async def test_a_call_cancelled_while_it_is_being_made_frees_its_priority() -> None:
    wire = Wire(takes=1000.0)
    hanging = asyncio.create_task(wire.send(1))
    await asyncio.sleep(1)
    hanging.cancel()
    await asyncio.gather(hanging, return_exceptions=True)
    wire.takes = 0.1
    await asyncio.wait_for(wire.send(1), 5)


@in_virtual_time
async def test_a_call_cancelled_in_the_moment_of_its_turn_frees_its_priority() -> None:
    wire = Wire()
    task = asyncio.create_task(wire.send(1))
    await asyncio.sleep(0)  # its turn came, but its task hasn't run yet
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await asyncio.wait_for(wire.send(1), 5)


@in_virtual_time
async def test_a_call_cancelled_just_before_its_turn_spends_no_turn() -> None:
    wire = Wire(takes=0.0)
    begin = now()
    waiting = [asyncio.create_task(wire.send(1, text=str(number))) for number in range(5)]
    # Runs in the same iteration of the loop as the scheduler's timer, and before it.
    asyncio.get_running_loop().call_at(begin + 1.0, waiting[3].cancel)
    await asyncio.gather(*waiting, return_exceptions=True)
    assert wire.texts(1) == ["0", "1", "2", "4"]
    assert wire.times(1)[-1] == pytest.approx(begin + 1.0, abs=0.05)


@in_virtual_time
async def test_idle_chats_are_forgotten_and_busy_ones_are_not() -> None:
    wire = Wire()
    await asyncio.gather(*(wire.send(chat, "bulk") for chat in range(1, 301)))
    wire.takes = 500.0
    slow = asyncio.create_task(wire.send(5000))
    await asyncio.sleep(200)
    wire.takes = 0.0
    await wire.send(6000)
    assert set(wire.limiter._scheduler._chats) == {5000, 6000}
    await slow


@in_virtual_time
async def test_shutting_down_tells_those_who_wait_that_nothing_was_sent() -> None:
    wire = Wire()
    waiting = [asyncio.create_task(wire.send(1)) for _ in range(10)]
    await asyncio.sleep(0.2)
    await wire.limiter.shutdown()
    results = await asyncio.gather(*waiting, return_exceptions=True)
    assert results[:3] == [True, True, True]
    assert all(isinstance(result, Unsent) for result in results[3:])


@in_virtual_time
async def test_an_unknown_priority_is_a_mistake_and_not_a_default() -> None:
    with pytest.raises(ValueError, match="no such priority"):
        await Wire().send(1, "urgent")  # type: ignore[arg-type]


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

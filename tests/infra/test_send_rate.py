"""The rate of messages to all chats, in virtual time: it adapts to what Telegram accepts."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.infra.telegram.errors import SlowDown, Unsent
from bot.infra.telegram.outbound.pace import LEAST_PER_SECOND, UNLIMITED, AdaptiveRate, Limits
from bot.sandbox.bot_api.limits import RateLimiter
from bot.sandbox.bot_api.model import Limits as TelegramLimits
from tests.infra.telegram_wire import Wire, most_in_any
from tests.virtual_time import in_virtual_time, now

GROUP = -100200300
MINUTE_AND_A_HALF = 90.0


def test_a_rate_grows_by_a_tenth_each_second_up_to_its_maximum() -> None:
    rate = AdaptiveRate(60, 200)
    assert rate.per_second(1000.0) == 60
    assert rate.per_second(1001.0) == pytest.approx(66)
    assert rate.per_second(1002.0) == pytest.approx(72.6)
    assert rate.per_second(1012.0) < 200
    assert rate.per_second(1013.0) == 200
    assert rate.per_second(1000.0 + 10**9) == 200


def test_a_rejection_halves_the_rate_and_those_already_under_way_count_as_the_same() -> None:
    rate = AdaptiveRate(60, 200)
    rate.per_second(1000.0)
    assert rate.halve(sent_at=1000.5, now=1001.0)
    assert rate.per_second(1001.0) == pytest.approx(33)
    for sent_at in (1000.2, 1000.9, 1001.0, 1001.4):
        assert not rate.halve(sent_at, now=1001.6)
    assert rate.per_second(1002.0) == pytest.approx(36.3), "so it grew meanwhile"
    assert rate.halve(sent_at=1001.6, now=1002.0)
    assert rate.per_second(1002.0) == pytest.approx(18.15)


def test_a_rate_never_falls_so_low_that_nothing_is_sent_and_comes_back() -> None:
    rate, slow = AdaptiveRate(60, 200), AdaptiveRate(0.5, 0.5)
    for second in range(60):
        for each in (rate, slow):
            each.halve(sent_at=second, now=second + 0.1)
    assert rate.per_second(59.1) == LEAST_PER_SECOND
    assert slow.per_second(59.1) == 0.5, "an operator can ask for less"
    assert rate.per_second(59.1 + 19) > 30
    assert rate.per_second(59.1 + 39) == 200


def test_no_limit_stays_no_limit() -> None:
    rate = AdaptiveRate(UNLIMITED.start_per_second, UNLIMITED.most_per_second)
    rate.halve(sent_at=0.0, now=1.0)
    assert rate.per_second(10**6) == float("inf")


@given(st.lists(st.tuples(st.floats(0, 100), st.floats(0, 5)), max_size=60), st.floats(0.1, 1000))
def test_a_rate_stays_between_its_bounds(rejections: list[tuple[float, float]], most: float) -> None:
    rate, moment = AdaptiveRate(60, most), 0.0
    for pause, took in rejections:
        moment += pause
        rate.halve(moment - took, moment)
        assert min(LEAST_PER_SECOND, most) <= rate.per_second(moment) <= most


@in_virtual_time
async def test_sixty_a_second_are_sent_at_first_and_the_maximum_thirteen_seconds_later() -> None:
    wire = Wire()
    await wire.limiter.initialize()
    first, begin = asyncio.gather(*(wire.send(chat) for chat in range(1, 121))), now()
    await first
    assert now() - begin == pytest.approx(120 / 63, abs=0.1)
    await asyncio.sleep(13)
    begin = now()
    await asyncio.gather(*(wire.send(chat) for chat in range(1, 401)))
    assert now() - begin == pytest.approx(400 / 200, abs=0.1)
    assert most_in_any(1.0, wire.times()) <= 201


@in_virtual_time
async def test_rejections_of_one_moment_halve_the_rate_once_and_the_named_chats_wait() -> None:
    wire = Wire(Limits(start_per_second=100, most_per_second=100), takes=0.1)
    named = range(1, 6)
    for chat in named:
        wire.refusals[chat] = [3.0]
    begin = now()
    sent = asyncio.gather(*(wire.send(chat) for chat in range(1, 201)))
    await asyncio.sleep(0.2)
    assert wire.limiter.per_second == pytest.approx(50, rel=0.05)
    await sent
    assert all(wire.times(chat)[1] - begin >= 3.0 for chat in named)
    others = [at - begin for at, chat, *_ in wire.sent if chat not in named]
    assert len(others) == 195
    assert max(others) < 3.5, "nobody else waited for them, only for the slower rate"


@in_virtual_time
async def test_edits_share_the_rate_but_are_counted_apart() -> None:
    wire = Wire(Limits(start_per_second=50, most_per_second=50))
    begin = now()
    await asyncio.gather(
        *(wire.send(chat) for chat in range(1, 101)),
        *(wire.send(chat, endpoint="editMessageText") for chat in range(1001, 1101)),
    )
    assert now() - begin == pytest.approx(100 / 50, abs=0.1)
    wire.refusals[1] = [1.0]
    await wire.send(1, endpoint="editMessageText")
    begin = now()
    await asyncio.gather(*(wire.send(chat) for chat in range(2001, 2051)))
    assert now() - begin > 50 / 40, "a rejected edit slows down messages, too"


@in_virtual_time
async def test_a_chat_that_rejects_everything_halves_the_rate_once_for_each_message() -> None:
    wire = Wire(Limits(start_per_second=200, most_per_second=200))
    wire.refusals[13] = [1.0] * 7
    with pytest.raises(SlowDown):
        await wire.send(13)
    assert wire.limiter.per_second == 200, "it was halved a minute ago, and has grown since"
    wire.refusals[13] = [30.0] * 7
    refused = asyncio.create_task(wire.send(13))
    await asyncio.sleep(60)
    assert wire.limiter.per_second == 200
    refused.cancel()


@in_virtual_time
async def test_bulk_gets_only_what_the_others_leave() -> None:
    wire = Wire(Limits(start_per_second=40, most_per_second=40))
    broadcast = [asyncio.create_task(wire.send(chat, "bulk")) for chat in range(1, 121)]
    await asyncio.gather(*(wire.send(chat) for chat in range(1001, 1121)))
    assert wire.times(priority="talk")[-1] - wire.times()[0] == pytest.approx(3.0, abs=0.1)
    assert len(wire.times(priority="bulk")) <= 2, "nothing was left"
    begin = now()
    await asyncio.gather(*broadcast)
    assert now() - begin == pytest.approx(118 / 29.7, abs=0.1)


@in_virtual_time
async def test_a_rejection_halves_the_share_of_bulk_so_that_it_yields_first() -> None:
    wire = Wire(Limits(start_per_second=200, most_per_second=200))
    broadcast = [asyncio.create_task(wire.send(chat, "bulk")) for chat in range(1, 301)]
    await asyncio.sleep(1.0)
    wire.refusals[1001] = [1.0]
    await wire.send(1001, "money")
    rejected_at = wire.times(1001)[0] + wire.takes
    await asyncio.sleep(20.0)
    sent = wire.times(priority="bulk")
    after = sum(rejected_at < at <= rejected_at + 1 for at in sent)
    assert after == pytest.approx(29.7 / 2, abs=2)
    assert wire.limiter.bulk_per_second == 29.7, "and it has come back"
    await asyncio.gather(*broadcast)


@in_virtual_time
async def test_a_minute_and_a_half_of_rejections_lose_no_message_and_keep_the_order_of_each_chat() -> None:
    wire = Wire(takes=0.05)
    begin = now()
    for chat in range(1, 41):
        wire.rejects_until[chat] = begin + MINUTE_AND_A_HALF

    async def walk(chat: int) -> None:
        for step in range(3):
            # As the session does: an answer is tried again after the limiter has given up.
            for _ in range(3):
                try:
                    await wire.send(chat, "talk", f"{chat}:{step}")
                    break
                except SlowDown:
                    await asyncio.sleep(1)

    walks = asyncio.gather(*(walk(chat) for chat in range(1, 41)))
    await asyncio.sleep(2)
    assert wire.limiter.per_second < 20
    await walks
    for chat in range(1, 41):
        assert wire.accepted(chat) == [f"{chat}:{step}" for step in range(3)]
    per_second = len([at for at in wire.times() if begin + 10 < at < begin + MINUTE_AND_A_HALF]) / 80
    assert per_second < 5, "and Telegram wasn't hammered"


@in_virtual_time
async def test_answers_stay_quick_beside_a_broadcast_where_telegram_counts_all_messages() -> None:
    wire = Wire(takes=0.1, telegram=RateLimiter(TelegramLimits(total_applies_to="all")))
    await wire.limiter.initialize()
    await asyncio.sleep(14)  # the rate is far above what Telegram accepts
    begin, waits = now(), []

    async def answer(chat: int) -> None:
        asked = now()
        await wire.send(chat, "talk", "answer")
        waits.append(now() - asked)

    async def deliver(chat: int) -> None:
        while True:
            try:
                await wire.send(chat, "bulk", "broadcast")
                break
            except SlowDown as slow:
                await asyncio.sleep(slow.seconds)

    broadcast = [asyncio.create_task(deliver(chat)) for chat in range(1, 1001)]
    answers = []
    for number in range(900):
        answers.append(asyncio.create_task(answer(10_000 + number)))
        await asyncio.sleep(1 / 15)
    await asyncio.gather(*answers, *broadcast)
    assert sorted(waits)[len(waits) // 2] < 0.2
    assert max(waits) < 5.0
    assert 1900 / (now() - begin) > 27, "the 30 a second are used"
    assert wire.rejected < 0.02 * len(wire.sent)


@in_virtual_time
async def test_a_second_in_which_telegram_rejects_everything_delays_200_users_by_few_seconds() -> None:
    wire = Wire(takes=0.1)
    await wire.limiter.initialize()
    await asyncio.sleep(14)
    begin = now()
    wire.rejects_until = dict.fromkeys(range(1, 201), begin + 1)
    await asyncio.gather(*(wire.send(chat) for chat in range(1, 201)))
    assert now() - begin < 6


@in_virtual_time
async def test_rejections_with_any_pause_neither_lose_nor_reorder_what_a_group_gets() -> None:
    wire = Wire()
    wire.refusals[GROUP] = [1.0, 5.0, 30.0]
    await asyncio.gather(*(wire.send(GROUP, text=f"{number:02}") for number in range(45)))
    assert wire.accepted(GROUP) == [f"{number:02}" for number in range(45)]
    assert most_in_any(60.0, wire.times(GROUP)) <= 20


@in_virtual_time
async def test_calls_that_wait_for_a_pause_are_certainly_not_sent_when_the_bot_stops() -> None:
    wire = Wire()
    for chat in range(1, 11):
        wire.refusals[chat] = [20.0]
    waiting = [asyncio.create_task(wire.send(chat)) for chat in range(1, 11)]
    await asyncio.sleep(5)
    sent = len(wire.sent)
    await wire.limiter.shutdown()
    results = await asyncio.gather(*waiting, return_exceptions=True)
    assert all(isinstance(result, Unsent) for result in results)
    await asyncio.sleep(100)
    assert len(wire.sent) == sent

"""A broadcast reaches each subscriber once, despite refusals, failures, crashes and a database that is down."""

from collections import Counter
from collections.abc import AsyncIterator

import pytest

from bot.broadcasts import messages
from bot.broadcasts.messages import MAX_REJECTIONS
from bot.broadcasts.model import MAYBE_ARRIVED, BroadcastStatus, DeliveryStatus
from bot.core.backoff import Backoff
from bot.infra.telegram.outbound.sender import Invalid, TryLater
from tests.broadcasts.builders import PAUSE, RETRY_UNKNOWN, BotProcess, shorten_pauses
from tests.orders.order_system import OSCAR


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    shorten_pauses(monkeypatch)


@pytest.fixture
async def bot(file: str) -> AsyncIterator[BotProcess]:
    bot = BotProcess(file)
    yield bot
    await bot.stop()


async def test_a_refusal_for_too_many_messages_loses_nobody(bot: BotProcess) -> None:
    people = await bot.add_subscribers(60)
    bot.telegram.script(range(10, 60, 10), TryLater(0.05), TryLater(0.05))
    await bot.begin()
    assert await bot.get_report() == {"delivered": 60}
    assert sorted(bot.telegram.reached) == list(people)


async def test_while_telegram_does_not_answer_only_one_message_at_a_time_is_risked(
    bot: BotProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(messages, "RESTS", Backoff(first=60, longest=60))
    people = await bot.add_subscribers(100)
    bot.telegram.script(people, TryLater(0, maybe_sent=True))
    await bot.begin()
    await bot.wait_until(lambda: len(bot.telegram.requested) > 0)
    await bot.wait_until(lambda: bot.messages.is_resting)
    requested = len(bot.telegram.requested)
    await bot.deliveries.decide("b1", PAUSE, OSCAR)
    await bot.wait_until_idle()
    assert len(bot.telegram.requested) == requested <= 24, "what was sent when the first one failed"
    assert (await bot.count_deliveries())[DeliveryStatus.UNKNOWN] == requested


async def test_a_message_that_is_rejected_for_all_pauses_the_broadcast(bot: BotProcess) -> None:
    people = await bot.add_subscribers(500)
    bot.telegram.script(people, Invalid("can't parse entities"))
    await bot.begin()
    while (await bot.get_broadcast()).status is not BroadcastStatus.PAUSED:
        await bot.wait_until(lambda: len(bot.telegram.requested) >= MAX_REJECTIONS)
    await bot.wait_until_idle()
    counts = await bot.count_deliveries()
    assert MAX_REJECTIONS <= counts[DeliveryStatus.FAILED] < 200


async def test_a_crash_leaves_out_and_doubles_nobody_except_those_listed(file: str) -> None:
    first = BotProcess(file)
    people = await first.add_subscribers(300)
    first.telegram.max_requests = 120
    await first.begin()
    await first.wait_until(lambda: len(first.telegram.requested) >= 120)
    await first.kill()
    second = BotProcess(file)
    second.lead()
    report = await second.get_report()
    unknown = report.pop("unknown", 0)
    assert 0 < unknown <= 48, "only what was in hand"
    assert report == {"delivered": 300 - unknown}
    reached = Counter(first.telegram.reached) + Counter(second.telegram.reached)
    assert set(reached.values()) == {1}
    listed = {each.chat_id for each in await second.find_messages() if each.failure == MAYBE_ARRIVED}
    assert set(people) - reached.keys() <= listed
    assert await second.deliveries.decide("b1", RETRY_UNKNOWN, OSCAR)
    assert await second.get_report() == {"delivered": 300}
    assert set(people) == {*first.telegram.reached, *second.telegram.reached}
    await second.stop()


async def test_a_normal_shutdown_leaves_nobody_unknown(file: str) -> None:
    first = BotProcess(file)
    people = await first.add_subscribers(300)
    first.telegram.max_requests = 120
    await first.begin()
    await first.wait_until(lambda: len(first.telegram.waiting) >= 20)
    await first.stop()
    second = BotProcess(file)
    second.lead()
    assert await second.get_report() == {"delivered": 300}
    assert sorted(first.telegram.reached + second.telegram.reached) == list(people)
    await second.stop()


async def test_a_process_that_leads_again_delivers_again(bot: BotProcess) -> None:
    people = await bot.add_subscribers(100)
    bot.telegram.max_requests = 50
    await bot.begin()
    await bot.wait_until(lambda: len(bot.telegram.waiting) >= 20)
    bot.messages.close()
    await bot.wait_until(lambda: not bot.messages._unsent)
    bot.telegram.max_requests = None
    assert len(bot.telegram.requested) == 50
    bot.messages.open()
    assert await bot.get_report() == {"delivered": 100}
    assert sorted(bot.telegram.reached) == list(people)


@pytest.mark.parametrize("when", ["fails_before", "fails_after", "fails_to_read"])
async def test_a_database_that_is_away_for_a_moment_loses_and_doubles_nobody(bot: BotProcess, when: str) -> None:
    people = await bot.add_subscribers(200)
    await bot.begin()
    await bot.wait_until(lambda: len(bot.telegram.reached) >= 40)
    setattr(bot.failing, when, 1)
    await bot.wait_until(lambda: getattr(bot.failing, when) == 0)
    await bot.wait_until(lambda: len(bot.telegram.reached) >= 100)
    setattr(bot.failing, when, 1)
    assert await bot.get_report() == {"delivered": 200}
    assert sorted(bot.telegram.reached) == list(people)

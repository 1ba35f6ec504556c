"""The recorder records a quote at each tick, and prunes at intervals."""

from typing import Any

from bot.rates.workers import PRUNE_EVERY, QuoteRecorder
from tests.settlement.fake_settlement import MovedClock


class FakeQuoteService:
    """Counts the calls."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def record(self) -> bool:
        self.asked.append("record")
        return True

    async def prune(self) -> int:
        self.asked.append("prune")
        return 0


async def test_each_tick_records_and_the_old_ones_are_forgotten_now_and_then() -> None:
    quotes, clock = FakeQuoteService(), MovedClock()
    recorded: Any = quotes
    recorder = QuoteRecorder(recorded, clock, interval=120)
    assert [await recorder.tick() for _ in range(3)] == [120, 120, 120]
    assert quotes.asked == ["record", "prune", "record", "record"]
    clock.passes(seconds=PRUNE_EVERY.total_seconds())
    await recorder.tick()
    assert quotes.asked[-2:] == ["record", "prune"]

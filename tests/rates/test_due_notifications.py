"""Notifications about the rate on a real database: once each, at the chosen hour, and after those about money."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from bot.infra.db.errors import StoreDown
from bot.infra.outbox.model import Queue, Undeliverable
from bot.infra.outbox.repository import OutboxRepository, unpack
from bot.rates import workers
from bot.rates.model import AlertRequest, RateAlert
from bot.rates.notifications import DailyQuote, RateNotification, price_alert
from bot.rates.repository import QuoteRepository
from bot.rates.service import MAX_ALERTS, SubscriptionService
from bot.rates.workers import EVERY_SECONDS, MAX_QUEUED, SOON_SECONDS, RateScheduler, SubscriptionWorker
from bot.settlement.errors import NoAnswer
from bot.settlement.json_values import from_quote, to_quote
from bot.settlement.model import Quote
from bot.users.model import User
from bot.users.repository import UserRepository
from tests.infra.builders import a_notification, due_heads
from tests.orders.order_system import EMMA, SARI, OrderSystem
from tests.settlement.fake_settlement import BEGINNING, RATE

MORNING = 8 * 60
ABOVE = AlertRequest(is_above=True, threshold=RATE + 1, cooldown_hours=None, days=30)


@dataclass
class RateSystem:
    """A rate scheduler and an outbox, with users who get rate updates."""

    system: OrderSystem
    scheduler: RateScheduler
    subscribing: SubscriptionService

    async def user(self, user_id: int = EMMA, **changes: str) -> User:
        user = User(id=user_id, created_at=BEGINNING, **changes)  # type: ignore[arg-type]
        async with self.system.sql.transaction() as tx:
            await UserRepository(tx).save(user)
        return user

    async def add_subscriber(self, user_id: int = EMMA, minute: int = MORNING) -> User:
        """Add a user with a daily quote."""
        user = await self.user(user_id)
        await self.subscribing.set_daily_time(user, minute)
        return user

    async def run_worker(self) -> float:
        pause = await SubscriptionWorker(self.scheduler).tick()
        await self.system.deliver()
        return pause

    def set_time(self, moment: datetime) -> None:
        self.system.clock.at = moment

    async def check_quote(self, rate: Decimal | int) -> int:
        self.system.service.rate = Decimal(rate)
        return await self.scheduler.check(Quote(Decimal(rate), self.system.clock.now()))

    def count_sent(self, kind: str, user_id: int = EMMA) -> int:
        return self.system.sender.kinds(user_id).count(kind)


@pytest.fixture
async def rates(system: OrderSystem) -> RateSystem:
    scheduler = RateScheduler(system.store, system.catalogue, system.clock)
    return RateSystem(system, scheduler, SubscriptionService(system.store, system.clock))


def eight_oclock(day: int) -> datetime:
    """Return eight o'clock in Jakarta, `days` after the beginning (21 November, 16:00 there)."""
    return BEGINNING.replace(hour=1) + timedelta(days=day)


async def test_a_daily_quote_comes_each_day_at_its_hour_and_once(rates: RateSystem) -> None:
    await rates.add_subscriber()
    rates.set_time(eight_oclock(1) - timedelta(seconds=1))
    assert await rates.run_worker() == EVERY_SECONDS
    assert rates.count_sent(RateNotification.DAILY_QUOTE) == 0
    for day in (1, 2, 3):
        rates.set_time(eight_oclock(day))
        await rates.run_worker()
        await rates.run_worker()
        assert rates.count_sent(RateNotification.DAILY_QUOTE) == day


async def test_all_of_one_moment_read_the_same_numbers_and_how_they_moved(rates: RateSystem) -> None:
    await rates.add_subscriber(EMMA)
    await rates.add_subscriber(SARI)
    rates.set_time(eight_oclock(1))
    async with rates.system.sql.transaction() as tx:
        await QuoteRepository(tx).add(Quote(RATE / 2, eight_oclock(0), source="s"))
    await rates.scheduler.queue_due()
    async with rates.system.sql.reading() as tx:
        queued = await due_heads(tx, eight_oclock(1), queue=Queue.BULK)
    assert [notification.chat_id for notification in queued] == [EMMA, SARI]
    assert queued[0].payload == queued[1].payload
    payload = unpack(RateNotification.DAILY_QUOTE, queued[0]).payload
    assert payload == DailyQuote(Quote(RATE, eight_oclock(1)), Decimal(100))


async def test_what_is_hours_late_is_left_out_and_the_next_day_is_in_time(rates: RateSystem) -> None:
    await rates.add_subscriber()
    rates.set_time(eight_oclock(1) + timedelta(hours=2, seconds=1))
    await rates.run_worker()
    assert rates.count_sent(RateNotification.DAILY_QUOTE) == 0
    rates.set_time(eight_oclock(2) + timedelta(hours=1))
    await rates.run_worker()
    assert rates.count_sent(RateNotification.DAILY_QUOTE) == 1


async def test_without_a_rate_it_waits_and_comes_a_little_later(rates: RateSystem) -> None:
    await rates.add_subscriber()
    rates.set_time(eight_oclock(1))
    rates.system.service.reads.append(NoAnswer())
    assert await rates.run_worker() == EVERY_SECONDS
    assert rates.count_sent(RateNotification.DAILY_QUOTE) == 0
    await rates.run_worker()
    assert rates.count_sent(RateNotification.DAILY_QUOTE) == 1


async def test_a_crowd_is_told_a_few_at_a_time(rates: RateSystem) -> None:
    for user_id in range(1, MAX_QUEUED * 2 + 11):
        await rates.add_subscriber(user_id)
    rates.set_time(eight_oclock(1))
    queued = []
    for _ in range(4):
        await rates.scheduler.queue_due()
        async with rates.system.sql.reading() as tx:
            queued.append(await OutboxRepository(tx).count_due("rate:", eight_oclock(1)))
    assert queued == [MAX_QUEUED] * 4
    await rates.system.deliver()
    pauses = [await rates.run_worker() for _ in range(3)]
    assert pauses == [SOON_SECONDS, SOON_SECONDS, EVERY_SECONDS]
    assert len(rates.system.sender.sent) == MAX_QUEUED * 2 + 10


async def test_a_message_about_money_in_the_same_chat_does_not_wait_behind_it(rates: RateSystem) -> None:
    await rates.add_subscriber()
    rates.set_time(eight_oclock(1))
    await rates.scheduler.queue_due()
    async with rates.system.sql.transaction() as tx:
        (daily,) = await due_heads(tx, eight_oclock(1), queue=Queue.BULK)
        assert await OutboxRepository(tx).mark_sending([daily.id], eight_oclock(1))
        now = eight_oclock(1)
        await OutboxRepository(tx).add([a_notification(chat_id=EMMA, due_at=now, created_at=now)])
        assert [notification.kind for notification in await due_heads(tx, now)] == ["paid"]


async def test_another_hour_or_another_zone_moves_it(rates: RateSystem) -> None:
    user = await rates.add_subscriber()
    await rates.subscribing.set_daily_time(user, 18 * 60)
    rates.set_time(BEGINNING.replace(hour=11))
    await rates.run_worker()
    assert rates.count_sent(RateNotification.DAILY_QUOTE) == 1
    async with rates.system.store.transaction() as tx:
        await rates.subscribing.move_daily_quote(tx, replace(user, time_zone="Asia/Tokyo"))
    rates.set_time(BEGINNING.replace(hour=9) + timedelta(days=1))
    await rates.run_worker()
    assert rates.count_sent(RateNotification.DAILY_QUOTE) == 2


async def test_one_who_stopped_hears_nothing_more(rates: RateSystem) -> None:
    user = await rates.add_subscriber()
    assert await rates.subscribing.set_alert(user, ABOVE)
    assert await rates.subscribing.end(EMMA)
    assert not await rates.subscribing.end(EMMA)
    rates.set_time(eight_oclock(1))
    assert await rates.check_quote(RATE * 2) == 0
    await rates.run_worker()
    assert rates.system.sender.sent == []


async def test_an_alert_rings_when_its_price_has_come_and_once(rates: RateSystem) -> None:
    assert await rates.subscribing.set_alert(await rates.user(), ABOVE)
    assert await rates.check_quote(RATE) == 0
    await rates.run_worker()
    assert rates.count_sent(RateNotification.PRICE_ALERT) == 0
    assert await rates.check_quote(RATE + 1) == 1
    await rates.run_worker()
    assert await rates.check_quote(RATE + 2) == 0
    await rates.run_worker()
    assert rates.count_sent(RateNotification.PRICE_ALERT) == 1
    assert (await rates.subscribing.get_updates(EMMA)).alerts == ()


async def test_one_that_may_ring_again_rests_first(rates: RateSystem) -> None:
    wish = replace(ABOVE, is_above=False, threshold=RATE - 1, cooldown_hours=6)
    assert await rates.subscribing.set_alert(await rates.user(), wish)
    for hours, count_sent in ((0, 1), (5.9, 1), (0.2, 2), (24 * 31, 2)):
        rates.system.clock.passes(hours=hours)
        await rates.check_quote(RATE - 2)
        await rates.run_worker()
        assert rates.count_sent(RateNotification.PRICE_ALERT) == count_sent
    assert (await rates.subscribing.get_updates(EMMA)).alerts == ()


async def test_a_recorded_quote_is_looked_at_by_itself_and_a_stale_one_rings_nothing(rates: RateSystem) -> None:
    assert await rates.subscribing.set_alert(await rates.user(), ABOVE)
    async with rates.system.sql.transaction() as tx:
        await QuoteRepository(tx).add(Quote(RATE * 2, BEGINNING - timedelta(minutes=11)))
    await rates.run_worker()
    assert rates.count_sent(RateNotification.PRICE_ALERT) == 0
    async with rates.system.sql.transaction() as tx:
        await QuoteRepository(tx).add(Quote(RATE * 2, BEGINNING))
    await rates.run_worker()
    assert rates.count_sent(RateNotification.PRICE_ALERT) == 1


async def test_many_alerts_ring_a_few_at_a_time_even_if_the_price_leaves_again(rates: RateSystem) -> None:
    for user_id in range(1, MAX_QUEUED * 2 + 1):
        assert await rates.subscribing.set_alert(await rates.user(user_id), ABOVE)
    await rates.check_quote(RATE * 2)
    assert await rates.run_worker() == SOON_SECONDS
    await rates.check_quote(RATE)
    await rates.run_worker()
    assert len(rates.system.sender.sent) == MAX_QUEUED * 2


async def test_one_deleted_at_the_last_moment_does_not_ring(rates: RateSystem) -> None:
    assert await rates.subscribing.set_alert(await rates.user(), ABOVE)
    await rates.check_quote(RATE * 2)
    (alert,) = (await rates.subscribing.get_updates(EMMA)).alerts
    assert not await rates.subscribing.delete_alert(SARI, alert.id)
    assert await rates.subscribing.delete_alert(EMMA, alert.id)
    await rates.run_worker()
    assert rates.count_sent(RateNotification.PRICE_ALERT) == 0


async def test_the_same_wish_twice_is_one_alert_and_there_is_an_end_of_them(rates: RateSystem) -> None:
    user = await rates.user()
    assert await rates.subscribing.set_alert(user, ABOVE)
    assert await rates.subscribing.set_alert(user, ABOVE)
    assert len((await rates.subscribing.get_updates(EMMA)).alerts) == 1
    for more in range(1, MAX_ALERTS):
        assert await rates.subscribing.set_alert(user, replace(ABOVE, threshold=RATE + 1 + more))
    assert not await rates.subscribing.set_alert(user, replace(ABOVE, threshold=RATE * 2))
    assert await rates.subscribing.set_alert(user, ABOVE)
    rates.system.clock.passes(days=31)
    assert await rates.subscribing.set_alert(user, replace(ABOVE, threshold=RATE * 2))


async def test_the_first_wish_brings_quiet_nights_and_they_can_be_changed(rates: RateSystem) -> None:
    user = await rates.add_subscriber()
    kept = (await rates.subscribing.get_updates(EMMA)).subscription
    assert kept is not None
    assert (kept.quiet_from, kept.quiet_until) == (22 * 60, 7 * 60)
    for hours in (None, (60, 120)):
        await rates.subscribing.set_quiet_hours(user, hours)
        changed = (await rates.subscribing.get_updates(EMMA)).subscription
        assert changed == replace(kept, quiet_from=hours and hours[0], quiet_until=hours and hours[1])


async def test_whoever_cannot_be_reached_is_no_subscriber_any_more(rates: RateSystem) -> None:
    user = await rates.add_subscriber()
    assert await rates.subscribing.set_alert(user, ABOVE)
    rates.system.sender.outcomes[EMMA].append(Undeliverable("bot was blocked", whole_chat=True))
    rates.set_time(eight_oclock(1))
    await rates.run_worker()
    assert (await rates.subscribing.get_updates(EMMA)).is_empty


async def test_a_lost_database_costs_no_alert(rates: RateSystem, monkeypatch: pytest.MonkeyPatch) -> None:
    assert await rates.subscribing.set_alert(await rates.user(), ABOVE)
    await rates.check_quote(RATE * 2)

    def lost() -> None:
        raise StoreDown

    with monkeypatch.context() as broken:
        broken.setattr(rates.system.store, "transaction", lost)
        with pytest.raises(StoreDown):
            await rates.scheduler.queue_met()
    await rates.run_worker()
    assert rates.count_sent(RateNotification.PRICE_ALERT) == 1


@pytest.mark.parametrize("usdc", [None, Decimal("16345.50")])
def test_a_payload_carries_a_quote_exactly(usdc: Decimal | None) -> None:
    quote = Quote(Decimal("1700123456.780000001"), BEGINNING, usdc, "binance")
    assert to_quote(from_quote(quote)) == quote


async def test_one_subscriber_who_fails_stops_no_other_quote_or_alert(
    rates: RateSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    users = [await rates.add_subscriber(user_id) for user_id in (EMMA, SARI)]
    for user in users:
        assert await rates.subscribing.set_alert(user, ABOVE)
    get = UserRepository.get

    async def fail(self: UserRepository, user_id: int) -> User | None:
        if user_id == EMMA:
            raise StoreDown
        return await get(self, user_id)

    def fail_for_emma(alert: RateAlert, *more: Any) -> Any:
        if alert.user_id == EMMA:
            raise StoreDown
        return price_alert(alert, *more)

    monkeypatch.setattr(UserRepository, "get", fail)
    monkeypatch.setattr(workers, "price_alert", fail_for_emma)
    rates.set_time(eight_oclock(1))
    await rates.check_quote(RATE + 2)
    await rates.scheduler.queue_due()
    assert await rates.scheduler.queue_met()
    monkeypatch.undo()
    await rates.system.deliver()
    kinds = (RateNotification.DAILY_QUOTE, RateNotification.PRICE_ALERT)
    assert [rates.count_sent(kind, SARI) for kind in kinds] == [1, 1]
    assert [rates.count_sent(kind, EMMA) for kind in kinds] == [0, 0]
    await rates.run_worker()
    assert [rates.count_sent(kind, EMMA) for kind in kinds] == [1, 1]

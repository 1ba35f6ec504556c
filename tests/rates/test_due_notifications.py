"""Notifications about the rate on a real database: once each, at the chosen hour, and after those about money."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal

import pytest

from bot.infra.db.errors import StoreDown
from bot.infra.outbox.model import Undeliverable
from bot.infra.outbox.repository import OutboxRepository
from bot.rates.model import AlertRequest
from bot.rates.notifications import RateNotification
from bot.rates.service import MAX_ALERTS, SubscriptionService
from bot.rates.workers import EVERY_SECONDS, MAX_QUEUED, SOON_SECONDS, RateScheduler, SubscriptionWorker
from bot.settlement.model import Quote
from bot.users.model import User
from bot.users.repository import UserRepository
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


async def test_what_is_hours_late_is_left_out_and_the_next_day_is_in_time(rates: RateSystem) -> None:
    await rates.add_subscriber()
    rates.set_time(eight_oclock(1) + timedelta(hours=2, seconds=1))
    await rates.run_worker()
    assert rates.count_sent(RateNotification.DAILY_QUOTE) == 0
    rates.set_time(eight_oclock(2) + timedelta(hours=1))
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


async def test_one_deleted_at_the_last_moment_does_not_ring(rates: RateSystem) -> None:
    assert await rates.subscribing.set_alert(await rates.user(), ABOVE)
    await rates.check_quote(RATE * 2)
    (alert,) = (await rates.subscribing.get_updates(EMMA)).alerts
    assert not await rates.subscribing.delete_alert(SARI, alert.id)
    assert await rates.subscribing.delete_alert(EMMA, alert.id)
    await rates.run_worker()
    assert rates.count_sent(RateNotification.PRICE_ALERT) == 0

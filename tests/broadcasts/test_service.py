"""Broadcasts before they start: one operator confirms what was previewed, and warnings need a second confirmation."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from bot.broadcasts.model import (
    MAX_DELAY,
    Broadcast,
    BroadcastNotification,
    BroadcastStatus,
    BroadcastWarning,
    Preview,
    WaitingBroadcast,
)
from bot.broadcasts.repository import BroadcastRepository
from bot.broadcasts.service import BroadcastRules, BroadcastService
from bot.core.errors import Rejection
from bot.core.zones import zone_of
from bot.infra.db.database import Database
from bot.infra.outbox.model import StoredNotification
from bot.infra.outbox.repository import unpack
from bot.rates.model import Subscription
from bot.rates.repository import SubscriptionRepository
from bot.settlement.catalogue import ServiceCatalogue
from bot.staff.repository import AuditRepository
from bot.users.model import User
from bot.users.repository import UserRepository
from tests.infra.builders import an_infra, due_heads
from tests.infra.keys import VAULT
from tests.settlement.fake_settlement import RATE, FakeSettlement

OSCAR, OLGA, EMMA, SARI = 2001, 2002, 1001, 1002
JAKARTA = zone_of("Asia/Jakarta")


def warnings_of(notification: StoredNotification) -> str:
    """Return why the broadcast of this notification waits."""
    payload: WaitingBroadcast = unpack(BroadcastNotification.WAITS, notification).payload
    return "".join(payload.doubts)


class BroadcastSystem:
    """The services of broadcasts, as operators use them."""

    def __init__(self, database: str, service: FakeSettlement) -> None:
        self.store, self.service, self.clock = Database(database, VAULT), service, service.clock
        self.wakeups = 0
        self.broadcasts = BroadcastService(
            an_infra(self.store, self.clock),
            ServiceCatalogue(service, self.clock),
            BroadcastRules(
                jump_percent=Decimal(2),
                messages_per_second=30,
                operator_ids=frozenset({OSCAR, OLGA}),
            ),
            on_confirmed=self._wake,
        )

    def _wake(self) -> None:
        self.wakeups += 1

    async def add_subscriber(self, user_id: int, language: str = "en") -> None:
        now = self.clock.now()
        async with self.store.transaction() as tx:
            await UserRepository(tx).save(User(id=user_id, created_at=now, language_code=language, last_seen_at=now))
            await SubscriptionRepository(tx).save(Subscription(user_id=user_id, subscribed_at=now))

    async def preview(self, **changes: object) -> Broadcast:
        draft = await self.broadcasts.open(OSCAR)
        if changes:
            changed = await self.broadcasts.change(replace(draft, **changes))  # type: ignore[arg-type]
            assert changed is not None
            draft = changed
        preview = await self.broadcasts.preview(draft)
        assert preview is not None
        return preview.broadcast

    async def confirm(self, **changes: object) -> Broadcast:
        found = await self.broadcasts.confirm(await self.preview(**changes), OSCAR, JAKARTA)
        assert isinstance(found, Broadcast)
        return found

    async def begin(self, broadcast: Broadcast) -> Broadcast | None:
        """Start the broadcast as its worker does."""
        ready = await self.broadcasts.prepare(broadcast)
        if ready is None:
            return None
        async with self.store.transaction() as tx:
            begun = replace(ready, status=BroadcastStatus.RUNNING, started_at=self.clock.now(), size=2)
            return await BroadcastRepository(tx).save(begun)

    async def reload(self, broadcast: Broadcast) -> Broadcast:
        found = await self.broadcasts.get(broadcast.id)
        assert found is not None
        return found

    async def queued_notifications(self) -> list[StoredNotification]:
        async with self.store.reading() as tx:
            return list(await due_heads(tx, self.clock.now()))


@pytest.fixture
async def system(file: str, service: FakeSettlement) -> AsyncIterator[BroadcastSystem]:
    made = BroadcastSystem(file, service)
    await made.add_subscriber(EMMA)
    await made.add_subscriber(SARI, "id")
    yield made
    await made.store.close()


async def test_what_was_previewed_is_what_is_sent_though_the_rate_has_moved_since(system: BroadcastSystem) -> None:
    previewed = await system.preview()
    system.service.rate = RATE * 2
    system.clock.passes(seconds=60)
    confirmed = await system.broadcasts.confirm(previewed, OSCAR, JAKARTA)
    assert isinstance(confirmed, Broadcast)
    assert confirmed.quote == previewed.quote
    assert (confirmed.status, confirmed.confirmed_by, confirmed.starts_at) == ("scheduled", OSCAR, system.clock.now())
    begun = await system.begin(confirmed)
    assert begun is not None
    assert begun.quote == previewed.quote
    assert system.wakeups == 1


async def test_a_preview_tells_the_size_by_language_and_how_long_it_takes(system: BroadcastSystem) -> None:
    preview = await system.broadcasts.preview(await system.broadcasts.open(OSCAR))
    assert preview is not None
    assert dict(preview.readers) == {"en": 1, "id": 1}
    assert (preview.size, preview.duration, preview.warnings) == (2, timedelta(seconds=2 / 30), ())


async def test_of_two_confirmations_one_counts(system: BroadcastSystem) -> None:
    previewed = await system.preview()
    assert isinstance(await system.broadcasts.confirm(previewed, OSCAR, JAKARTA), Broadcast)
    assert await system.broadcasts.confirm(previewed, OLGA, JAKARTA) is None
    again = await system.reload(previewed)
    assert await system.broadcasts.confirm(again, OLGA, JAKARTA) is None
    assert again.confirmed_by == OSCAR


async def test_a_change_after_the_preview_needs_another_preview(system: BroadcastSystem) -> None:
    previewed = await system.preview()
    changed = await system.broadcasts.change(replace(previewed, picture="photo"))
    assert changed is not None
    assert changed.quote is None
    assert await system.broadcasts.confirm(previewed, OSCAR, JAKARTA) is None
    with pytest.raises(Rejection, match="no_quote"):
        await system.broadcasts.confirm(changed, OSCAR, JAKARTA)


async def test_an_old_rate_must_be_confirmed_twice(system: BroadcastSystem) -> None:
    previewed = await system.preview()
    system.clock.passes(minutes=11)
    preview = await system.broadcasts.confirm(previewed, OSCAR, JAKARTA)
    assert isinstance(preview, Preview)
    assert preview.warnings == (BroadcastWarning.STALE,)
    sure = await system.broadcasts.confirm(previewed, OSCAR, JAKARTA, frozenset({BroadcastWarning.STALE}))
    assert isinstance(sure, Broadcast)
    assert await system.begin(sure) is not None


async def test_a_rate_that_jumped_since_the_last_broadcast_must_be_confirmed_twice(system: BroadcastSystem) -> None:
    await system.begin(await system.confirm())
    system.service.rate = RATE * Decimal("1.03")
    system.clock.passes(minutes=5)
    previewed = await system.preview()
    preview = await system.broadcasts.confirm(previewed, OSCAR, JAKARTA)
    assert isinstance(preview, Preview)
    assert preview.warnings == (BroadcastWarning.JUMPED,)
    assert preview.last is not None
    assert preview.last.btc_idr == RATE
    system.clock.passes(minutes=11)
    # There is another warning than the accepted one, so the operator is asked again.
    assert isinstance(
        await system.broadcasts.confirm(previewed, OSCAR, JAKARTA, frozenset({BroadcastWarning.JUMPED})), Preview
    )
    both = frozenset({BroadcastWarning.JUMPED, BroadcastWarning.STALE})
    assert isinstance(await system.broadcasts.confirm(previewed, OSCAR, JAKARTA, both), Broadcast)


async def test_a_scheduled_broadcast_uses_the_rate_of_its_start(system: BroadcastSystem) -> None:
    at = system.clock.now() + timedelta(hours=3)
    confirmed = await system.confirm(starts_at=at)
    assert (confirmed.starts_at, confirmed.quote) == (at, None)
    assert await system.broadcasts.collect_due() == ()
    system.clock.passes(hours=3)
    system.service.rate = RATE + 1
    (due,) = await system.broadcasts.collect_due()
    begun = await system.begin(due)
    assert begun is not None
    assert begun.quote is not None
    assert begun.quote.btc_idr == RATE + 1


async def test_a_bot_that_was_away_at_its_time_asks_before_it_begins(system: BroadcastSystem) -> None:
    await system.confirm(texts={"en": "Hello", "id": "Halo"}, starts_at=system.clock.now() + timedelta(hours=1))
    system.clock.passes(hours=1, seconds=MAX_DELAY.total_seconds() + 1)
    (due,) = await system.broadcasts.collect_due()
    assert await system.begin(due) is None
    assert {warnings_of(each) for each in await system.queued_notifications()} == {"l"}


async def test_a_daily_broadcast_creates_one_each_day_until_it_is_cancelled(system: BroadcastSystem) -> None:
    daily = await system.confirm(daily_minute=17 * 60)  # it is 16:00 in Jakarta
    ids = set()
    for _ in range(3):
        assert await system.broadcasts.collect_due() == ()
        system.clock.passes(hours=1)
        (due,) = await system.broadcasts.collect_due()
        assert (due.series, due.daily_minute) == (daily.id, None)
        assert await system.broadcasts.collect_due() == (due,)
        assert await system.begin(due) is not None
        ids.add(due.id)
        system.clock.passes(hours=23)
    assert len(ids) == 3
    assert await system.broadcasts.cancel(await system.reload(daily), OSCAR) is not None
    system.clock.passes(hours=2)
    assert await system.broadcasts.collect_due() == ()


async def test_a_cancelled_broadcast_does_not_start_and_a_started_one_is_not_cancelled(system: BroadcastSystem) -> None:
    first = await system.confirm()
    assert await system.broadcasts.cancel(first, OSCAR) is not None
    assert await system.begin(first) is None
    assert await system.broadcasts.collect_due() == ()
    second = await system.begin(await system.confirm())
    assert second is not None
    assert await system.broadcasts.cancel(second, OSCAR) is None
    async with system.store.reading() as tx:
        entries = await AuditRepository(tx).page()
    about = (f"broadcast:{second.id}", f"broadcast:{first.id}", f"broadcast:{first.id}")
    assert [(entry.actor_id, entry.subject, entry.detail) for entry in entries] == [
        (OSCAR, *each) for each in zip(about, ("confirmed", "called_off", "confirmed"), strict=True)
    ]

"""Broadcasts before they start: one operator confirms what was previewed, and warnings need a second confirmation."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest
from sqlalchemy import text

from bot.broadcasts.model import (
    MAX_DELAY,
    QUOTE_WAIT,
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
from bot.core.locales import LOCALES
from bot.core.zones import zone_of
from bot.infra.db.database import Database
from bot.infra.outbox.model import StoredNotification
from bot.infra.outbox.repository import unpack
from bot.rates.model import Subscription
from bot.rates.repository import QuoteRepository, SubscriptionRepository
from bot.settlement.catalogue import ServiceCatalogue
from bot.settlement.errors import NeverReached
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


async def test_a_draft_is_kept_until_it_is_confirmed_or_discarded(system: BroadcastSystem) -> None:
    first = await system.broadcasts.open(OSCAR)
    assert await system.broadcasts.open(OSCAR) == first
    assert await system.broadcasts.discard(first) is not None
    assert await system.broadcasts.discard(first) is None
    second = await system.broadcasts.open(OSCAR)
    assert second.id != first.id
    assert (await system.broadcasts.open(OLGA)).id != second.id


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


async def test_own_texts_without_variables_need_no_rate(system: BroadcastSystem) -> None:
    system.service.reads.extend([NeverReached()] * 2)
    confirmed = await system.confirm(texts=dict.fromkeys(LOCALES, "Hello"))
    assert (confirmed.is_rate, confirmed.quote) == (False, None)
    begun = await system.begin(confirmed)
    assert begun is not None
    assert begun.quote is None


async def test_an_own_text_in_one_language_leaves_the_rate_to_the_other(system: BroadcastSystem) -> None:
    changed = await system.broadcasts.change(replace(await system.broadcasts.open(OSCAR), texts={"en": "Hello"}))
    assert changed is not None
    assert changed.is_rate


async def test_without_a_rate_there_is_no_preview_and_a_recorded_one_gets_a_warning(
    system: BroadcastSystem,
) -> None:
    draft = await system.broadcasts.open(OSCAR)
    system.service.reads.append(NeverReached())
    with pytest.raises(Rejection, match="no_quote"):
        await system.broadcasts.preview(draft)
    async with system.store.transaction() as tx:
        await QuoteRepository(tx).add(await system.service.quote())
    system.clock.passes(minutes=11)
    system.service.reads.append(NeverReached())
    preview = await system.broadcasts.preview(draft)
    assert preview is not None
    assert preview.warnings == (BroadcastWarning.STALE,)


async def test_an_empty_audience_is_rejected_and_nothing_is_sent(system: BroadcastSystem) -> None:
    async with system.store.transaction() as tx:
        await SubscriptionRepository(tx).delete(EMMA)
        await SubscriptionRepository(tx).delete(SARI)
    with pytest.raises(Rejection, match="nobody"):
        await system.confirm()


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


async def test_a_scheduled_broadcast_whose_time_has_passed_is_rejected(system: BroadcastSystem) -> None:
    previewed = await system.preview(starts_at=system.clock.now() + timedelta(minutes=1))
    system.clock.passes(minutes=1)
    with pytest.raises(Rejection, match="time_passed"):
        await system.broadcasts.confirm(previewed, OSCAR, JAKARTA)


async def test_a_rate_that_jumped_before_the_start_makes_all_operators_be_asked(
    system: BroadcastSystem,
) -> None:
    await system.begin(await system.confirm())
    later = await system.confirm(starts_at=system.clock.now() + timedelta(hours=1))
    system.clock.passes(hours=1)
    system.service.rate = RATE / 2
    (due,) = await system.broadcasts.collect_due()
    assert await system.begin(due) is None
    waiting = await system.reload(later)
    assert (waiting.status, waiting.started_at) == ("paused", None)
    assert await system.broadcasts.collect_due() == ()
    asked = await system.queued_notifications()
    assert sorted((each.chat_id, each.kind, warnings_of(each)) for each in asked) == [
        (OSCAR, BroadcastNotification.WAITS, "j"),
        (OLGA, BroadcastNotification.WAITS, "j"),
    ]
    preview = await system.broadcasts.preview(waiting)
    assert preview is not None
    assert isinstance(await system.broadcasts.confirm(preview.broadcast, OLGA, JAKARTA), Preview)
    confirmed = await system.broadcasts.confirm(preview.broadcast, OLGA, JAKARTA, frozenset(preview.warnings))
    assert isinstance(confirmed, Broadcast)
    assert await system.begin(confirmed) is not None


async def test_a_service_that_is_down_for_a_moment_only_delays_the_broadcast(system: BroadcastSystem) -> None:
    at = system.clock.now() + timedelta(hours=1)
    await system.confirm(starts_at=at)
    system.clock.passes(hours=1)
    (due,) = await system.broadcasts.collect_due()
    system.service.reads.append(NeverReached())
    assert await system.begin(due) is None
    assert await system.queued_notifications() == []
    system.clock.passes(seconds=30)
    (due,) = await system.broadcasts.collect_due()
    assert await system.begin(due) is not None


async def test_a_service_that_stays_away_asks_the_operators(system: BroadcastSystem) -> None:
    await system.confirm(starts_at=system.clock.now() + timedelta(hours=1))
    system.clock.passes(hours=1, seconds=QUOTE_WAIT.total_seconds() + 1)
    (due,) = await system.broadcasts.collect_due()
    system.service.reads.append(NeverReached())
    assert await system.begin(due) is None
    assert {warnings_of(each) for each in await system.queued_notifications()} == {"n"}


async def test_a_bot_that_was_away_at_its_time_asks_before_it_begins(system: BroadcastSystem) -> None:
    await system.confirm(texts={"en": "Hello", "id": "Halo"}, starts_at=system.clock.now() + timedelta(hours=1))
    system.clock.passes(hours=1, seconds=MAX_DELAY.total_seconds() + 1)
    (due,) = await system.broadcasts.collect_due()
    assert await system.begin(due) is None
    assert {warnings_of(each) for each in await system.queued_notifications()} == {"l"}


async def test_numbers_that_were_confirmed_long_before_a_crash_was_over_are_asked_about(
    system: BroadcastSystem,
) -> None:
    await system.confirm()
    system.clock.passes(minutes=11)
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


async def test_a_daily_broadcast_starts_although_its_operator_cannot_be_read(system: BroadcastSystem) -> None:
    async with system.store.transaction() as tx:
        await UserRepository(tx).save(User(id=OSCAR, created_at=system.clock.now(), phrase="winter stair harp"))
    daily = await system.confirm(daily_minute=17 * 60)
    async with system.store._writer.begin() as connection:
        await connection.execute(text("UPDATE users SET phrase = 's1.no.key' WHERE id = :key"), {"key": OSCAR})
    system.clock.passes(hours=1)
    (due,) = await system.broadcasts.collect_due()
    assert due.series == daily.id
    assert (await system.reload(daily)).starts_at == system.clock.now() + timedelta(days=1)
    assert system.store.unreadable_rows() == {f"users {OSCAR}"}


async def test_a_day_on_which_the_bot_was_away_is_left_out(system: BroadcastSystem) -> None:
    daily = await system.confirm(daily_minute=17 * 60)
    system.clock.passes(hours=1, seconds=MAX_DELAY.total_seconds() + 1)
    assert await system.broadcasts.collect_due() == ()
    assert (await system.reload(daily)).starts_at == system.clock.now() + timedelta(hours=22, seconds=-1)


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


async def test_a_draft_that_lay_for_days_is_listed_by_when_it_was_confirmed(system: BroadcastSystem) -> None:
    await system.broadcasts.open(OSCAR)
    system.clock.passes(days=3)
    other = await system.broadcasts.open(OLGA)
    preview = await system.broadcasts.preview(other)
    assert preview is not None
    assert isinstance(await system.broadcasts.confirm(preview.broadcast, OLGA, JAKARTA), Broadcast)
    system.clock.passes(minutes=1)
    last = await system.confirm()
    assert [each.id for each in (await system.broadcasts.list_page()).broadcasts] == [last.id, other.id]


async def test_a_copy_has_the_same_content_and_is_a_new_draft(system: BroadcastSystem) -> None:
    shown = await system.confirm(texts={"en": "Hello {rate}"}, picture="photo")
    open_one = await system.broadcasts.open(OLGA)
    drafted = await system.broadcasts.copy(shown, OLGA)
    assert (drafted.texts, drafted.picture, drafted.status) == (shown.texts, "photo", "draft")
    assert (drafted.quote, drafted.confirmed_at, drafted.operator_id) == (None, None, OLGA)
    assert await system.broadcasts.open(OLGA) == drafted
    assert (await system.reload(open_one)).status == "discarded"


async def test_the_list_has_all_confirmed_broadcasts_with_their_results(system: BroadcastSystem) -> None:
    for _ in range(6):
        begun = await system.begin(await system.confirm())
        assert begun is not None
        system.clock.passes(minutes=1)
    await system.broadcasts.open(OSCAR)
    page = await system.broadcasts.list_page()
    assert (len(page.broadcasts), page.total) == (5, 6)
    assert page.counts[page.broadcasts[0].id] == {"waiting": 2}
    assert len((await system.broadcasts.list_page(5)).broadcasts) == 1

"""Broadcasts before they begin: what is confirmed is what was seen, by one operator, and a doubtful rate asks again."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest
from sqlalchemy import text

from bot.broadcasts.delivery_repository import DeliveryRepository
from bot.broadcasts.drafts import BroadcastDrafts, Preview
from bot.broadcasts.model import MAX_DELAY, QUOTE_WAIT, Broadcast, BroadcastStatus, BroadcastWarning
from bot.broadcasts.notifications import BroadcastNotification, WaitingBroadcast
from bot.broadcasts.repository import BroadcastRepository
from bot.broadcasts.service import BroadcastRules, BroadcastService
from bot.core.errors import Rejection
from bot.core.locales import LOCALES
from bot.core.zones import zone_of
from bot.infra.db.database import Database
from bot.infra.outbox.model import StoredNotification
from bot.infra.outbox.payload import unpack
from bot.infra.outbox.repository import OutboxRepository
from bot.rates.model import Subscription
from bot.rates.repository import QuoteRepository, SubscriptionRepository
from bot.settlement.catalogue import ServiceCatalogue
from bot.settlement.model import OutOfReach
from bot.staff.repository import AuditRepository
from bot.users.model import User
from bot.users.repository import UserRepository
from tests.infra.keys import VAULT
from tests.settlement.fake_settlement import RATE, FakeSettlement

OSCAR, OLGA, EMMA, SARI = 2001, 2002, 1001, 1002
JAKARTA = zone_of("Asia/Jakarta")


def warnings_of(notification: StoredNotification) -> str:
    """Why the broadcast that an operator is notified of waits."""
    payload: WaitingBroadcast = unpack(BroadcastNotification.WAITS, notification).payload
    return "".join(payload.doubts)


class Office:
    """Operators at work."""

    def __init__(self, database: str, service: FakeSettlement) -> None:
        self.store, self.service, self.clock = Database(database, VAULT), service, service.clock
        self.wakeups = 0
        self.drafts = BroadcastDrafts(self.store, self.clock)
        self.broadcasts = BroadcastService(
            store=self.store,
            catalogue=ServiceCatalogue(service, self.clock),
            clock=self.clock,
            rules=BroadcastRules(
                default_locale="id",
                jump_percent=Decimal(2),
                messages_per_second=30,
                operator_ids=frozenset({OSCAR, OLGA}),
            ),
            on_confirmed=self._wake,
        )

    def _wake(self) -> None:
        self.wakeups += 1

    async def subscribes(self, user_id: int, language: str = "en") -> None:
        now = self.clock.now()
        async with self.store.transaction() as tx:
            await UserRepository(tx).save(User(id=user_id, created_at=now, language_code=language, last_seen_at=now))
            await SubscriptionRepository(tx).save(Subscription(user_id=user_id, subscribed_at=now))

    async def previewed(self, **changes: object) -> Broadcast:
        draft = await self.drafts.open(OSCAR)
        if changes:
            changed = await self.drafts.change(replace(draft, **changes))  # type: ignore[arg-type]
            assert changed is not None
            draft = changed
        preview = await self.broadcasts.preview(draft)
        assert preview is not None
        return preview.broadcast

    async def confirmed(self, **changes: object) -> Broadcast:
        found = await self.broadcasts.confirm(await self.previewed(**changes), OSCAR, JAKARTA)
        assert isinstance(found, Broadcast)
        return found

    async def begins(self, broadcast: Broadcast) -> Broadcast | None:
        """As its delivery would."""
        ready = await self.broadcasts.prepare(broadcast)
        if ready is None:
            return None
        async with self.store.transaction() as tx:
            begun = replace(ready, status=BroadcastStatus.RUNNING, started_at=self.clock.now())
            return await BroadcastRepository(tx).save(begun)

    async def as_it_is(self, broadcast: Broadcast) -> Broadcast:
        found = await self.drafts.get(broadcast.id)
        assert found is not None
        return found

    async def told(self) -> list[StoredNotification]:
        async with self.store.reading() as tx:
            return list(await OutboxRepository(tx).find_heads(self.clock.now()))


@pytest.fixture
async def office(file: str, service: FakeSettlement) -> AsyncIterator[Office]:
    made = Office(file, service)
    await made.subscribes(EMMA)
    await made.subscribes(SARI, "id")
    yield made
    await made.store.close()


async def test_a_draft_is_kept_until_it_is_confirmed_or_discarded(office: Office) -> None:
    first = await office.drafts.open(OSCAR)
    assert await office.drafts.open(OSCAR) == first
    assert await office.drafts.discard(first) is not None
    assert await office.drafts.discard(first) is None
    second = await office.drafts.open(OSCAR)
    assert second.id != first.id
    assert (await office.drafts.open(OLGA)).id != second.id


async def test_what_was_previewed_is_what_is_sent_though_the_rate_has_moved_since(office: Office) -> None:
    previewed = await office.previewed()
    office.service.rate = RATE * 2
    office.clock.passes(seconds=60)
    confirmed = await office.broadcasts.confirm(previewed, OSCAR, JAKARTA)
    assert isinstance(confirmed, Broadcast)
    assert confirmed.quote == previewed.quote
    assert (confirmed.status, confirmed.confirmed_by, confirmed.starts_at) == ("scheduled", OSCAR, office.clock.now())
    begun = await office.begins(confirmed)
    assert begun is not None
    assert begun.quote == previewed.quote
    assert office.wakeups == 1


async def test_a_preview_tells_the_size_by_language_and_how_long_it_takes(office: Office) -> None:
    preview = await office.broadcasts.preview(await office.drafts.open(OSCAR))
    assert preview is not None
    assert dict(preview.readers) == {"en": 1, "id": 1}
    assert (preview.size, preview.duration, preview.warnings) == (2, timedelta(seconds=2 / 30), ())


async def test_of_two_confirmations_one_counts(office: Office) -> None:
    previewed = await office.previewed()
    assert isinstance(await office.broadcasts.confirm(previewed, OSCAR, JAKARTA), Broadcast)
    assert await office.broadcasts.confirm(previewed, OLGA, JAKARTA) is None
    again = await office.as_it_is(previewed)
    assert await office.broadcasts.confirm(again, OLGA, JAKARTA) is None
    assert again.confirmed_by == OSCAR


async def test_a_change_after_the_preview_needs_another_preview(office: Office) -> None:
    previewed = await office.previewed()
    changed = await office.drafts.change(replace(previewed, picture="photo"))
    assert changed is not None
    assert changed.quote is None
    assert await office.broadcasts.confirm(previewed, OSCAR, JAKARTA) is None
    with pytest.raises(Rejection, match="no_quote"):
        await office.broadcasts.confirm(changed, OSCAR, JAKARTA)


async def test_an_old_rate_must_be_confirmed_twice(office: Office) -> None:
    previewed = await office.previewed()
    office.clock.passes(minutes=11)
    preview = await office.broadcasts.confirm(previewed, OSCAR, JAKARTA)
    assert isinstance(preview, Preview)
    assert preview.warnings == (BroadcastWarning.STALE,)
    sure = await office.broadcasts.confirm(previewed, OSCAR, JAKARTA, frozenset({BroadcastWarning.STALE}))
    assert isinstance(sure, Broadcast)
    assert await office.begins(sure) is not None


async def test_a_rate_that_jumped_since_the_last_broadcast_must_be_confirmed_twice(office: Office) -> None:
    await office.begins(await office.confirmed())
    office.service.rate = RATE * Decimal("1.03")
    office.clock.passes(minutes=5)
    previewed = await office.previewed()
    preview = await office.broadcasts.confirm(previewed, OSCAR, JAKARTA)
    assert isinstance(preview, Preview)
    assert preview.warnings == (BroadcastWarning.JUMPED,)
    assert preview.last is not None
    assert preview.last.btc_idr == RATE
    office.clock.passes(minutes=11)
    # One more reason than was said: one more question.
    assert isinstance(
        await office.broadcasts.confirm(previewed, OSCAR, JAKARTA, frozenset({BroadcastWarning.JUMPED})), Preview
    )
    both = frozenset({BroadcastWarning.JUMPED, BroadcastWarning.STALE})
    assert isinstance(await office.broadcasts.confirm(previewed, OSCAR, JAKARTA, both), Broadcast)


async def test_own_words_without_a_figure_need_no_rate(office: Office) -> None:
    office.service.reads.extend([OutOfReach()] * 2)
    confirmed = await office.confirmed(texts=dict.fromkeys(LOCALES, "Hello"))
    assert (confirmed.is_rate, confirmed.quote) == (False, None)
    begun = await office.begins(confirmed)
    assert begun is not None
    assert begun.quote is None


async def test_words_in_one_language_leave_the_rate_to_the_other(office: Office) -> None:
    changed = await office.drafts.change(replace(await office.drafts.open(OSCAR), texts={"en": "Hello"}))
    assert changed is not None
    assert changed.is_rate


async def test_without_any_rate_there_is_no_preview_of_it_and_with_a_recorded_one_it_is_doubted(office: Office) -> None:
    draft = await office.drafts.open(OSCAR)
    office.service.reads.append(OutOfReach())
    with pytest.raises(Rejection, match="no_quote"):
        await office.broadcasts.preview(draft)
    async with office.store.transaction() as tx:
        await QuoteRepository(tx).add(await office.service.quote())
    office.clock.passes(minutes=11)
    office.service.reads.append(OutOfReach())
    preview = await office.broadcasts.preview(draft)
    assert preview is not None
    assert preview.warnings == (BroadcastWarning.STALE,)


async def test_nobody_in_the_audience_is_said_and_nothing_is_sent(office: Office) -> None:
    async with office.store.transaction() as tx:
        await SubscriptionRepository(tx).delete(EMMA)
        await SubscriptionRepository(tx).delete(SARI)
    with pytest.raises(Rejection, match="nobody"):
        await office.confirmed()


async def test_one_for_later_takes_the_rate_of_its_own_time(office: Office) -> None:
    at = office.clock.now() + timedelta(hours=3)
    confirmed = await office.confirmed(starts_at=at)
    assert (confirmed.starts_at, confirmed.quote) == (at, None)
    assert await office.broadcasts.collect_due() == ()
    office.clock.passes(hours=3)
    office.service.rate = RATE + 1
    (due,) = await office.broadcasts.collect_due()
    begun = await office.begins(due)
    assert begun is not None
    assert begun.quote is not None
    assert begun.quote.btc_idr == RATE + 1


async def test_one_for_later_whose_time_has_passed_meanwhile_is_refused(office: Office) -> None:
    previewed = await office.previewed(starts_at=office.clock.now() + timedelta(minutes=1))
    office.clock.passes(minutes=1)
    with pytest.raises(Rejection, match="time_passed"):
        await office.broadcasts.confirm(previewed, OSCAR, JAKARTA)


async def test_a_rate_that_jumped_before_its_time_waits_for_an_operators_word_and_all_of_them_are_asked(
    office: Office,
) -> None:
    await office.begins(await office.confirmed())
    later = await office.confirmed(starts_at=office.clock.now() + timedelta(hours=1))
    office.clock.passes(hours=1)
    office.service.rate = RATE / 2
    (due,) = await office.broadcasts.collect_due()
    assert await office.begins(due) is None
    waiting = await office.as_it_is(later)
    assert (waiting.status, waiting.started_at) == ("paused", None)
    assert await office.broadcasts.collect_due() == ()
    asked = await office.told()
    assert sorted((each.chat_id, each.kind, warnings_of(each)) for each in asked) == [
        (OSCAR, BroadcastNotification.WAITS, "j"),
        (OLGA, BroadcastNotification.WAITS, "j"),
    ]
    preview = await office.broadcasts.preview(waiting)
    assert preview is not None
    assert isinstance(await office.broadcasts.confirm(preview.broadcast, OLGA, JAKARTA), Preview)
    word = await office.broadcasts.confirm(preview.broadcast, OLGA, JAKARTA, frozenset(preview.warnings))
    assert isinstance(word, Broadcast)
    assert await office.begins(word) is not None


async def test_a_service_that_is_away_for_a_moment_only_delays_one(office: Office) -> None:
    at = office.clock.now() + timedelta(hours=1)
    await office.confirmed(starts_at=at)
    office.clock.passes(hours=1)
    (due,) = await office.broadcasts.collect_due()
    office.service.reads.append(OutOfReach())
    assert await office.begins(due) is None
    assert await office.told() == []
    office.clock.passes(seconds=30)
    (due,) = await office.broadcasts.collect_due()
    assert await office.begins(due) is not None


async def test_a_service_that_stays_away_asks_the_operators(office: Office) -> None:
    await office.confirmed(starts_at=office.clock.now() + timedelta(hours=1))
    office.clock.passes(hours=1, seconds=QUOTE_WAIT.total_seconds() + 1)
    (due,) = await office.broadcasts.collect_due()
    office.service.reads.append(OutOfReach())
    assert await office.begins(due) is None
    assert {warnings_of(each) for each in await office.told()} == {"n"}


async def test_a_bot_that_was_away_at_its_time_asks_before_it_begins(office: Office) -> None:
    await office.confirmed(texts={"en": "Hello", "id": "Halo"}, starts_at=office.clock.now() + timedelta(hours=1))
    office.clock.passes(hours=1, seconds=MAX_DELAY.total_seconds() + 1)
    (due,) = await office.broadcasts.collect_due()
    assert await office.begins(due) is None
    assert {warnings_of(each) for each in await office.told()} == {"l"}


async def test_numbers_that_were_confirmed_long_before_a_crash_was_over_are_asked_about(office: Office) -> None:
    await office.confirmed()
    office.clock.passes(minutes=11)
    (due,) = await office.broadcasts.collect_due()
    assert await office.begins(due) is None
    assert {warnings_of(each) for each in await office.told()} == {"l"}


async def test_a_daily_one_begets_one_a_day_until_it_is_ended(office: Office) -> None:
    daily = await office.confirmed(daily_minute=17 * 60)  # it is 16:00 in Jakarta
    ids = set()
    for _ in range(3):
        assert await office.broadcasts.collect_due() == ()
        office.clock.passes(hours=1)
        (due,) = await office.broadcasts.collect_due()
        assert (due.series, due.daily_minute) == (daily.id, None)
        assert await office.broadcasts.collect_due() == (due,)
        assert await office.begins(due) is not None
        ids.add(due.id)
        office.clock.passes(hours=23)
    assert len(ids) == 3
    assert await office.broadcasts.cancel(await office.as_it_is(daily), OSCAR) is not None
    office.clock.passes(hours=2)
    assert await office.broadcasts.collect_due() == ()


async def test_a_daily_one_begins_though_its_operator_cannot_be_read(office: Office) -> None:
    async with office.store.transaction() as tx:
        await UserRepository(tx).save(User(id=OSCAR, created_at=office.clock.now(), phrase="winter stair harp"))
    daily = await office.confirmed(daily_minute=17 * 60)
    async with office.store._writer.begin() as connection:
        await connection.execute(text("UPDATE users SET phrase = 's1.no.key' WHERE id = :key"), {"key": OSCAR})
    office.clock.passes(hours=1)
    (due,) = await office.broadcasts.collect_due()
    assert due.series == daily.id
    assert (await office.as_it_is(daily)).starts_at == office.clock.now() + timedelta(days=1)
    assert office.store.unreadable_rows() == {f"users {OSCAR}"}


async def test_a_day_on_which_the_bot_was_away_is_left_out(office: Office) -> None:
    daily = await office.confirmed(daily_minute=17 * 60)
    office.clock.passes(hours=1, seconds=MAX_DELAY.total_seconds() + 1)
    assert await office.broadcasts.collect_due() == ()
    assert (await office.as_it_is(daily)).starts_at == office.clock.now() + timedelta(hours=22, seconds=-1)


async def test_what_is_called_off_does_not_begin_and_what_has_begun_is_not_called_off(office: Office) -> None:
    first = await office.confirmed()
    assert await office.broadcasts.cancel(first, OSCAR) is not None
    assert await office.begins(first) is None
    assert await office.broadcasts.collect_due() == ()
    second = await office.begins(await office.confirmed())
    assert second is not None
    assert await office.broadcasts.cancel(second, OSCAR) is None
    async with office.store.reading() as tx:
        trail = await AuditRepository(tx).page()
    about = (f"broadcast:{second.id}", f"broadcast:{first.id}", f"broadcast:{first.id}")
    assert [(entry.actor_id, entry.subject, entry.detail) for entry in trail] == [
        (OSCAR, *each) for each in zip(about, ("confirmed", "called_off", "confirmed"), strict=True)
    ]


async def test_a_draft_that_lay_for_days_is_listed_by_when_it_was_confirmed(office: Office) -> None:
    await office.drafts.open(OSCAR)
    office.clock.passes(days=3)
    other = await office.drafts.open(OLGA)
    preview = await office.broadcasts.preview(other)
    assert preview is not None
    assert isinstance(await office.broadcasts.confirm(preview.broadcast, OLGA, JAKARTA), Broadcast)
    office.clock.passes(minutes=1)
    last = await office.confirmed()
    assert [each.id for each in (await office.drafts.list_page()).broadcasts] == [last.id, other.id]


async def test_one_like_another_says_the_same_and_is_a_new_draft(office: Office) -> None:
    shown = await office.confirmed(texts={"en": "Hello {rate}"}, picture="photo")
    open_one = await office.drafts.open(OLGA)
    drafted = await office.drafts.copy(shown, OLGA)
    assert (drafted.texts, drafted.picture, drafted.status) == (shown.texts, "photo", "draft")
    assert (drafted.quote, drafted.confirmed_at, drafted.operator_id) == (None, None, OLGA)
    assert await office.drafts.open(OLGA) == drafted
    assert (await office.as_it_is(open_one)).status == "discarded"


async def test_the_list_has_all_that_were_confirmed_with_what_became_of_them(office: Office) -> None:
    for _ in range(6):
        begun = await office.begins(await office.confirmed())
        assert begun is not None
        async with office.store.transaction() as tx:
            await DeliveryRepository(tx).create(begun, "id", office.clock.now())
        office.clock.passes(minutes=1)
    await office.drafts.open(OSCAR)
    page = await office.drafts.list_page()
    assert (len(page.broadcasts), page.total) == (5, 6)
    assert page.counts[page.broadcasts[0].id] == {"waiting": 2}
    assert len((await office.drafts.list_page(5)).broadcasts) == 1

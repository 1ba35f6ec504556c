"""Update ids identify updates, but their order means nothing: Telegram can start with new ids."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.checkout.draft import HANDLED_BY_DRAFT
from bot.checkout.service import DraftService
from bot.infra.db.database import Database
from bot.infra.telegram.inbound.receiver import UpdateIntake, name_source
from bot.infra.telegram.inbound.repository import LATE_WITHIN, InboxItem, InboxRepository
from tests.harness.databases import on_postgresql
from tests.infra.test_receiver import FakeQueues
from tests.orders.order_system import EMMA, OrderSystem
from tests.settlement.fake_settlement import MovedClock

OURS, OTHERS = name_source("https://api.example/bot1:a"), name_source("https://api.example/bot2:b")


def update(system: OrderSystem, update_id: int) -> InboxItem:
    return InboxItem(id=update_id, chat_id=EMMA, body="{}", received_at=system.clock.now())


async def test_the_update_that_a_draft_has_taken_in_is_marked_with_it(system: OrderSystem) -> None:
    async with system.sql.transaction() as tx:
        await InboxRepository(tx).add([update(system, 900), update(system, 901), update(system, 7)])
    drafts = DraftService(system.store, system.clock)
    draft = await drafts.begin(system.new_draft(), 900)
    await drafts.save(replace(draft, number="1234567890"), 7)
    async with system.sql.reading() as tx:
        taken = {item.id: item.handled_by for item in await InboxRepository(tx).find_unfinished(EMMA)}
    assert taken == {900: HANDLED_BY_DRAFT, 901: None, 7: HANDLED_BY_DRAFT}


@pytest.mark.parametrize("other", ["https://api.example/bot2:secret", "http://127.0.0.1:8081/bot1:secret"])
def test_ids_are_counted_by_a_bot_at_a_server_whatever_its_token_is(other: str) -> None:
    ours = name_source("https://api.example/bot1:secret")
    assert ours == name_source("https://api.example/bot1:another-secret") != name_source(other)
    assert "secret" not in ours
    assert "example" not in ours


MINUTES = timedelta(minutes=1)


@pytest.mark.parametrize(
    ("before", "source", "is_late"),
    [
        pytest.param(MINUTES, OURS, True, id="a later update came first"),
        pytest.param(MINUTES, OTHERS, False, id="another bot or server counts it"),
        pytest.param(LATE_WITHIN, OURS, False, id="Telegram has begun with new ids since"),
        pytest.param(-MINUTES, OURS, False, id="it came later"),
    ],
)
async def test_an_update_is_late_if_a_later_one_of_the_same_bot_and_server_came_minutes_before(
    store: Database, before: timedelta, source: str, *, is_late: bool
) -> None:
    item = InboxItem(id=7, chat_id=EMMA, body="{}", received_at=MovedClock().now(), source=OURS)
    other = replace(item, id=900_000_001, received_at=item.received_at - before, source=source)
    async with store.transaction() as tx:
        await InboxRepository(tx).add([other, item, replace(other, id=900_000_002, chat_id=EMMA + 1)])
    async with store.reading() as tx:
        assert await InboxRepository(tx).is_overtaken(item) is is_late
        (first, *_) = await InboxRepository(tx).find_unfinished(EMMA)
        assert first.source == (source if before > timedelta(0) else OURS)


@pytest.mark.parametrize(
    ("source", "minutes", "is_late"),
    [(OURS, 1, True), (OTHERS, 1, False), (OURS, 30, False)],
)
async def test_an_answer_is_late_for_a_draft_that_has_taken_a_later_update_of_the_same_bot_and_server(
    store: Database, source: str, minutes: int, *, is_late: bool
) -> None:
    now = MovedClock().now()
    taken = InboxItem(id=900, chat_id=EMMA, body="{}", received_at=now - minutes * MINUTES, source=source)
    answer = replace(taken, id=8, received_at=now, source=OURS)
    async with store.transaction() as tx:
        await InboxRepository(tx).add([taken, answer])
    async with store.reading() as tx:
        assert await InboxRepository(tx).is_earlier_than(answer, 900) is is_late
        assert not await InboxRepository(tx).is_earlier_than(answer, 901), "no such update was received"


def message(update_id: int) -> dict[str, object]:
    return {"update_id": update_id, "message": {"chat": {"id": EMMA}}}


@on_postgresql
@pytest.mark.parametrize("ahead", [timedelta(seconds=1.5), timedelta(minutes=5)])
async def test_messages_keep_their_order_although_the_clocks_of_two_processes_differ(
    store: Database, other_store: Database, ahead: timedelta
) -> None:
    fast, slow = MovedClock(), MovedClock()
    fast.at += ahead
    first = UpdateIntake(store, FakeQueues(), fast, OURS)
    second = UpdateIntake(other_store, FakeQueues(), slow, OURS)
    await first.save([message(5)])
    slow.passes(seconds=1)
    await second.save([message(6)])
    async with store.reading() as tx:
        items = await InboxRepository(tx).find_unfinished(EMMA)
        assert [item.id for item in items] == [5, 6]
        assert not [item for item in items if await InboxRepository(tx).is_overtaken(item)]

"""The outbox: every piece of news once, in order within a chat, chats apart from one another."""

import asyncio
from dataclasses import replace
from datetime import timedelta

from bot.infra.db.database import SqlStore
from bot.orders.order import Phase
from bot.users.model import Backlog, Notification, NotificationStatus, Queue
from tests.contract.store_builders import NOW, SECOND, an_order, some_news

LATER = NOW + timedelta(minutes=1)
DAY = timedelta(days=1)


async def heads(store: SqlStore, limit: int = 100) -> list[Notification]:
    async with store.reading() as tx:
        return list(await tx.outbox.heads(NOW, limit))


async def kinds(store: SqlStore) -> list[str]:
    return [news.kind for news in await heads(store)]


async def test_news_is_kept_once_by_subject_kind_and_chat(store: SqlStore) -> None:
    async with store.transaction() as tx:
        assert await tx.outbox.add([some_news(payload={"idr": 250_000, "name": "Wénny\x00"})]) == 1
        assert await tx.outbox.add([some_news(), some_news(kind="sent"), some_news(kind="sent")]) == 1
        assert await tx.outbox.add([some_news(chat_id=1002), some_news("order:R2")]) == 2
        assert await tx.outbox.add([]) == 0
    found = await heads(store)
    kept = some_news(id=1, payload={"idr": 250_000, "name": "Wénny\x00"})
    assert replace(found[0], id=1) == kept
    assert [news.chat_id for news in found] == [1001, 1002]


async def test_a_chat_is_told_one_piece_at_a_time_and_in_order(store: SqlStore) -> None:
    told = []
    async with store.transaction() as tx:
        await tx.outbox.add([some_news(kind=f"k{n}") for n in range(4)])
    for _ in range(4):
        (head,) = await heads(store)
        async with store.transaction() as tx:
            assert await tx.outbox.start(head.id)
        assert await heads(store) == [], "what is being sent holds back what follows"
        async with store.transaction() as tx:
            await tx.outbox.told(head.id, 77, NOW)
        told.append(head.kind)
    assert told == ["k0", "k1", "k2", "k3"]
    assert await heads(store) == []


async def test_a_chat_waits_for_its_first_news_to_fall_due(store: SqlStore) -> None:
    async with store.transaction() as tx:
        await tx.outbox.add([some_news(kind="first", due_at=LATER), some_news(kind="second")])
        await tx.outbox.add([some_news(kind="other", chat_id=1002)])
        assert await tx.outbox.next_due() == NOW
    assert await kinds(store) == ["other"]
    async with store.reading() as tx:
        assert [news.kind for news in await tx.outbox.heads(LATER)] == ["other", "first"]


async def test_the_next_to_fall_due_is_a_head(store: SqlStore) -> None:
    async with store.transaction() as tx:
        assert await tx.outbox.next_due() is None
        await tx.outbox.add([some_news(kind="first", due_at=LATER), some_news(kind="second")])
        assert await tx.outbox.next_due() == LATER
        (first,) = await tx.outbox.heads(LATER)
        await tx.outbox.start(first.id)
        assert await tx.outbox.next_due() is None


async def test_the_longest_due_come_first_where_there_is_a_limit(store: SqlStore) -> None:
    async with store.transaction() as tx:
        await tx.outbox.add([some_news(chat_id=n, due_at=NOW - n * SECOND) for n in range(1, 6)])
    assert [news.chat_id for news in await heads(store, limit=2)] == [5, 4]


async def test_news_is_started_once(store: SqlStore, other_store: SqlStore) -> None:
    async with store.transaction() as tx:
        await tx.outbox.add([some_news()])
    (head,) = await heads(store)

    async def start(one: SqlStore) -> bool:
        async with one.transaction() as tx:
            return await tx.outbox.start(head.id)

    assert sum(await asyncio.gather(*(start(one) for one in [store, other_store] * 4))) == 1
    async with store.reading() as tx:
        (left,) = await tx.outbox.left_sending()
    assert (left.status, left.attempts) == (NotificationStatus.SENDING, 1)


async def test_a_retry_waits_and_remembers_that_it_may_have_arrived(store: SqlStore) -> None:
    async with store.transaction() as tx:
        await tx.outbox.add([some_news()])
        (head,) = await tx.outbox.heads(NOW)
        await tx.outbox.start(head.id)
        await tx.outbox.retry(head.id, LATER, maybe_told=True)
        assert await tx.outbox.heads(NOW) == ()
        expected = replace(head, attempts=1, maybe_told=True, due_at=LATER)
        assert await tx.outbox.heads(LATER) == (expected,)
        await tx.outbox.start(head.id)
        await tx.outbox.retry(head.id, NOW, maybe_told=False)
        assert await tx.outbox.heads(NOW) == (replace(expected, attempts=2, due_at=NOW),)


async def test_told_news_is_neither_retried_nor_given_up(store: SqlStore) -> None:
    async with store.transaction() as tx:
        await tx.outbox.add([some_news()])
        (head,) = await tx.outbox.heads(NOW)
        await tx.outbox.start(head.id)
        await tx.outbox.told(head.id, 77, NOW)
        await tx.outbox.retry(head.id, NOW, maybe_told=False)
        await tx.outbox.give_up(head.id, "refused")
        assert await tx.outbox.give_up_chat(1001, "blocked") == 0
        assert not await tx.outbox.start(head.id)
        assert await tx.outbox.heads(NOW) == ()
        assert await tx.outbox.message_of(head.subject, head.kind, 1001) == 77


async def test_giving_up_one_lets_the_next_be_told(store: SqlStore) -> None:
    async with store.transaction() as tx:
        await tx.outbox.add([some_news(kind="bad"), some_news(kind="good")])
        (bad,) = await tx.outbox.heads(NOW)
        await tx.outbox.start(bad.id)
        await tx.outbox.give_up(bad.id, "refused")
    assert await kinds(store) == ["good"]


async def test_a_blocked_chat_disturbs_no_other(store: SqlStore) -> None:
    async with store.transaction() as tx:
        await tx.outbox.add([some_news(kind=kind, chat_id=chat) for chat in (1, 2) for kind in ("a", "b", "c")])
        await tx.outbox.start((await tx.outbox.heads(NOW))[0].id)
        assert await tx.outbox.give_up_chat(1, "blocked") == 3
    assert [(news.chat_id, news.kind) for news in await heads(store)] == [(2, "a")]


async def test_a_crash_leaves_what_was_being_sent_in_order(store: SqlStore) -> None:
    async with store.transaction() as tx:
        await tx.outbox.add([some_news(chat_id=n) for n in range(5)])
        for head in reversed(await tx.outbox.heads(NOW)):
            if head.chat_id != 2:
                await tx.outbox.start(head.id)
    async with store.reading() as tx:
        assert [news.chat_id for news in await tx.outbox.left_sending()] == [0, 1, 3, 4]


async def test_a_card_sent_anew_has_another_message(store: SqlStore) -> None:
    async with store.transaction() as tx:
        await tx.outbox.add([some_news(kind="card"), some_news(kind="card", chat_id=1002)])
        assert await tx.outbox.message_of("order:R2345AB", "card", 1001) is None
        await tx.outbox.replace_message("order:R2345AB", "card", 1001, 88)
        assert await tx.outbox.message_of("order:R2345AB", "card", 1001) == 88
        assert await tx.outbox.message_of("order:R2345AB", "card", 1002) is None
        await tx.outbox.replace_message("order:R2345AB", "card", 1001, None)
        assert await tx.outbox.message_of("order:R2345AB", "card", 1001) is None


async def test_old_news_is_forgotten_but_not_of_orders_that_go_on(store: SqlStore) -> None:
    subjects = ("order:DONE", "order:REFUSED", "order:OPEN", "order:UNSHOWN", "order:GONE", "staff:1")
    async with store.transaction() as tx:
        for phase in (Phase.DONE, Phase.REFUSED, Phase.OPEN, Phase.UNSHOWN):
            await tx.orders.add(an_order(phase.name, phase=phase))
        old = [some_news(subject, chat_id=n, created_at=NOW - DAY) for n, subject in enumerate(subjects)]
        await tx.outbox.add([*old, some_news("staff:new", chat_id=9), some_news("staff:wait", chat_id=10)])
        for head in await tx.outbox.heads(NOW):
            if head.subject == "staff:wait":
                continue
            await tx.outbox.start(head.id)
            await tx.outbox.told(head.id, 1, NOW if head.subject == "staff:new" else NOW - SECOND)
        assert await tx.outbox.forget_told(NOW) == 4
        kept = {subject: await tx.outbox.add([some_news(subject, chat_id=n)]) for n, subject in enumerate(subjects)}
    forgotten = {subject for subject, was_new in kept.items() if was_new}
    assert forgotten == {"order:DONE", "order:REFUSED", "order:GONE", "staff:1"}


async def test_news_given_up_is_forgotten_by_its_age(store: SqlStore) -> None:
    async with store.transaction() as tx:
        await tx.outbox.add([some_news(kind="old", created_at=NOW - DAY), some_news(kind="new")])
        await tx.outbox.give_up_chat(1001, "blocked")
        assert await tx.outbox.forget_told(NOW) == 1
        assert await tx.outbox.add([some_news(kind="old"), some_news(kind="new")]) == 1


async def test_an_id_is_never_given_again(store: SqlStore) -> None:
    async with store.transaction() as tx:
        await tx.outbox.add([some_news("staff:1")])
        (first,) = await tx.outbox.heads(NOW)
        await tx.outbox.told(first.id, 1, NOW - DAY)
        assert await tx.outbox.forget_told(NOW) == 1
        await tx.outbox.add([some_news("staff:2")])
        (second,) = await tx.outbox.heads(NOW)
    assert second.id > first.id


async def test_thousands_of_news_keep_their_order(store: SqlStore) -> None:
    many = [some_news(kind=f"{n:04}", chat_id=n % 3) for n in range(5_000)]
    async with store.transaction() as tx:
        assert await tx.outbox.add(many) == 5_000
        assert await tx.outbox.add(many) == 0
    async with store._reader.connect() as connection:
        found = await connection.exec_driver_sql("SELECT kind FROM outbox ORDER BY id")
        assert list(found.scalars()) == [news.kind for news in many]


async def test_a_backlog_is_what_could_have_been_told_before_and_was_not(store: SqlStore) -> None:
    early, late = NOW - SECOND * 90, NOW + SECOND * 90
    async with store.transaction() as tx:
        assert await tx.outbox.backlog(NOW) == Backlog()
        waits = some_news("one", chat_id=1, created_at=early, due_at=early)
        is_due_later = some_news("two", chat_id=2, created_at=early, due_at=late)
        was_told = some_news("three", chat_id=3, created_at=early, due_at=early)
        await tx.outbox.add([waits, is_due_later, was_told])
        for head in await tx.outbox.heads(NOW):
            if head.subject == "three":
                await tx.outbox.start(head.id)
                await tx.outbox.told(head.id, 1, NOW)
    async with store.reading() as tx:
        assert await tx.outbox.backlog(NOW) == Backlog(1, early)
        assert await tx.outbox.backlog(early - SECOND) == Backlog()
        assert await tx.outbox.backlog(late) == Backlog(2, early)


async def test_news_that_are_tried_again_and_again_have_waited_since_they_were_made(store: SqlStore) -> None:
    async with store.transaction() as tx:
        await tx.outbox.add([some_news("one", created_at=NOW - SECOND * 90, due_at=NOW - SECOND * 90)])
        (head,) = await tx.outbox.heads(NOW)
        await tx.outbox.start(head.id)
        assert await tx.outbox.backlog(NOW) == Backlog(1, NOW - SECOND * 90)
        await tx.outbox.retry(head.id, NOW + SECOND * 900, maybe_told=False)
        assert await tx.outbox.backlog(NOW) == Backlog(1, NOW - SECOND * 90)


async def test_news_of_the_rate_are_a_queue_beside_all_others(store: SqlStore) -> None:
    async with store.transaction() as tx:
        await tx.outbox.add([some_news("rate:daily:x", kind="daily"), some_news(kind="paid", due_at=LATER)])
        await tx.outbox.add([some_news("rate:alert:y", kind="alert"), some_news("order:R2", kind="sent")])
        assert await tx.outbox.next_due() == NOW
        assert await tx.outbox.count_due("rate:", NOW) == 2
        (daily,) = await tx.outbox.heads(NOW, queue=Queue.RATE)
        assert daily.kind == "daily"
        assert await tx.outbox.start(daily.id)
        assert await tx.outbox.heads(NOW, queue=Queue.RATE) == ()
        assert await tx.outbox.heads(NOW) == ()
        assert await tx.outbox.next_due() == LATER
        assert [news.kind for news in await tx.outbox.heads(LATER)] == ["paid"]
        assert await tx.outbox.count_due("rate:", NOW) == 2, "what is on its way counts"
        await tx.outbox.told(daily.id, 1, NOW)
        assert [news.kind for news in await tx.outbox.heads(NOW, queue=Queue.RATE)] == ["alert"]
        await tx.outbox.start(daily.id + 2)
        await tx.outbox.retry(daily.id + 2, LATER, maybe_told=False)
        assert [await tx.outbox.count_due("rate:", at) for at in (NOW, LATER)] == [0, 1]

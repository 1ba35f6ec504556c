"""The outbox saves every notification once and keeps the order within a chat. Chats don't affect each other."""

from dataclasses import replace
from datetime import timedelta

from bot.infra.db.database import Database
from bot.infra.outbox.model import Backlog, NotificationStatus, Queue, StoredNotification
from bot.infra.outbox.repository import OutboxRepository
from bot.orders.order import Phase
from bot.orders.repository import MissedOrder, MissedOrderRepository, OrderRepository
from bot.orders.tables import NEEDS_MESSAGE_IDS
from tests.infra.builders import a_notification, due_heads, message_id_of
from tests.orders.builders import an_order
from tests.times import NOW, SECOND

LATER = NOW + timedelta(minutes=1)
DAY = timedelta(days=1)


async def heads(store: Database) -> list[StoredNotification]:
    async with store.reading() as tx:
        return list(await due_heads(tx, NOW))


async def kinds(store: Database) -> list[str]:
    return [notification.kind for notification in await heads(store)]


async def test_a_notification_is_saved_once_by_subject_kind_mark_and_chat(store: Database) -> None:
    async with store.transaction() as tx:
        assert await OutboxRepository(tx).add([a_notification(payload={"idr": 250_000, "name": "Wénny\x00"})]) == 1
        assert (
            await OutboxRepository(tx).add([a_notification(), a_notification(kind="sent"), a_notification(kind="sent")])
            == 1
        )
        assert await OutboxRepository(tx).add([a_notification(chat_id=1002), a_notification("order:R2")]) == 2
        assert await OutboxRepository(tx).add([]) == 0
    found = await heads(store)
    kept = a_notification(id=1, payload={"idr": 250_000, "name": "Wénny\x00"})
    assert replace(found[0], id=1) == kept
    assert [notification.chat_id for notification in found] == [1001, 1002]


async def test_a_chat_is_told_one_piece_at_a_time_and_in_order(store: Database) -> None:
    told = []
    async with store.transaction() as tx:
        await OutboxRepository(tx).add([a_notification(kind=f"k{n}") for n in range(4)])
    for _ in range(4):
        (head,) = await heads(store)
        async with store.transaction() as tx:
            assert await OutboxRepository(tx).mark_sending([head.id], NOW)
        assert await heads(store) == [], "what is being sent holds back what follows"
        async with store.transaction() as tx:
            await OutboxRepository(tx).record_sent({head.id: 77}, NOW)
        told.append(head.kind)
    assert told == ["k0", "k1", "k2", "k3"]
    assert await heads(store) == []


async def test_a_chat_waits_for_its_first_notification_to_fall_due(store: Database) -> None:
    async with store.transaction() as tx:
        await OutboxRepository(tx).add([a_notification(kind="first", due_at=LATER), a_notification(kind="second")])
        await OutboxRepository(tx).add([a_notification(kind="other", chat_id=1002)])
    assert await kinds(store) == ["other"]
    async with store.reading() as tx:
        assert [notification.kind for notification in await due_heads(tx, LATER)] == [
            "other",
            "first",
        ]


async def test_those_that_are_due_first_come_first_and_one_more_than_can_be_sent(store: Database) -> None:
    slots = Queue.URGENT.slots
    rows = [a_notification(chat_id=n, due_at=NOW - n * SECOND) for n in range(1, slots + 1)]
    async with store.transaction() as tx:
        outbox = OutboxRepository(tx)
        await outbox.add([a_notification(chat_id=1000, due_at=LATER), *rows])
        found = await outbox.find_heads()
        assert [each.chat_id for each in found] == [*range(slots, 0, -1), 1000], "the last says when it is due"
        await outbox.add([a_notification(chat_id=1001)])
        found = await outbox.find_heads()
        assert [each.chat_id for each in found] == [*range(slots, 0, -1), 1001], "the last says that slots lack"


async def test_each_queue_has_its_heads_in_one_query(store: Database) -> None:
    async with store.transaction() as tx:
        outbox = OutboxRepository(tx)
        await outbox.add([a_notification(kind=queue, queue=queue) for queue in Queue])
        urgent, bulk = await outbox.find_heads(tuple(Queue))
        assert (urgent.queue, bulk.queue) == (Queue.URGENT, Queue.BULK), "others of its subject come after money"
        await outbox.give_up(urgent.id, "refused")
        assert [each.queue for each in await outbox.find_heads(tuple(Queue))] == [Queue.EDITS, Queue.EXTRA, Queue.BULK]


async def test_a_notification_is_marked_once_it_is_due_and_again_as_one_that_was_interrupted(store: Database) -> None:
    async with store.transaction() as tx:
        outbox = OutboxRepository(tx)
        await outbox.add([a_notification(due_at=LATER)])
        (head,) = await outbox.find_heads()
        assert await outbox.mark_sending([head.id], NOW) == {}
        assert await outbox.mark_sending([head.id], LATER) == {head.id: False}
        assert await outbox.find_heads() == (replace(head, status=NotificationStatus.SENDING, attempts=1),)
        assert await outbox.mark_sending([head.id], LATER) == {head.id: True}
        assert await outbox.find_heads() == (
            replace(head, status=NotificationStatus.SENDING, attempts=2, maybe_sent=True),
        )
        await outbox.record_sent({head.id: 77}, LATER)
        assert await outbox.mark_sending([head.id], LATER) == {}


async def test_those_alike_are_the_later_ones_that_wait_for_nothing_else(store: Database) -> None:
    edits = [a_notification(kind="edit", mark=f"{n}", queue=Queue.EDITS) for n in range(5)]
    others = [a_notification("order:R2", "edit"), a_notification(kind="other"), replace(edits[1], chat_id=1002)]
    paid = a_notification(kind="paid")
    async with store.transaction() as tx:
        outbox = OutboxRepository(tx)
        await outbox.add([*edits[:4], *others, paid, edits[4]])
        first, second, third, *_ = [row for row in await outbox.find_by_subject(paid.subject) if row.kind == "edit"]
        await outbox.give_up(third.id, "refused")
        assert [each.mark for each in await outbox.find_alike(first)] == ["1", "3"]
        assert [each.mark for each in await outbox.find_alike(second)] == ["3"]


async def test_a_retry_waits_and_remembers_that_it_may_have_arrived(store: Database) -> None:
    async with store.transaction() as tx:
        await OutboxRepository(tx).add([a_notification()])
        (head,) = await due_heads(tx, NOW)
        await OutboxRepository(tx).mark_sending([head.id], NOW)
        await OutboxRepository(tx).postpone(head.id, LATER, maybe_sent=True)
        assert await due_heads(tx, NOW) == ()
        expected = replace(head, attempts=1, maybe_sent=True, due_at=LATER)
        assert await due_heads(tx, LATER) == (expected,)
        await OutboxRepository(tx).mark_sending([head.id], LATER)
        await OutboxRepository(tx).postpone(head.id, NOW, maybe_sent=False)
        assert await due_heads(tx, NOW) == (replace(expected, attempts=2, due_at=NOW),)


async def test_a_sent_notification_is_neither_retried_nor_given_up(store: Database) -> None:
    async with store.transaction() as tx:
        await OutboxRepository(tx).add([a_notification()])
        (head,) = await due_heads(tx, NOW)
        await OutboxRepository(tx).mark_sending([head.id], NOW)
        await OutboxRepository(tx).record_sent({head.id: 77}, NOW)
        await OutboxRepository(tx).postpone(head.id, NOW, maybe_sent=False)
        await OutboxRepository(tx).give_up(head.id, "refused")
        assert await OutboxRepository(tx).give_up_chat(1001, "blocked") == 0
        assert not await OutboxRepository(tx).mark_sending([head.id], NOW)
        assert await due_heads(tx, NOW) == ()
        assert await message_id_of(tx, head.subject, head.kind, 1001) == 77


async def test_giving_up_one_lets_the_next_be_told(store: Database) -> None:
    async with store.transaction() as tx:
        await OutboxRepository(tx).add([a_notification(kind="bad"), a_notification(kind="good")])
        (bad,) = await due_heads(tx, NOW)
        await OutboxRepository(tx).mark_sending([bad.id], NOW)
        await OutboxRepository(tx).give_up(bad.id, "refused")
    assert await kinds(store) == ["good"]


async def test_a_blocked_chat_disturbs_no_other(store: Database) -> None:
    async with store.transaction() as tx:
        await OutboxRepository(tx).add(
            [a_notification(kind=kind, chat_id=chat) for chat in (1, 2) for kind in ("a", "b", "c")]
        )
        await OutboxRepository(tx).mark_sending([(await due_heads(tx, NOW))[0].id], NOW)
        assert await OutboxRepository(tx).give_up_chat(1, "blocked") == 3
    assert [(notification.chat_id, notification.kind) for notification in await heads(store)] == [(2, "a")]


async def test_a_card_sent_anew_has_another_message(store: Database) -> None:
    async with store.transaction() as tx:
        await OutboxRepository(tx).add([a_notification(kind="card"), a_notification(kind="card", chat_id=1002)])
        assert await message_id_of(tx, "order:R2345AB", "card", 1001) is None
        (card, _) = await OutboxRepository(tx).find_by_subject("order:R2345AB")
        await OutboxRepository(tx).replace_message_id(card.id, 88)
        assert await message_id_of(tx, "order:R2345AB", "card", 1001) == 88
        assert await message_id_of(tx, "order:R2345AB", "card", 1002) is None


async def test_old_notifications_are_deleted_but_not_of_open_orders(store: Database) -> None:
    subjects = ("order:DONE", "order:REFUSED", "order:OPEN", "order:ABANDONED", "order:GONE", "staff:1")
    async with store.transaction() as tx:
        for phase in (Phase.DONE, Phase.REFUSED, Phase.OPEN, Phase.ABANDONED):
            await OrderRepository(tx).add(an_order(phase.name, phase=phase))
        old = [a_notification(subject, chat_id=n, created_at=NOW - DAY) for n, subject in enumerate(subjects)]
        await OutboxRepository(tx).add(
            [*old, a_notification("staff:new", chat_id=9), a_notification("staff:wait", chat_id=10)]
        )
        for head in await due_heads(tx, NOW):
            if head.subject == "staff:wait":
                continue
            await OutboxRepository(tx).mark_sending([head.id], NOW)
            await OutboxRepository(tx).record_sent({head.id: 1}, NOW if head.subject == "staff:new" else NOW - SECOND)
        assert await OutboxRepository(tx).delete_old(NOW, (NEEDS_MESSAGE_IDS,)) == 4
        kept = {
            subject: await OutboxRepository(tx).add([a_notification(subject, chat_id=n)])
            for n, subject in enumerate(subjects)
        }
    forgotten = {subject for subject, was_new in kept.items() if was_new}
    assert forgotten == {"order:DONE", "order:REFUSED", "order:GONE", "staff:1"}


async def test_a_notification_given_up_is_deleted_by_its_age(store: Database) -> None:
    async with store.transaction() as tx:
        await OutboxRepository(tx).add([a_notification(kind="old", created_at=NOW - DAY), a_notification(kind="new")])
        await OutboxRepository(tx).give_up_chat(1001, "blocked")
        assert await OutboxRepository(tx).delete_old(NOW, ()) == 1
        assert await OutboxRepository(tx).add([a_notification(kind="old"), a_notification(kind="new")]) == 1


async def test_what_was_given_up_waits_again_by_subject_and_kind(store: Database) -> None:
    subject, later = "order:R2345AB", NOW + SECOND
    async with store.transaction() as tx:
        await OutboxRepository(tx).add([a_notification(kind=kind) for kind in ("removal", "paid", "sent")])
        (sent,) = [row for row in await OutboxRepository(tx).find_by_subject(subject) if row.kind == "sent"]
        await OutboxRepository(tx).record_sent({sent.id: 7}, NOW)
        await OutboxRepository(tx).give_up_chat(1001, "blocked")
        await OutboxRepository(tx).queue_again(subject, ("removal", "sent"), 1002, later)
        assert not await OutboxRepository(tx).find_unsent(1001), "another chat's"
        await OutboxRepository(tx).queue_again(subject, ("removal", "sent"), 1001, later)
        (again,) = await OutboxRepository(tx).find_unsent(1001)
    assert (again.kind, again.due_at, again.attempts, again.failure) == ("removal", later, 0, None)


async def test_what_a_user_missed_is_kept_until_they_have_seen_it(store: Database) -> None:
    missed = MissedOrder(user_id=1001, reference="MISSED", at=NOW)
    async with store.transaction() as tx:
        for reference in ("MISSED", "SEEN"):
            await OrderRepository(tx).add(an_order(reference, phase=Phase.DONE))
            await OutboxRepository(tx).add([a_notification(f"order:{reference}", created_at=NOW - DAY)])
        await OutboxRepository(tx).give_up_chat(1001, "blocked")
        await MissedOrderRepository(tx).save(missed)
        assert await OutboxRepository(tx).delete_old(NOW, (NEEDS_MESSAGE_IDS,)) == 1
        assert await OutboxRepository(tx).find_by_subject("order:MISSED")
        await MissedOrderRepository(tx).delete([missed])
        assert await OutboxRepository(tx).delete_old(NOW, (NEEDS_MESSAGE_IDS,)) == 1


async def test_an_id_is_never_given_again(store: Database) -> None:
    async with store.transaction() as tx:
        await OutboxRepository(tx).add([a_notification("staff:1")])
        (first,) = await due_heads(tx, NOW)
        await OutboxRepository(tx).record_sent({first.id: 1}, NOW - DAY)
        assert await OutboxRepository(tx).delete_old(NOW, ()) == 1
        await OutboxRepository(tx).add([a_notification("staff:2")])
        (second,) = await due_heads(tx, NOW)
    assert second.id > first.id


async def test_thousands_of_notifications_keep_their_order(store: Database) -> None:
    many = [a_notification(kind=f"{n:04}", chat_id=n % 3) for n in range(5_000)]
    async with store.transaction() as tx:
        assert await OutboxRepository(tx).add(many) == 5_000
        assert await OutboxRepository(tx).add(many) == 0
    async with store._reader.connect() as connection:
        found = await connection.exec_driver_sql("SELECT kind FROM outbox ORDER BY id")
        assert list(found.scalars()) == [notification.kind for notification in many]


async def test_a_backlog_is_what_could_have_been_told_before_and_was_not(store: Database) -> None:
    early, late = NOW - SECOND * 90, NOW + SECOND * 90
    async with store.transaction() as tx:
        assert await OutboxRepository(tx).get_backlog(NOW) == Backlog()
        waits = a_notification("one", chat_id=1, created_at=early, due_at=early)
        is_due_later = a_notification("two", chat_id=2, created_at=early, due_at=late)
        was_told = a_notification("three", chat_id=3, created_at=early, due_at=early)
        await OutboxRepository(tx).add([waits, is_due_later, was_told])
        for head in await due_heads(tx, NOW):
            if head.subject == "three":
                await OutboxRepository(tx).mark_sending([head.id], NOW)
                await OutboxRepository(tx).record_sent({head.id: 1}, NOW)
    async with store.reading() as tx:
        assert await OutboxRepository(tx).get_backlog(NOW) == Backlog(1, early)
        assert await OutboxRepository(tx).get_backlog(early - SECOND) == Backlog()
        assert await OutboxRepository(tx).get_backlog(late) == Backlog(2, early)


async def test_a_notification_that_is_tried_again_has_waited_since_it_was_created(store: Database) -> None:
    async with store.transaction() as tx:
        await OutboxRepository(tx).add([a_notification("one", created_at=NOW - SECOND * 90, due_at=NOW - SECOND * 90)])
        (head,) = await due_heads(tx, NOW)
        await OutboxRepository(tx).mark_sending([head.id], NOW)
        assert await OutboxRepository(tx).get_backlog(NOW) == Backlog(1, NOW - SECOND * 90)
        await OutboxRepository(tx).postpone(head.id, NOW + SECOND * 900, maybe_sent=False)
        assert await OutboxRepository(tx).get_backlog(NOW) == Backlog(1, NOW - SECOND * 90)


async def test_notifications_about_the_rate_are_a_queue_beside_all_others(store: Database) -> None:
    async with store.transaction() as tx:
        await OutboxRepository(tx).add(
            [a_notification("rate:daily:x", kind="daily", queue=Queue.BULK), a_notification(kind="paid", due_at=LATER)]
        )
        await OutboxRepository(tx).add(
            [a_notification("rate:alert:y", kind="alert", queue=Queue.BULK), a_notification("order:R2", kind="sent")]
        )
        assert await OutboxRepository(tx).count_due("rate:", NOW) == 2
        (daily,) = await due_heads(tx, NOW, queue=Queue.BULK)
        assert daily.kind == "daily"
        assert await OutboxRepository(tx).mark_sending([daily.id], NOW)
        assert await due_heads(tx, NOW, queue=Queue.BULK) == ()
        assert await due_heads(tx, NOW) == ()
        assert [notification.kind for notification in await due_heads(tx, LATER)] == ["paid"]
        assert await OutboxRepository(tx).count_due("rate:", NOW) == 2, "what is on its way counts"
        await OutboxRepository(tx).record_sent({daily.id: 1}, NOW)
        assert [notification.kind for notification in await due_heads(tx, NOW, queue=Queue.BULK)] == ["alert"]
        await OutboxRepository(tx).mark_sending([daily.id + 2], NOW)
        await OutboxRepository(tx).postpone(daily.id + 2, LATER, maybe_sent=False)
        assert [await OutboxRepository(tx).count_due("rate:", at) for at in (NOW, LATER)] == [0, 1]

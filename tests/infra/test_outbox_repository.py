"""The outbox saves every notification once and keeps the order within a chat. Chats don't affect each other."""

from dataclasses import replace
from datetime import timedelta

from bot.infra.db.database import Database
from bot.infra.outbox.model import Backlog, Queue, StoredNotification
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

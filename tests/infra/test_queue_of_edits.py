"""Edits and removals have their own queue: no message about money waits for them, and they end after some tries."""

from collections.abc import Collection
from dataclasses import replace
from typing import Any, cast

import pytest

from bot.infra.db.database import Database
from bot.infra.outbox.delivery import OutboxDelivery
from bot.infra.outbox.model import (
    MAX_TRIES,
    Backlog,
    NotificationStatus,
    Queue,
    RetryLater,
    Sent,
    StoredNotification,
    Undeliverable,
)
from bot.infra.outbox.repository import OutboxRepository
from bot.infra.telegram.outbound.sender import Delivered, Gone, Invalid, Outcome, TryLater
from bot.orders.missed_messages import follow_ups
from bot.orders.notification_kinds import OrderNotification
from bot.orders.notification_queue import QUEUES, order_notifications
from bot.staff.alarm_model import AlarmKind
from bot.staff.alarm_repository import AlarmRepository
from tests.infra.builders import a_notification, as_stored
from tests.infra.test_outbox_delivery import CountingDatabase, interrupt_and_recover
from tests.infra.test_queues_of_messages import (
    TelegramWithOldMessages,
    create_renderers,
    deliver_all,
    save_old_invoice,
    take_down,
)
from tests.orders.order_system import EMMA, OSCAR, OrderSystem, RecordingSender
from tests.times import NOW, SECOND

TAKE_DOWN, CARD_EDIT = OrderNotification.TAKE_DOWN, OrderNotification.CARD_EDIT


async def queue(system: OrderSystem, *marked_kinds: str, reference: str = "R2345AB") -> None:
    """Queue notifications about an order. A mark follows its kind after a colon."""
    now = system.clock.now()
    rows = [
        a_notification(
            f"order:{reference}",
            kind,
            mark=mark,
            payload={"reference": reference},
            queue=QUEUES.get(kind, Queue.URGENT),
            due_at=now,
            created_at=now,
        )
        for kind, _, mark in (each.partition(":") for each in marked_kinds)
    ]
    async with system.sql.transaction() as tx:
        await OutboxRepository(tx).add(rows)


class FailingSender(RecordingSender):
    """A sender with which some kinds fail, about one order or about all. It counts how often they were tried."""

    def __init__(self, system: OrderSystem, *kinds: str, subject: str = "") -> None:
        super().__init__(system.clock)
        self.failing, self.subject = set(kinds), subject
        self.tries = 0

    async def send(self, notification: StoredNotification) -> Sent | RetryLater | Undeliverable:
        if notification.kind in self.failing and self.subject in {"", notification.subject}:
            self.tries += 1
            return RetryLater(0)
        return await super().send(notification)


def create_delivery(system: OrderSystem, sender: RecordingSender) -> OutboxDelivery:
    return OutboxDelivery(system.store, sender, system.clock, follow_ups=follow_ups(frozenset({OSCAR})))


async def rows_of(system: OrderSystem, reference: str = "R2345AB") -> dict[str, StoredNotification]:
    async with system.store.reading() as tx:
        found = await OutboxRepository(tx).find_by_subject(f"order:{reference}")
    return {notification.kind: notification for notification in found}


@pytest.mark.parametrize("failing", [{TAKE_DOWN}, {CARD_EDIT}, {TAKE_DOWN, CARD_EDIT}])
async def test_no_message_about_money_waits_for_a_removal_or_an_edit(
    system: OrderSystem, failing: Collection[str]
) -> None:
    sender = FailingSender(system, *failing)
    system.delivery = create_delivery(system, sender)
    await queue(system, "take_down", "card_edit:1", "paid")
    await deliver_all(system)
    await queue(system, "card_edit:2", "failed")
    await queue(system, "invoice", "card", reference="R9")
    await deliver_all(system)
    about_money = [each.kind for each in sender.sent if each.kind not in {TAKE_DOWN, CARD_EDIT}]
    assert about_money == ["paid", "failed", "invoice", "card"]


async def test_a_removal_ends_after_some_tries_with_an_alarm(system: OrderSystem) -> None:
    sender = FailingSender(system, TAKE_DOWN)
    system.delivery = create_delivery(system, sender)
    await queue(system, "take_down", "card_edit:1")
    for _ in range(MAX_TRIES[Queue.EDITS] * 2):
        await deliver_all(system)
        system.clock.passes(minutes=15)
    assert sender.tries == MAX_TRIES[Queue.EDITS]
    assert sender.kinds() == ["card_edit"], "an edit of the same order waits for its removal only so long"
    assert (await rows_of(system))["take_down"].status is NotificationStatus.UNDELIVERABLE
    async with system.store.reading() as tx:
        alarms = await AlarmRepository(tx).open()
    assert [(alarm.kind, alarm.subject) for alarm in alarms] == [(AlarmKind.INVOICE_NOT_REMOVED, "R2345AB")]
    assert sender.kinds(OSCAR) == ["alarm_raised"]


async def test_an_edit_that_is_given_up_is_no_alarm(system: OrderSystem) -> None:
    system.delivery = create_delivery(system, system.sender)
    system.sender.outcomes[EMMA].append(Undeliverable("rejected"))
    await queue(system, "card_edit:1")
    await deliver_all(system)
    async with system.store.reading() as tx:
        assert await AlarmRepository(tx).open() == ()


@pytest.mark.parametrize("removal", ["take_down", "take_down_picture"])
async def test_only_a_chat_that_cannot_be_reached_ends_a_removal_without_an_alarm(
    system: OrderSystem, removal: str
) -> None:
    for number, outcome in enumerate((Undeliverable("blocked", whole_chat=True), Undeliverable("rejected"))):
        system.delivery = create_delivery(system, system.sender)
        system.sender.outcomes[EMMA].append(outcome)
        await queue(system, removal, reference=f"R{number}")
        await deliver_all(system)
        async with system.store.reading() as tx:
            assert [alarm.subject for alarm in await AlarmRepository(tx).open()] == ["R1"] * number


async def test_the_removal_of_one_invoice_waits_for_no_other_order(system: OrderSystem) -> None:
    sender = FailingSender(system, TAKE_DOWN, subject="order:R2345AB")
    system.delivery = create_delivery(system, sender)
    await queue(system, "take_down", "card_edit:1")
    await queue(system, "take_down", "card_edit:1", reference="R9")
    await deliver_all(system)
    assert [(each.subject, each.kind) for each in sender.sent] == [("order:R9", "take_down"), ("order:R9", "card_edit")]


@pytest.mark.parametrize("maybe_sent", [False, True])
async def test_a_message_is_sent_before_it_is_edited_or_removed(system: OrderSystem, *, maybe_sent: bool) -> None:
    system.sender.outcomes[EMMA].append(RetryLater(30, maybe_sent=maybe_sent))
    await queue(system, "checking", "card", "take_down", "card_edit:1", "paid")
    await deliver_all(system)
    assert system.sender.kinds() == []
    system.clock.passes(seconds=30)
    await deliver_all(system)
    kinds = system.sender.kinds()
    assert kinds[:2] == ["checking", "card"]
    assert kinds.index("take_down") < kinds.index("card_edit")


async def test_an_edit_that_a_crash_interrupted_is_repeated_and_nothing_overtakes_it(
    system: OrderSystem, other_system: OrderSystem
) -> None:
    await queue(system, "take_down", "card_edit:1")
    await interrupt_and_recover(system, other_system)
    assert [(each.kind, each.maybe_sent) for each in other_system.sender.sent] == [
        ("take_down", True),
        ("card_edit", False),
    ]


async def test_one_transaction_marks_what_begins_and_an_edit_is_marked_with_the_result_that_it_waits_for(
    system: OrderSystem,
) -> None:
    store = CountingDatabase(system.sql)
    delivery = OutboxDelivery(cast("Database", store), system.sender, system.clock)
    await queue(system, "take_down", "card_edit:1", "paid")
    await queue(system, "card_edit:1", reference="R9")
    await delivery.start_due()
    await delivery.wait_until_sent()
    assert sorted(system.sender.kinds()) == ["card_edit", "card_edit", "paid", "take_down"]
    assert store.writes < 5, "one marks what is due, and results that arrive together are saved together"


async def test_edits_and_extras_are_counted_apart(store: Database) -> None:
    early = NOW - SECOND * 90
    kinds: dict[str, Any] = {"take_down": Queue.EDITS, "receipt": Queue.EXTRA}
    async with store.transaction() as tx:
        await OutboxRepository(tx).add(
            [a_notification(kind=kind, queue=queue, due_at=early) for kind, queue in kinds.items()]
        )
        for kind, queue in kinds.items():
            (head,) = await OutboxRepository(tx).find_heads(NOW, queue=queue)
            assert head.kind == kind
        backlogs = await OutboxRepository(tx).get_backlogs(NOW)
        assert backlogs == dict.fromkeys(Queue, Backlog()) | {each: Backlog(1, early) for each in kinds.values()}
        assert await OutboxRepository(tx).get_backlog(NOW) == Backlog(2, early)
        for queue in (Queue.EDITS, Queue.EXTRA):
            (head,) = await OutboxRepository(tx).find_heads(NOW, queue=queue)
            await OutboxRepository(tx).mark_sending(head.id)
            assert [each.id for each in await OutboxRepository(tx).find_interrupted([queue])] == [head.id]


class TelegramWithoutRemovals(TelegramWithOldMessages):
    """A fake messenger that deletes and edits nothing."""

    def __init__(self) -> None:
        super().__init__(set())

    async def delete(self, *_: Any, **__: Any) -> Outcome:
        return TryLater(0)

    async def edit_text(self, *_: Any, **__: Any) -> Outcome:
        return TryLater(0)


class TelegramThatRejects(TelegramWithOldMessages):
    """A fake messenger with messages that are too old to be deleted. Some methods are rejected."""

    def __init__(self, *rejected: str, photos: Collection[int] = (41,)) -> None:
        super().__init__(set(photos))
        self.rejected = rejected

    async def delete(self, *args: Any, **kwargs: Any) -> Outcome:
        return Invalid("no") if "delete" in self.rejected else await super().delete(*args, **kwargs)

    async def edit_caption(self, *args: Any, **kwargs: Any) -> Outcome:
        return Invalid("no") if "edit_caption" in self.rejected else await super().edit_caption(*args, **kwargs)

    async def edit_text(self, *args: Any, **kwargs: Any) -> Outcome:
        return Gone() if "edit_text" in self.rejected else await super().edit_text(*args, **kwargs)


@pytest.mark.parametrize(
    ("rejected", "is_done"),
    [
        (("delete",), True),
        (("edit_caption",), False),  # the text under the invoice is replaced, and the QR code isn't
        (("edit_text",), False),  # the other way round
    ],
)
async def test_an_invoice_that_stays_in_sight_does_not_count_as_removed(
    system: OrderSystem, rejected: tuple[str, ...], *, is_done: bool
) -> None:
    order = await save_old_invoice(system)
    outcome = await take_down(system, order, TelegramThatRejects(*rejected))
    assert isinstance(outcome, Sent if is_done else Undeliverable)


async def test_a_text_that_cannot_be_removed_does_not_keep_the_picture_in_sight(system: OrderSystem) -> None:
    order = await save_old_invoice(system)
    telegram = TelegramThatRejects("edit_text")
    await take_down(system, order, telegram)
    assert set(telegram.edited) == {41}


async def test_a_status_message_that_may_have_been_sent_again_says_so(system: OrderSystem) -> None:
    texts: list[str] = []

    class Telegram(TelegramWithOldMessages):
        async def send_text(self, *args: Any, **_: Any) -> Outcome:
            texts.append(args[1])
            return Delivered(7)

    order = await system.place()
    (edit,) = order_notifications(order, (CARD_EDIT,), system.clock.now())
    (card,) = order_notifications(order, (OrderNotification.PAID,), system.clock.now())
    async with system.sql.transaction() as tx:
        await OutboxRepository(tx).add([replace(card, message_id=7)])
    renderers = create_renderers(system, Telegram({7}))
    for maybe_sent in (False, True):
        await renderers.send(as_stored(replace(edit, maybe_sent=maybe_sent)))
    first, again = texts
    assert again.startswith(first)
    assert again != first

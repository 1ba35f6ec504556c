"""Edits and removals have their own queue: no message about money waits for them, and they end after some tries."""

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import pytest

from bot.infra.outbox.delivery import OutboxDelivery
from bot.infra.outbox.model import (
    NotificationStatus,
    Queue,
    RetryLater,
    Sent,
    StoredNotification,
    Undeliverable,
)
from bot.infra.outbox.repository import OutboxRepository
from bot.infra.telegram.outbound.sender import Gone, Invalid, Outcome
from bot.orders.messages import order_notifications
from bot.orders.missed_messages import follow_ups
from bot.orders.notifications import OrderNotification
from bot.staff.model import AlarmKind
from bot.staff.repository import AlarmRepository
from tests.infra.builders import a_notification
from tests.infra.test_outbox_delivery import interrupt
from tests.infra.test_queues_of_messages import (
    TelegramWithOldMessages,
    create_renderers,
    deliver_all,
    remove_invoice,
    save_old_invoice,
)
from tests.orders.order_system import EDITS, EMMA, OSCAR, OrderSystem, RecordingSender

MAX_TRIES = Queue.EDITS.max_tries or 0


REMOVE_INVOICE, EDIT_STATUS = OrderNotification.REMOVE_INVOICE, OrderNotification.EDIT_STATUS


async def queue(system: OrderSystem, *marked_kinds: str, reference: str = "R2345AB") -> None:
    """Queue notifications about an order. A mark follows its kind after a colon."""
    now = system.clock.now()
    rows = [
        a_notification(
            f"order:{reference}",
            kind,
            mark=mark,
            payload={"reference": reference},
            queue=Queue.EDITS if kind in EDITS else Queue.URGENT,
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


@pytest.mark.parametrize("failing", [{REMOVE_INVOICE}, {EDIT_STATUS}, {REMOVE_INVOICE, EDIT_STATUS}])
async def test_no_message_about_money_waits_for_a_removal_or_an_edit(
    system: OrderSystem, failing: Collection[str]
) -> None:
    sender = FailingSender(system, *failing)
    system.delivery = create_delivery(system, sender)
    await queue(system, "remove_invoice", "edit_status:1", "paid")
    await deliver_all(system)
    await queue(system, "edit_status:2", "failed")
    await queue(system, "invoice", "card", reference="R9")
    await deliver_all(system)
    about_money = [each.kind for each in sender.sent if each.kind not in {REMOVE_INVOICE, EDIT_STATUS}]
    assert about_money == ["paid", "failed", "invoice", "card"]


async def test_a_removal_ends_after_some_tries_with_an_alarm(system: OrderSystem) -> None:
    sender = FailingSender(system, REMOVE_INVOICE)
    system.delivery = create_delivery(system, sender)
    await queue(system, "remove_invoice", "edit_status:1")
    for _ in range(MAX_TRIES * 2):
        await deliver_all(system)
        system.clock.passes(minutes=15)
    assert sender.tries == MAX_TRIES
    assert sender.kinds() == ["edit_status"], "an edit of the same order waits for its removal only so long"
    assert (await rows_of(system))["remove_invoice"].status is NotificationStatus.UNDELIVERABLE
    async with system.store.reading() as tx:
        alarms = await AlarmRepository(tx).find_open()
    assert [(alarm.kind, alarm.subject) for alarm in alarms] == [(AlarmKind.INVOICE_NOT_REMOVED, "R2345AB")]
    assert sender.kinds(OSCAR) == ["alarm_raised"]


@pytest.mark.parametrize("removal", ["remove_invoice", "replace_qr_code"])
async def test_only_a_chat_that_cannot_be_reached_ends_a_removal_without_an_alarm(
    system: OrderSystem, removal: str
) -> None:
    for number, outcome in enumerate((Undeliverable("blocked", whole_chat=True), Undeliverable("rejected"))):
        system.delivery = create_delivery(system, system.sender)
        system.sender.outcomes[EMMA].append(outcome)
        await queue(system, removal, reference=f"R{number}")
        await deliver_all(system)
        async with system.store.reading() as tx:
            assert [alarm.subject for alarm in await AlarmRepository(tx).find_open()] == ["R1"] * number


@pytest.mark.parametrize("maybe_sent", [False, True])
async def test_a_message_is_sent_before_it_is_edited_or_removed(system: OrderSystem, *, maybe_sent: bool) -> None:
    system.sender.outcomes[EMMA].append(RetryLater(30, maybe_sent=maybe_sent))
    await queue(system, "checking", "card", "remove_invoice", "edit_status:1", "paid")
    await deliver_all(system)
    assert system.sender.kinds() == []
    system.clock.passes(seconds=30)
    await deliver_all(system)
    kinds = system.sender.kinds()
    assert kinds[:2] == ["checking", "card"]
    assert kinds.index("remove_invoice") < kinds.index("edit_status")


async def test_an_edit_that_a_crash_interrupted_is_repeated_and_nothing_overtakes_it(
    system: OrderSystem, other_system: OrderSystem
) -> None:
    await queue(system, "remove_invoice", "edit_status:1")
    await interrupt(system)
    await other_system.deliver()
    assert [(each.kind, each.maybe_sent) for each in other_system.sender.sent] == [
        ("remove_invoice", True),
        ("edit_status", False),
    ]


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
    outcome = await remove_invoice(system, order, TelegramThatRejects(*rejected))
    assert isinstance(outcome, Sent if is_done else Undeliverable)


async def test_of_the_edits_that_wait_one_shows_the_newest_status_and_each_removal_counts(system: OrderSystem) -> None:
    tried = list[str]()

    class Sender(RecordingSender):
        async def send(self, notification: StoredNotification) -> Any:
            tried.append(notification.kind)
            return await create_renderers(system, TelegramWithOldMessages({41})).send(notification)

    order = await save_old_invoice(system, paid=True)
    now = system.clock.now()
    (status,) = order_notifications(order, (OrderNotification.PAID,), now)
    edits = [each for n in range(3) for each in order_notifications(replace(order, version=n), (EDIT_STATUS,), now)]
    removals = [each for mark in ("", "1") for each in order_notifications(order, (REMOVE_INVOICE,), now, mark)]
    sent = replace(status, message_id=7, status=NotificationStatus.SENT, sent_at=now)
    async with system.sql.transaction() as tx:
        await OutboxRepository(tx).add([sent, *edits, *removals])
    system.delivery = create_delivery(system, Sender(system.clock))
    await deliver_all(system)
    assert [kind for kind in tried if kind in EDITS] == [EDIT_STATUS, REMOVE_INVOICE, REMOVE_INVOICE]
    rows = await rows_of(system, order.reference)
    assert {rows[kind].status for kind in (EDIT_STATUS, REMOVE_INVOICE)} == {NotificationStatus.SENT}

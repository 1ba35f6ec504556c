"""Messages about alarms are in the reader's language, and only operators get buttons."""

import asyncio
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import pytest

from bot.core.errors import Rejection
from bot.infra.outbox.model import DeliveryOutcome, Queue, Sent, StoredNotification
from bot.infra.outbox.rendering import Renderers
from bot.infra.outbox.repository import OutboxRepository
from bot.infra.telegram.outbound.sender import Delivered
from bot.infra.telegram.ui.screen import Keyboard
from bot.orders.alarms import load_order
from bot.staff.alarms import clear_alarm, raise_order_alarm
from bot.staff.model import AlarmKind, AlarmSubjects
from bot.staff.notifications import AlarmMessages, AlarmNotification, alarm_notifications
from bot.staff.outcomes import Outcome
from bot.staff.repository import AuditRepository
from bot.support.notifications import ticket_subject
from bot.support.repository import TicketRepository
from bot.support.service import tell_ticket
from bot.users.model import User
from bot.users.readers import RenderContext
from tests.infra.builders import as_stored
from tests.orders.order_system import OSCAR, OrderSystem, rules
from tests.rendering import context_for, renderers_for
from tests.settlement.fake_settlement import FakeSettlement
from tests.texts import label, readable, says, starts, text

RINA, OLGA = 3001, 2002
SERVICE_CONTACT = "@service_help"


@dataclass
class SentMessages:
    """The messages that each chat got, as plain text."""

    texts: dict[int, list[str]] = field(default_factory=dict)
    keyboards: dict[int, list[Keyboard]] = field(default_factory=dict)
    silent: list[bool] = field(default_factory=list)

    @property
    def names(self) -> "SentMessages":
        return self

    async def find(self, _: object) -> dict[int, str]:
        """Return the names that Telegram has of staff."""
        return {OSCAR: "Oscar"}

    async def send_text(self, chat_id: int, markup: str, keyboard: Keyboard, *, silent: bool, **_: Any) -> Delivered:
        self.silent.append(silent)
        self.texts.setdefault(chat_id, []).append(readable(markup))
        self.keyboards.setdefault(chat_id, []).append(keyboard)
        return Delivered(1)

    def labels(self, chat_id: int) -> list[str]:
        return [button.label for row in self.keyboards[chat_id][-1] for button in row]


@pytest.fixture
def sent_messages(system: OrderSystem) -> SentMessages:
    """Return the messages about alarms. Oscar reads English, Olga Indonesian."""
    sent_messages = SentMessages()
    others = system.sender.send

    async def send(notification: StoredNotification) -> Any:
        renderers = alarm_renderers(sent_messages, system, notification)
        return await (renderers.send(notification) if notification.kind in renderers.kinds else others(notification))

    system.sender.send = send  # type: ignore[method-assign]
    return sent_messages


def alarm_renderers(
    sent_messages: SentMessages, system: OrderSystem, notification: StoredNotification
) -> Renderers[RenderContext]:
    """Return the renderers of alarms, in the language of the notification's reader."""
    chat_id = notification.chat_id
    reader = User(id=chat_id, created_at=notification.created_at, locale="id" if chat_id == OLGA else "en")
    context = context_for(reader, store=system.store, messenger=sent_messages, now=system.clock.now())
    messages = AlarmMessages(AlarmSubjects(load_order), SERVICE_CONTACT)
    return renderers_for(context, messages.renderers())


@pytest.fixture
def system(file: str, service: FakeSettlement) -> OrderSystem:
    return OrderSystem(file, service, rules=rules(operator_ids=frozenset({OSCAR, OLGA}), support_ids=frozenset({RINA})))


@pytest.fixture(autouse=True)
async def _close(system: OrderSystem) -> Any:
    yield
    await system.close()


async def fail_after_payment(system: OrderSystem) -> str:
    order = await system.place()
    for state in ("LN_INVOICE_PAID", "FAILED"):
        system.service.becomes("svc-1", state)
        await system.poll()
    return order.reference


async def test_the_alarm_of_an_order_that_failed_is_the_operators_and_support_has_its_ticket(
    system: OrderSystem, sent_messages: SentMessages
) -> None:
    reference = await fail_after_payment(system)
    assert reference in sent_messages.texts[OSCAR][0]
    assert says(readable(sent_messages.texts[OSCAR][0]), "staff.alarm.todo.order_failed", id="svc-1")
    assert (sent_messages.labels(OSCAR), sent_messages.labels(OLGA)) == (
        [label(f"staff.alarm.{each}") for each in ("take", "order", "seen_to")],
        [label(f"staff.alarm.{each}", "id") for each in ("take", "order", "seen_to")],
    )
    assert sent_messages.texts.get(RINA) is None
    async with system.store.reading() as tx:
        assert len(await TicketRepository(tx).of_order(reference)) == 1


async def test_the_other_operator_is_notified_which_orders_alarm_is_resolved(
    system: OrderSystem, sent_messages: SentMessages
) -> None:
    reference = await fail_after_payment(system)
    await system.monitor.resolve(AlarmKind.ORDER_FAILED, reference, by=OSCAR)
    await system.deliver()
    assert len(sent_messages.texts[OSCAR]) == 1
    assert starts(sent_messages.texts[OLGA][-1], "staff.alarm.settled_by", "id")
    assert "Oscar" in sent_messages.texts[OLGA][-1]
    assert reference in sent_messages.texts[OLGA][-1]


async def test_a_reminder_names_all_that_is_wrong_when_it_arrives(
    system: OrderSystem, sent_messages: SentMessages
) -> None:
    reference = await fail_after_payment(system)
    system.health.record_rejected_key()
    await system.deliver()
    await system.alarms.remind()
    system.clock.passes(hours=2)
    assert await system.alarms.remind()
    await system.deliver()
    assert starts(sent_messages.texts[OSCAR][-1], "staff.alarm.still")
    assert not any(sent_messages.silent), "alarms and reminders have a sound"
    assert reference in sent_messages.texts[OSCAR][-1]
    assert says(sent_messages.texts[OSCAR][-1], "staff.alarm.key_refused")
    assert sent_messages.labels(OSCAR) == [
        label("staff.alarm.take_all", count=2),
        reference,
        label("staff.alarm.seen_to_order", reference=reference),
        label("staff.alarm.status"),
    ]


async def test_alarms_say_where_the_service_is_reached(system: OrderSystem, sent_messages: SentMessages) -> None:
    await fail_after_payment(system)
    system.health.record_rejected_key()
    await system.deliver()
    await system.alarms.remind()
    system.clock.passes(hours=2)
    await system.alarms.remind()
    await system.deliver()
    for operator, locale in ((OSCAR, "en"), (OLGA, "id")):
        failed, *_, reminder = sent_messages.texts[operator]
        for shown in (failed, reminder):
            assert says(shown, "staff.alarm.service_contact", locale, contact=SERVICE_CONTACT)


async def test_a_reminder_of_alarms_that_have_ended_is_not_sent(
    system: OrderSystem, sent_messages: SentMessages
) -> None:
    reference = await fail_after_payment(system)
    await system.alarms.remind()
    system.clock.passes(hours=2)
    assert await system.alarms.remind()
    await system.monitor.resolve(AlarmKind.ORDER_FAILED, reference, by=OSCAR)
    await system.deliver()
    assert len(sent_messages.texts[OSCAR]) == 1
    async with system.store.reading() as tx:
        assert not await OutboxRepository(tx).find_heads(tuple(Queue))


async def test_a_message_that_may_have_arrived_says_so_when_it_is_sent_again(
    system: OrderSystem, sent_messages: SentMessages
) -> None:
    await fail_after_payment(system)
    (alarm,) = await system.alarms.find_open()
    (raised,) = alarm_notifications([OSCAR], AlarmNotification.RAISED, alarm, system.clock.now())
    notification = as_stored(replace(raised, maybe_sent=True))
    renderers = alarm_renderers(sent_messages, system, notification)
    outcome: DeliveryOutcome = await renderers.send(notification)
    assert isinstance(outcome, Sent)
    assert text("infra.outbox.again") in sent_messages.texts[OSCAR][-1]


async def test_what_was_handled_can_be_undone_once_and_the_others_have_the_alarm_again(
    system: OrderSystem, sent_messages: SentMessages
) -> None:
    reference = await fail_after_payment(system)
    kind = AlarmKind.ORDER_FAILED
    assert await system.monitor.reopen(kind, reference, OSCAR) is None, "it is open"
    resolved = [system.monitor.resolve(kind, reference, each, Outcome.REFUNDED) for each in (OSCAR, OLGA)]
    assert sorted(await asyncio.gather(*resolved)) == [False, True]
    await system.deliver()
    reopened = await asyncio.gather(*(system.monitor.reopen(kind, reference, OSCAR) for _ in range(2)))
    assert [each is None for each in reopened].count(False) == 1
    await system.deliver()
    assert says(sent_messages.texts[OLGA][-1], "staff.alarm.todo.order_failed", "id", id="svc-1")
    (alarm,) = await system.alarms.find_open()
    assert alarm.facts == {}
    async with system.store.reading() as tx:
        details = [each.detail for each in await AuditRepository(tx).page()]
        (ticket,) = await TicketRepository(tx).of_order(reference)
        lines = await OutboxRepository(tx).find_by_subject(ticket_subject(ticket.reference))
    assert details == ["undone", "refunded"]
    told = [each.payload["what"] for each in lines if str(each.payload.get("what")).startswith("handled_")]
    assert told == ["handled_refunded", "handled_undone"]


async def test_how_an_order_ended_is_recorded_once_whoever_says_it_first(
    system: OrderSystem, sent_messages: SentMessages
) -> None:
    reference = await fail_after_payment(system)
    tell, kind = partial(tell_ticket, system.staff_chat), AlarmKind.ORDER_FAILED
    said = (Outcome.REFUNDED, Outcome.NOT_REFUNDED, Outcome.PAID_OUT)
    agents = [system.alarms.end_order(reference, RINA, each, tell) for each in said]
    results = await asyncio.gather(
        *agents, system.monitor.resolve(kind, reference, OSCAR, Outcome.OTHER), return_exceptions=True
    )
    refused = [str(each) for each in results if isinstance(each, Rejection)]
    assert refused == ["staff.alarm.ended_already"] * 2
    recorded = (await system.order(reference)).outcome
    assert recorded in said
    assert not await system.alarms.find_open(), "the operators' alarm has ended, too"
    async with system.store.reading() as tx:
        (ticket,) = await TicketRepository(tx).of_order(reference)
        lines = await OutboxRepository(tx).find_by_subject(ticket_subject(ticket.reference))
    told = [str(each.payload["what"]) for each in lines if str(each.payload.get("what")).startswith("handled_")]
    assert [each for each in told if each != "handled_otherwise"] == [f"handled_{recorded}"]
    await system.deliver()
    assert await system.monitor.reopen(kind, reference, OSCAR) is not None
    assert (await system.order(reference)).outcome is None
    system.clock.passes(minutes=1)
    await system.alarms.end_order(reference, RINA, Outcome.PAID_OUT, tell)
    await system.deliver()
    assert text("staff.audit.word_paid_out") in sent_messages.texts[OSCAR][-1]


async def test_what_ended_by_itself_or_came_up_again_cannot_be_undone(system: OrderSystem) -> None:
    reference = await fail_after_payment(system)
    kind = AlarmKind.ORDER_FAILED
    async with system.store.transaction() as tx:
        await clear_alarm(tx, kind, reference, system.clock.now(), ())
    assert await system.monitor.reopen(kind, reference, OSCAR) is None
    assert await system.monitor.reopen(AlarmKind.STAFF_CHAT_LOST, "", OSCAR) is None
    async with system.store.transaction() as tx:
        await raise_order_alarm(tx, kind, reference, system.clock.now(), ())
    assert await system.monitor.resolve(kind, reference, OSCAR, Outcome.OTHER)
    async with system.store.transaction() as tx:
        await raise_order_alarm(tx, kind, reference, system.clock.now(), ())
    assert await system.monitor.reopen(kind, reference, OSCAR) is None


async def test_undoing_what_said_nothing_about_the_money_leaves_how_the_order_ended(system: OrderSystem) -> None:
    reference = await fail_after_payment(system)
    async with system.store.transaction() as tx:
        await raise_order_alarm(tx, AlarmKind.MESSAGE_REFUSED, reference, system.clock.now(), ())
    assert await system.monitor.resolve(AlarmKind.ORDER_FAILED, reference, OSCAR, Outcome.REFUNDED)
    assert await system.monitor.resolve(AlarmKind.MESSAGE_REFUSED, reference, OLGA, Outcome.OTHER)
    assert await system.monitor.reopen(AlarmKind.MESSAGE_REFUSED, reference, OLGA) is not None
    assert (await system.order(reference)).outcome is Outcome.REFUNDED

"""Messages about alarms are in the reader's language, and only operators get buttons."""

from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from bot.infra.feature import Feature, Features
from bot.infra.outbox.model import DeliveryOutcome, Sent, StoredNotification
from bot.infra.outbox.rendering import Renderers
from bot.infra.outbox.repository import OutboxRepository
from bot.infra.telegram.outbound.sender import Delivered
from bot.infra.telegram.ui.screen import Keyboard
from bot.orders.notification_kinds import OrderWarning
from bot.orders.notification_queue import operator_notifications
from bot.orders.notifications.warnings import ALARM_SUBJECTS, OrderWarnings
from bot.staff.alarm_model import AlarmKind
from bot.staff.alarm_subjects import AlarmSubjects
from bot.staff.notifications import AlarmMessages
from bot.support.tickets.repository import TicketRepository
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

    @property
    def names(self) -> "SentMessages":
        return self

    async def find(self, _: object) -> dict[int, str]:
        """Return the names that Telegram has of staff."""
        return {OSCAR: "Oscar"}

    async def send_text(self, chat_id: int, markup: str, keyboard: Keyboard, **_: Any) -> Delivered:
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
        renderers = alarm_renderers(sent_messages, system, frozenset({OSCAR, OLGA}), notification)
        return await (renderers.send(notification) if notification.kind in renderers.kinds else others(notification))

    system.sender.send = send  # type: ignore[method-assign]
    return sent_messages


def alarm_renderers(
    sent_messages: SentMessages, system: OrderSystem, operators: frozenset[int], notification: StoredNotification
) -> Renderers[RenderContext]:
    """Return the renderers of alarms, in the language of the notification's reader."""
    chat_id = notification.chat_id
    reader = User(id=chat_id, created_at=notification.created_at, locale="id" if chat_id == OLGA else "en")
    context = context_for(reader, store=system.store, messenger=sent_messages, now=system.clock.now())
    subjects = AlarmSubjects(Features(Feature(name="orders", alarm_subjects=ALARM_SUBJECTS)))
    messages = AlarmMessages(subjects, SERVICE_CONTACT)
    return renderers_for(context, messages.renderers(), OrderWarnings(operators, SERVICE_CONTACT).renderers())


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
        [label("staff.alarm.seen_to")],
        [label("staff.alarm.seen_to", "id")],
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
    assert reference in sent_messages.texts[OSCAR][-1]
    assert says(sent_messages.texts[OSCAR][-1], "staff.alarm.key_refused")
    assert sent_messages.labels(OSCAR) == [
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
        assert await OutboxRepository(tx).find_next_due() is None


async def test_a_message_that_may_have_arrived_says_so_when_it_is_sent_again(
    system: OrderSystem, sent_messages: SentMessages
) -> None:
    reference = await fail_after_payment(system)
    order = await system.order(reference)
    (warning,) = operator_notifications([OSCAR], OrderWarning.FAILED, order, system.clock.now())
    notification = as_stored(replace(warning, maybe_sent=True))
    renderers = alarm_renderers(sent_messages, system, frozenset({OSCAR}), notification)
    outcome: DeliveryOutcome = await renderers.send(notification)
    assert isinstance(outcome, Sent)
    assert text("infra.outbox.again") in sent_messages.texts[OSCAR][-1]

"""One method of the Bot API fails for hours, while orders are paid, fail, expire and get stuck.

Messages about money arrive in time and in order, and a repeated one says so. Every invoice that must no longer be paid
is removed, or operators get an alarm.
"""

import random
import shutil
from collections import defaultdict
from collections.abc import Callable, Coroutine
from datetime import datetime, timedelta
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from telegram import Update

from bot.core.money import Amount
from bot.infra.db.database import Database
from bot.infra.outbox.model import NotificationStatus, Queue, StoredNotification
from bot.infra.outbox.repository import OutboxRepository
from bot.infra.telegram.outbound.sender import Messenger
from bot.orders.notifications import OrderNotification
from bot.orders.order import Order
from bot.orders.repository import MissedOrderRepository, OrderRepository
from bot.orders.status_handlers import StatusMessages
from bot.staff.model import AlarmKind
from bot.staff.repository import AlarmRepository
from bot.staff.staff_chat import SupportContacts
from bot.users.model import User
from bot.users.repository import UserRepository
from tests.examples import examples
from tests.infra.builders import a_notification, an_infra
from tests.infra.keys import VAULT
from tests.orders.builders import REPORTS
from tests.orders.failing_method import METHODS, FailingBot, Failure, MethodFault
from tests.orders.faults import KillableProcess
from tests.orders.order_system import EMMA, OSCAR, SARI, rules
from tests.orders.simulation import NOTIFICATION, Bot, FakeTelegram, Message, ServiceModel, predictable_output
from tests.orders.stepped_loop import SteppedLoop
from tests.settlement.fake_settlement import BEGINNING, MovedClock
from tests.texts import text
from tests.users.builders import load_sessions

pytestmark = pytest.mark.usefixtures("sqlite_in_the_loop")

Do = Callable[[], Coroutine[Any, Any, Any]]

SENDS = {"sendMessage", "sendPhoto"}
ABOUT_PAYMENT = {*REPORTS, OrderNotification.INVOICE, OrderNotification.INVOICE_TEXT}
IN_TIME = timedelta(minutes=1)
PICTURE_FAILS = timedelta(minutes=5)
"""An invoice is sent as text when its picture has failed, and others wait for it as long."""

PAUSE = timedelta(hours=1)
LAST_RETRY = timedelta(minutes=16)
"""A message that could not be sent for hours is sent so soon after it can be."""

PRESSED = "pressed"
OUTCOMES = ("sent", "failed", "failed at once", "expired", "paid late", "stuck")
ALL_CASES = list(product(METHODS, Failure, (0.5, 6.0)))
CASES = random.Random(28).sample(ALL_CASES, min(examples(8), len(ALL_CASES)))
"""A sample. `HYPOTHESIS_EXAMPLES=420` tries all."""


class CreepingLoop(SteppedLoop):
    """A loop whose time creeps on between two moves of the clock, so that a timer that is a hair early comes due."""

    reads = 0

    def time(self) -> float:
        self.reads += 1
        return super().time() + self.reads * 1e-9


class World:
    """A bot, the service, and a Telegram of which one method fails for some hours."""

    def __init__(self, folder: Path, method: str, failure: Failure, hours: float) -> None:
        self.chance = random.Random(f"{method} {failure} {hours}")
        self.clock = MovedClock()
        self.loop = CreepingLoop(self.clock)
        self.service = ServiceModel(self.clock)
        self.telegram = FakeTelegram(self.clock)
        # Deposits are placed so long before that their invoices can't be deleted.
        self.begins = self.clock.now() + timedelta(hours=50)
        self.fault = MethodFault(method, failure, self.begins, self.begins + timedelta(hours=hours))
        messenger: Any = Messenger(FailingBot(self.clock, self.telegram, self.fault))  # type: ignore[arg-type]
        sql = Database(f"sqlite:///{folder / 'kirim.db'}", VAULT)
        self.bot = Bot(KillableProcess("bot", []), sql, self.service, self.telegram, rules(), messenger=messenger)
        self.events: list[tuple[datetime, Do]] = []
        infra = an_infra(self.bot.store, self.clock, messenger)
        self.sessions = load_sessions(infra)
        self.status_messages = StatusMessages(
            infra, self.bot.settlement, self.bot.tracker, SupportContacts(self.bot.staff_chat)
        )
        self.presses: list[Any] = []

    def run(self) -> None:
        """Let orders have all outcomes while the method fails, until all is sent or given up."""
        self._finish(self._add_users())
        self.plan(self.clock.now(), EMMA, "cbbtc", 40_000, "sent")
        self.plan(self.clock.now(), SARI, "btcb", 41_000, "failed")
        for number, outcome in enumerate(OUTCOMES):
            self.plan(self.begins - timedelta(minutes=2), EMMA + number % 2, "lightning", 50_000 + number, outcome)
        for number, outcome in enumerate(OUTCOMES[:3]):
            placed_at = self.begins + timedelta(minutes=self.chance.randint(1, 25))
            self.plan(placed_at, EMMA + number % 2, "lightning", 60_000 + number, outcome)
        self.advance(max(self.fault.ends, self.begins + timedelta(hours=3)))
        self.advance(self.clock.now() + timedelta(hours=5))

    def plan(self, at: datetime, chat_id: int, channel: str, amount: int, outcome: str) -> None:
        """Plan an order and what happens to it."""
        known: list[str] = []
        placed: list[Order] = []

        async def place() -> None:
            placed.append(await self.bot.place(chat_id, channel=channel, amount=Amount("IDR", amount)))
            known.append(placed[0].service_id or "")

        async def press() -> None:
            self.presses.append(self.loop.create_task(self.press(placed[0])))

        async def pay() -> None:
            self.service.receive_payment(known[0])

        async def complete() -> None:
            self.service.advance(known[0], 9)

        async def fail() -> None:
            self.service.fail_order(known[0])

        async def fail_at_once() -> None:
            self.service.receive_payment(known[0])
            self.service.fail_order(known[0])

        paid_at = max(at, self.begins) + timedelta(minutes=self.chance.randint(2, 30))
        late, soon = at + timedelta(minutes=self.chance.randint(75, 100)), timedelta(minutes=self.chance.randint(1, 9))
        self.events += [(at, place), (paid_at + timedelta(minutes=5), press)]
        self.events += {
            "sent": [(paid_at, pay), (paid_at + soon, complete)],
            "failed": [(paid_at, pay), (paid_at + soon, fail)],
            "failed at once": [(paid_at, fail_at_once)],
            "expired": [],
            "paid late": [(late, pay), (late + soon, complete)],
            "stuck": [(paid_at, pay), (paid_at + timedelta(minutes=50), complete)],
        }[outcome]

    async def press(self, order: Order) -> None:
        """Let the user press the button that sends the status message again."""
        subject = a_notification(subject_of(order), PRESSED, chat_id=order.user_id)
        NOTIFICATION.set((subject, self.clock.now()))
        user = {"id": order.user_id, "is_bot": False, "first_name": "Emma", "language_code": "en"}
        chat = {"id": order.user_id, "type": "private"}
        pressed = {"message_id": 9_999, "date": 1_790_000_000, "chat": chat, "text": "status"}
        query = {"id": "7", "from": user, "chat_instance": "1", "data": "status", "message": pressed}
        session = await self.sessions.load(Update.de_json({"update_id": 3, "callback_query": query}, None))
        assert session is not None
        await self.status_messages.resend_status_message(session, await self.bot.order(order.reference))

    def advance(self, until: datetime) -> None:
        """Move the clock from one event, timer or due notification to the next."""
        while self.clock.now() < until:
            now = self.clock.now()
            for event in sorted((each for each in self.events if each[0] <= now), key=lambda each: each[0]):
                self.events.remove(event)
                self._finish(event[1]())
            self._finish(self._work())
            busy = self.begins - timedelta(minutes=3) <= now <= self.begins + timedelta(hours=3)
            timers = [BEGINNING + timedelta(seconds=each.when()) for each in self.loop._scheduled]  # type: ignore[attr-defined]
            due = self.bot.delivery.next_due
            times = [until, now + timedelta(seconds=60 if busy else 3 * 3600), *timers, *(at for at, _ in self.events)]
            later = [at for at in (*times, *([due] if due else [])) if at > now]
            # A little later than the timer, because a clock of microseconds can be just before it.
            self.clock.at = min(later) + timedelta(milliseconds=1)

    async def _work(self) -> None:
        await self.bot.poller.tick()
        await self.bot.tracker.check_deadlines()

    def _finish(self, work: Coroutine[Any, Any, Any]) -> None:
        task = self.loop.create_task(work)
        self.loop.run_until_idle()
        assert task.done(), "only deliveries wait for Telegram"
        task.result()
        while self.loop.run_reading(self.bot.delivery.start_due()):
            self.loop.run_until_idle()

    async def _add_users(self) -> None:
        async with self.bot.sql.transaction() as tx:
            for each in (EMMA, SARI, OSCAR):
                await UserRepository(tx).save(User(id=each, created_at=self.clock.now(), language_code="en"))

    def close(self) -> None:
        self.loop.run_until_complete(self.bot.close())
        self.loop.close()


@pytest.mark.parametrize(("method", "failure", "hours"), CASES)
def test_money_is_told_in_time_and_every_removal_is_done_or_an_alarm(
    migrated_file: Path, tmp_path: Path, method: str, failure: Failure, hours: float
) -> None:
    shutil.copy(migrated_file, tmp_path / "kirim.db")
    with predictable_output():
        world = World(tmp_path, method, failure, hours)
        world.run()
        world.loop.run_until_complete(check(world))
        world.close()


async def check(world: World) -> None:
    async with world.bot.sql.reading() as tx:
        orders = [order for chat in (EMMA, SARI) for order in await OrderRepository(tx).of_user(chat, limit=50)]
        rows = [row for order in orders for row in await OutboxRepository(tx).find_by_subject(subject_of(order))]
        alarms = {(alarm.kind, alarm.subject) for alarm in await AlarmRepository(tx).find_open()}
        missed = {each.reference for chat in (EMMA, SARI) for each in await MissedOrderRepository(tx).of_user(chat)}
    assert len(orders) == 2 + len(OUTCOMES) + 3
    settled = {NotificationStatus.SENT, NotificationStatus.UNDELIVERABLE}
    assert {row.status for row in rows} <= settled, "a notification is tried without end"
    check_presses(world)
    to_users = [row for row in rows if row.chat_id in {EMMA, SARI}]
    check_sent_in_time(world.fault, to_users, missed)
    check_order_and_repetitions(world.telegram, to_users)
    check_removals(world, orders, rows, alarms)


def check_presses(world: World) -> None:
    """Check that each press was answered soon, unless messages or pictures fail.

    An order that can be paid is shown by its QR code again, and others by a status message.
    """
    assert [press.exception() for press in world.presses] == [None] * (2 + len(OUTCOMES) + 3)
    answers = [each for each in world.telegram.messages if each.kind == PRESSED or is_shown_again(each)]
    if world.fault.method not in SENDS:
        assert len(answers) == len(world.presses)
        assert all(each.at - each.begun_at <= IN_TIME for each in answers)


def is_shown_again(message: Message) -> bool:
    return message.kind == OrderNotification.INVOICE and bool(message.notification.mark)


def check_sent_in_time(fault: MethodFault, rows: list[StoredNotification], missed: set[str]) -> None:
    for row in rows:
        if row.queue is not Queue.URGENT:
            continue
        if row.status is NotificationStatus.UNDELIVERABLE:
            assert (fault.method, fault.failure) == ("sendMessage", Failure.REJECTION), row
            about_money = row.kind in ABOUT_PAYMENT - {OrderNotification.EXPIRED}
            assert not about_money or row.payload["reference"] in missed
            continue
        assert row.sent_at is not None
        most = PICTURE_FAILS if fault.method == "sendPhoto" else IN_TIME
        if fault.method == "sendMessage":
            most = max(fault.ends - row.created_at, timedelta()) + LAST_RETRY
        if fault.failure is Failure.LONG_PAUSE and fault.method in SENDS:  # Telegram asks the whole chat to wait
            most = max(fault.ends - row.created_at, timedelta()) + PAUSE + LAST_RETRY
        assert row.sent_at - row.created_at <= most, (row.kind, row.sent_at - row.created_at)


def check_order_and_repetitions(telegram: FakeTelegram, rows: list[StoredNotification]) -> None:
    sent: dict[int, list[Message]] = defaultdict(list)
    for message in telegram.messages:
        sent[message.notification.id].append(message)
    by_subject: dict[str, list[int]] = defaultdict(list)
    for row in rows:
        if row.id not in sent:
            continue
        first, *again = sent[row.id]
        if row.kind in ABOUT_PAYMENT:
            by_subject[row.subject].append(first.id)
        for message in again:
            assert text("infra.outbox.again") in message.sent_html, f"{row.kind} was sent twice and doesn't say so"
    for subject, numbers in by_subject.items():
        assert numbers == sorted(numbers), f"{subject} was told in another order than it happened"


def check_removals(
    world: World, orders: list[Order], rows: list[StoredNotification], alarms: set[tuple[AlarmKind, str]]
) -> None:
    now = world.clock.now()
    known = {row.message_id: row for row in rows if row.kind in {OrderNotification.INVOICE, "invoice_text"}}
    assert not any(order.awaits_payment(now) for order in orders)
    for message in world.telegram.messages:
        row = known.get(message.id)
        if row is None or message.is_deleted or message.payment_request() is None:
            continue
        assert (AlarmKind.INVOICE_NOT_REMOVED, row.payload["reference"]) in alarms, message
    removals = [
        row for row in rows if row.kind in {OrderNotification.REMOVE_INVOICE, OrderNotification.REPLACE_QR_CODE}
    ]
    given_up = {
        (AlarmKind.INVOICE_NOT_REMOVED, row.payload["reference"])
        for row in removals
        if row.status is NotificationStatus.UNDELIVERABLE and not row.mark
    }
    assert given_up == {alarm for alarm in alarms if alarm[0] is AlarmKind.INVOICE_NOT_REMOVED}
    if world.fault.ends - world.fault.begins < timedelta(hours=1):
        assert not given_up or world.fault.failure is Failure.REJECTION


def subject_of(order: Order) -> str:
    return f"order:{order.reference}"

"""Operators are notified once of a problem, reminded while it lasts, and notified of its end."""

from dataclasses import replace

import pytest

from bot.infra.db.errors import RowUnreadable
from bot.infra.outbox.model import RetryLater, Sent
from bot.orders.order import Order
from bot.settlement.errors import KeyRefused, NeverReached, NoAnswer, OutcomeUnknown, Refused
from bot.settlement.model import PayoutMethod
from bot.staff.model import AlarmKind
from bot.staff.notifications import AlarmNotification
from tests.orders.order_system import EMMA, OSCAR, OrderSystem
from tests.settlement.builders import BCA
from tests.settlement.fake_settlement import FakeSettlement, failing

UNREADABLE = PayoutMethod("014", "BANK BCA", "bank", 0, "maxAmountTransfer “50.000”")
MANY = tuple(PayoutMethod(f"{number:03}", f"BANK {number}", "bank", None) for number in range(100))


async def check_and_deliver(system: OrderSystem, *, after: float = 5) -> list[str]:
    """Wait `after` seconds, check everything, send notifications, and return what operators have got."""
    system.clock.passes(seconds=after)
    await system.monitor.check()
    await system.deliver()
    return system.sender.kinds(OSCAR)


async def probe_repeatedly(system: OrderSystem, times: int, *, every: float = 6) -> None:
    for _ in range(times):
        system.clock.passes(seconds=every)
        await system.monitor.probe()


async def open_kinds(system: OrderSystem) -> list[AlarmKind]:
    return [alarm.kind for alarm in await system.alarms.find_open()]


async def test_an_outage_that_lasts_is_reported_once_and_so_is_its_end(
    system: OrderSystem, service: FakeSettlement
) -> None:
    service.reads.extend(failing(NoAnswer, 20))
    system.clock.passes(minutes=1)
    await probe_repeatedly(system, 3)
    assert await check_and_deliver(system) == []
    await probe_repeatedly(system, 17)
    assert await check_and_deliver(system) == [AlarmNotification.RAISED]
    assert await check_and_deliver(system) == [AlarmNotification.RAISED]
    await probe_repeatedly(system, 1)
    assert await check_and_deliver(system) == [AlarmNotification.RAISED, AlarmNotification.CLEARED]
    assert await open_kinds(system) == []


async def test_one_failure_and_a_burst_of_them_are_no_outage(system: OrderSystem, service: FakeSettlement) -> None:
    service.reads.extend(failing(NoAnswer, 50))
    for _ in range(50):
        with pytest.raises(NoAnswer):
            await system.settlement.quote()
    assert await check_and_deliver(system) == []
    await system.settlement.quote()
    service.reads.append(NoAnswer())
    with pytest.raises(NoAnswer):
        await system.settlement.quote()
    assert await check_and_deliver(system, after=120) == []


async def place_orders(system: OrderSystem, *outcomes: Exception | str, every: float = 20) -> None:
    """Place an order for each outcome of its request, while the service answers all other requests."""
    for outcome in outcomes:
        system.clock.passes(seconds=every)
        system.service.places.append(outcome)
        await system.place()
        if not isinstance(outcome, KeyRefused):
            await system.settlement.quote()
        await system.deliver()


LOST = ("lost_before",)


async def test_a_service_that_creates_no_orders_is_reported_until_it_creates_one(system: OrderSystem) -> None:
    await place_orders(system, *LOST * 2)
    assert await check_and_deliver(system) == []
    await place_orders(system, *LOST * 3)
    assert await check_and_deliver(system) == [AlarmNotification.RAISED]
    (alarm,) = await system.alarms.find_open()
    assert (alarm.kind, alarm.facts["orders"]) == (AlarmKind.SERVICE_DOWN, True)
    await system.settlement.quote()
    assert await check_and_deliver(system) == [AlarmNotification.RAISED]
    await place_orders(system, "answer")
    assert await check_and_deliver(system) == [AlarmNotification.RAISED, AlarmNotification.CLEARED]


@pytest.mark.parametrize(
    ("last", "alarms"),
    [(NeverReached(), 1), (OutcomeUnknown(), 1), (Refused(), 0), ("answer", 0)],
)
async def test_a_reason_is_an_answer_and_a_request_that_never_arrived_has_none(
    system: OrderSystem, last: Exception | str, alarms: int
) -> None:
    await place_orders(system, "never_reached", *LOST, last)
    assert await check_and_deliver(system) == [AlarmNotification.RAISED] * alarms


@pytest.mark.parametrize(("left", "alarms"), [(51, 0), (50, 1), (1, 1), (0, 1)])
async def test_a_list_that_shrinks_sharply_is_an_alarm_until_it_has_grown_again(
    system: OrderSystem, service: FakeSettlement, left: int, alarms: int
) -> None:
    for methods in (MANY, MANY[:left]):
        service.methods = methods
        await system.catalogue.methods(fresh=True)
        await check_and_deliver(system)
    assert system.sender.kinds(OSCAR) == [AlarmNotification.RAISED] * alarms
    service.methods = MANY[:80]
    await system.catalogue.methods(fresh=True)
    assert await check_and_deliver(system) == [AlarmNotification.RAISED, AlarmNotification.CLEARED] * alarms


async def test_a_list_that_has_shrunk_stays_so_after_a_restart_until_an_operator_accepts_it(
    system: OrderSystem, file: str, service: FakeSettlement
) -> None:
    for methods in (MANY, MANY[:9]):
        service.methods = methods
        await system.catalogue.methods(fresh=True)
        await check_and_deliver(system)
    again = OrderSystem(file, service)
    await again.catalogue.methods(fresh=True)
    assert await check_and_deliver(again, after=3600 * 30) == []
    assert await open_kinds(again) == [AlarmKind.METHODS_SHRUNK]
    assert await again.monitor.resolve(AlarmKind.METHODS_SHRUNK, "", OSCAR)
    assert not await again.monitor.resolve(AlarmKind.METHODS_SHRUNK, "", OSCAR)
    await again.catalogue.methods(fresh=True)
    assert await check_and_deliver(again) == []
    assert await open_kinds(again) == []
    await again.close()


async def test_notifications_that_wait_too_long_are_an_alarm_until_they_are_sent(system: OrderSystem) -> None:
    system.sender.outcomes[EMMA].extend([RetryLater(40), RetryLater(40), Sent()])
    await system.place()
    await system.deliver()
    assert await check_and_deliver(system, after=50) == []
    assert await check_and_deliver(system, after=15) == [AlarmNotification.RAISED]
    (alarm,) = await system.alarms.find_open()
    assert (alarm.kind, alarm.facts["count"]) == (AlarmKind.OUTBOX_BACKLOG, 1)
    await check_and_deliver(system, after=200)
    assert await check_and_deliver(system) == [AlarmNotification.RAISED, AlarmNotification.CLEARED]


async def test_a_silent_poller_is_an_alarm_until_it_is_back(system: OrderSystem) -> None:
    await system.poll()
    for _ in range(13):
        await check_and_deliver(system)
    assert system.sender.kinds(OSCAR) == [AlarmNotification.RAISED]
    await system.poll()
    assert await check_and_deliver(system) == [AlarmNotification.RAISED, AlarmNotification.CLEARED]


async def test_a_missing_right_in_the_database_is_one_alarm_until_it_is_back(
    system: OrderSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    forbidden: list[str | None] = ["orders"]

    async def find_forbidden_table() -> str | None:
        return forbidden[-1]

    monkeypatch.setattr(system.sql, "find_forbidden_table", find_forbidden_table)
    for _ in range(2):
        assert await check_and_deliver(system) == [AlarmNotification.RAISED]
    (alarm,) = await system.alarms.find_open()
    assert (alarm.kind, alarm.facts["table"]) == (AlarmKind.RIGHT_MISSING, "orders")
    forbidden.append(None)
    assert await check_and_deliver(system) == [AlarmNotification.RAISED, AlarmNotification.CLEARED]


async def test_a_second_poller_is_one_alarm_until_it_is_gone(system: OrderSystem) -> None:
    since = [system.clock.now(), None]
    system.monitor.find_second_poller = lambda: since[0]
    for _ in range(2):
        assert await check_and_deliver(system) == [AlarmNotification.RAISED]
    (alarm,) = await system.alarms.find_open()
    assert alarm.kind is AlarmKind.SECOND_POLLER
    del since[0]
    assert await check_and_deliver(system) == [AlarmNotification.RAISED, AlarmNotification.CLEARED]


async def test_rows_that_any_process_cannot_read_are_one_alarm_until_none_reports_them(
    system: OrderSystem, other_system: OrderSystem
) -> None:
    system.sql._vault.unreadable["users 7"] = RowUnreadable()
    other_system.sql._vault.unreadable["drafts d1"] = RowUnreadable()
    for _ in range(60):
        await system.monitor.report_rows()
        await other_system.monitor.report_rows()
        await system.poll(after=0)
        assert await check_and_deliver(system) == [AlarmNotification.RAISED]
    (alarm,) = await system.alarms.find_open()
    assert (alarm.kind, alarm.facts["count"], alarm.facts["rows"]) == (
        AlarmKind.ROW_UNREADABLE,
        2,
        "drafts d1, users 7",
    )
    await system.alarms.take(OSCAR)  # so that it isn't repeated
    system.sql._vault.unreadable.clear()
    for _ in range(60):
        await other_system.monitor.report_rows()
        await system.poll(after=0)
        assert await check_and_deliver(system) == [AlarmNotification.RAISED]
    other_system.sql._vault.unreadable.clear()
    assert await check_and_deliver(system, after=115) == [AlarmNotification.RAISED]
    assert await check_and_deliver(system, after=65) == [AlarmNotification.RAISED, AlarmNotification.CLEARED]


async def test_reminders_come_later_and_later_and_name_everything_at_once(system: OrderSystem) -> None:
    system.health.record_rejected_key()
    await system.deliver()
    reminded = []
    for minutes in range(6, 60 * 30 + 1, 6):
        system.clock.passes(minutes=6)
        await system.alarms.remind()
        if (await system.alarms.find_open())[0].reminded_at == system.clock.now():
            reminded.append(minutes // 60)
        await system.alarms.take(OSCAR)
    assert reminded == [1, 2, 4, 8, 16]
    await system.deliver()
    assert system.sender.kinds(OSCAR) == [AlarmNotification.RAISED, *[AlarmNotification.REMINDER] * 5]


async def fail_after_payment(system: OrderSystem) -> Order:
    order = await system.place()
    for state in ("LN_INVOICE_PAID", "FAILED"):
        system.service.becomes("svc-1", state)
        await system.poll()
    return order


async def test_a_failed_paid_order_stays_an_alarm_until_an_operator_resolves_it(system: OrderSystem) -> None:
    order = await fail_after_payment(system)
    assert system.sender.kinds(OSCAR) == [AlarmNotification.RAISED]
    assert await open_kinds(system) == [AlarmKind.ORDER_FAILED]
    assert await system.monitor.resolve(AlarmKind.ORDER_FAILED, order.reference, by=2002)
    assert not await system.monitor.resolve(AlarmKind.ORDER_FAILED, order.reference, by=OSCAR)
    assert await check_and_deliver(system) == [AlarmNotification.RAISED, AlarmNotification.CLEARED]
    assert await open_kinds(system) == []


async def test_each_unreadable_text_of_a_destination_is_one_alarm(system: OrderSystem, service: FakeSettlement) -> None:
    async def read(*methods: PayoutMethod) -> list[object]:
        service.methods = methods
        await system.catalogue.methods(fresh=True)
        await check_and_deliver(system)
        found = [each for each in await system.alarms.find_open() if each.kind is AlarmKind.DESTINATION_UNCLEAR]
        return [alarm.facts["complaint"] for alarm in found]

    qris = PayoutMethod("qr", "QR SHOP", "qris", 0, "kind “qris”")
    nothing = PayoutMethod("002", "BANK BRI", "bank", 0)
    assert await read(BCA, nothing, nothing) == []
    assert await read(UNREADABLE, nothing, qris) == ["maxAmountTransfer “50.000”", "kind “qris”"]
    assert await read(UNREADABLE, nothing, qris) == ["maxAmountTransfer “50.000”", "kind “qris”"]
    assert system.sender.kinds(OSCAR) == [AlarmNotification.RAISED], "the second waits for the message of both"
    assert {alarm.facts["destination"] for alarm in await system.alarms.find_open()} == {"BCA", "QR SHOP"}
    system.clock.passes(minutes=2)
    other = replace(UNREADABLE, unread="maxAmountTransfer “60.000”")
    assert await read(other, nothing, qris) == ["kind “qris”", "maxAmountTransfer “60.000”"]
    kinds = system.sender.kinds(OSCAR)
    assert (kinds.count(AlarmNotification.RAISED), kinds.count(AlarmNotification.CLEARED)) == (2, 1)
    assert await read() == ["kind “qris”", "maxAmountTransfer “60.000”"]  # an empty list says nothing
    assert await read(BCA, nothing, nothing) == []

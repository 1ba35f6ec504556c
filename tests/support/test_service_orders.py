"""Support asks the service about orders of the key that our rows don't know. Each look-up is in the audit log."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bot.core.money import Amount
from bot.infra.db.database import Database
from bot.orders.order import Phase
from bot.orders.repository import OrderRepository
from bot.settlement.budget import Budget
from bot.settlement.errors import KeyRefused, NoAnswer, OrderNotFound, SettlementFailure, SlowDown
from bot.settlement.model import OrderReport, OrderRequest
from bot.staff.buttons import LookupButton, LookupPage
from bot.staff.model import AuditAction
from bot.staff.repository import AuditRepository
from bot.support.buttons import RevealAction, RevealButton
from bot.support.service_orders import MARK, ServiceOrder, ServiceOrders, find_subject, is_service_id
from tests.orders.builders import an_order
from tests.orders.order_system import EMMA
from tests.settlement.builders import BCA
from tests.settlement.fake_settlement import FakeSettlement

RINA = 3001
NUMBER = "8620123456"
SERVICE_ID = "cm7k2jt8x0000qz01abcd1234"
WANTED = OrderRequest(method=BCA, number=NUMBER, holder="SARI DEWI", amount=Amount("IDR", 250_000), channel="lightning")


@pytest.fixture
def orders_of_key(store: Database, service: FakeSettlement) -> ServiceOrders:
    return ServiceOrders(store, service, service.clock, Budget(1_000))


def reported(service: FakeSettlement, **changes: Any) -> OrderReport:
    """Let another program create an order with our key."""
    created = service.make(WANTED)
    report = replace(service.records.pop(created.service_id), **{"service_id": SERVICE_ID, **changes})
    service.records[SERVICE_ID] = report
    return report


async def keep(store: Database, **changes: Any) -> None:
    async with store.transaction() as tx:
        assert await OrderRepository(tx).add(an_order(**changes))


async def trail(store: Database) -> list[tuple[int, AuditAction, str, int]]:
    async with store.reading() as tx:
        entries = await AuditRepository(tx).page(limit=50)
    return [(each.actor_id, each.action, each.subject, each.user_id) for each in reversed(entries)]


@pytest.mark.parametrize(
    "text",
    [
        SERVICE_ID,
        "mem_8f3kq",
        "mem_" + "a1" * 12,
        "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
        "a" * 48,
    ],
)
def test_ids_of_the_service_are_recognised_and_fit_every_button(text: str) -> None:
    assert is_service_id(text)
    for page in (LookupPage.ORDER, LookupPage.EVIDENCE):
        assert LookupButton(page, f"{MARK}{text}").pack()
    for action, argument in (
        (RevealAction.ASK, ""),
        (RevealAction.FOR_REASON, "compare"),
        (RevealAction.TYPE_REASON, ""),
    ):
        assert RevealButton(f"{MARK}{text}", action, argument).pack()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "R2345AB",
        "12345678901234567890",  # could be an account number: it would be in two logs
        "+6281234567890",
        "../../../../platform/stats",
        "cm7k2jt8x0000qz01abcd/..",
        "cm7k2jt8x0000qz01abcd%2F..",
        "cm7k2jt8x0000qz01abcd?limit=1",
        "cm7k2jt8x0000qz01abcd1234\n",
        "cm7k2jt8x 0000qz01abcd1234",
        "\u0661\u0662" * 10 + "a",
        "<b>cm7k2jt8x0000qz01abcd</b>",
        "😀" * 4096,
        "a" * 49,
        "mem_",
    ],
)
def test_anything_else_is_not_asked_for(text: str) -> None:
    assert not is_service_id(text)


async def test_an_order_of_another_program_is_shown_and_written_down_before_the_service_is_asked(
    store: Database, service: FakeSettlement, orders_of_key: ServiceOrders
) -> None:
    report = reported(service)
    order = await orders_of_key.view(RINA, SERVICE_ID)
    assert order == ServiceOrder(service_id=SERVICE_ID, report=report, read_at=service.clock.now())
    assert (order.number, order.holder, order.user_id, order.has_recipient) == (NUMBER, None, 0, True)
    service.clock.passes(seconds=1)
    await orders_of_key.view(RINA, SERVICE_ID, "evidence")
    assert await trail(store) == [
        (RINA, AuditAction.LOOKED, f"service_order:{SERVICE_ID}", 0),
        (RINA, AuditAction.LOOKED, f"evidence:{SERVICE_ID}", 0),
    ]


@pytest.mark.parametrize("failure", [OrderNotFound(), SlowDown(retry_after=3), KeyRefused(), NoAnswer()])
async def test_a_look_up_that_fails_is_written_down_too(
    failure: SettlementFailure, store: Database, service: FakeSettlement, orders_of_key: ServiceOrders
) -> None:
    service.reads.append(failure)
    with pytest.raises(type(failure)):
        await orders_of_key.view(RINA, SERVICE_ID)
    assert [subject for _, _, subject, _ in await trail(store)] == [f"service_order:{SERVICE_ID}"]


async def test_nothing_is_asked_where_it_cannot_be_written_down(
    service: FakeSettlement, orders_of_key: ServiceOrders, monkeypatch: pytest.MonkeyPatch
) -> None:
    reported(service)

    async def broken(*_: Any) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("bot.staff.repository.AuditRepository.add", broken)
    service.calls.clear()
    with pytest.raises(OSError, match="disk full"):
        await orders_of_key.view(RINA, SERVICE_ID)
    assert service.calls == []


async def test_ours_is_not_asked_for_even_if_its_customer_was_deleted(
    store: Database, service: FakeSettlement, orders_of_key: ServiceOrders
) -> None:
    reported(service)
    await keep(store, service_id=SERVICE_ID, user_id=0, chat_id=0, number="", holder=None, phase=Phase.DONE)
    service.calls.clear()
    assert await orders_of_key.find_reference(SERVICE_ID) == "R2345AB"
    assert await orders_of_key.view(RINA, SERVICE_ID) is None
    assert service.calls == []
    assert await trail(store) == []
    async with store.reading() as tx:
        subject = await find_subject(tx, f"{MARK}{SERVICE_ID}")
    assert subject is not None
    assert (subject.reference, subject.has_recipient) == ("R2345AB", False)


async def test_an_order_that_becomes_ours_while_the_service_answers_is_ours(
    store: Database, service: FakeSettlement, orders_of_key: ServiceOrders, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = reported(service)

    async def adopted_meanwhile(_: str) -> OrderReport:
        await keep(store, service_id=SERVICE_ID, phase=Phase.OPEN)
        return report

    monkeypatch.setattr(service, "look_up", adopted_meanwhile)
    assert await orders_of_key.view(RINA, SERVICE_ID) is None


@pytest.mark.parametrize("phase", [Phase.UNKNOWN, Phase.UNRESOLVED, Phase.ABANDONED])
async def test_an_order_of_ours_whose_answer_was_lost_is_named(
    phase: Phase, store: Database, service: FakeSettlement, orders_of_key: ServiceOrders
) -> None:
    await keep(store, phase=phase, created_at=service.clock.now(), user_id=EMMA)
    reported(service, created_at=service.clock.now() + timedelta(minutes=2))
    order = await orders_of_key.view(RINA, SERVICE_ID)
    assert order is not None
    assert [each.reference for each in order.lost] == ["R2345AB"]
    assert (order.user_id, order.has_recipient) == (EMMA, True)


@pytest.mark.parametrize(
    "changes",
    [
        {"phase": Phase.REFUSED},
        {"number": "1112223334"},
        {"requested_amount": Amount("IDR", 260_000)},
        {"channel": "btcb"},
        {"service_id": "cm_another"},
        {"created_at": FakeSettlement.__dataclass_fields__["expiry"].default},
    ],
    ids=["not created", "other number", "other amount", "other channel", "has its id", "another time"],
)
async def test_other_orders_of_ours_are_not_named(
    changes: dict[str, Any], store: Database, service: FakeSettlement, orders_of_key: ServiceOrders
) -> None:
    earlier = {key: service.clock.now() - value for key, value in changes.items() if isinstance(value, timedelta)}
    await keep(store, **{"phase": Phase.UNKNOWN, "created_at": service.clock.now(), **changes, **earlier})
    reported(service)
    order = await orders_of_key.view(RINA, SERVICE_ID)
    assert order is not None
    assert order.lost == ()


async def test_what_may_be_of_a_deleted_customer_is_never_shown_whole(
    store: Database, service: FakeSettlement, orders_of_key: ServiceOrders
) -> None:
    now = service.clock.now()
    await keep(store, phase=Phase.ABANDONED, created_at=now, user_id=0, chat_id=0, number="", holder=None)
    reported(service)
    order = await orders_of_key.view(RINA, SERVICE_ID)
    assert order is not None
    assert order.is_of_deleted_user
    assert not order.has_recipient


async def test_a_forged_reference_names_nothing(store: Database) -> None:
    async with store.reading() as tx:
        for forged in (MARK, f"{MARK}../x", f"{MARK}R2345AB", "", "R2345AB"):
            assert await find_subject(tx, forged) is None

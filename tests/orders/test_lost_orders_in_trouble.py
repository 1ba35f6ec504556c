"""Lost orders are found while the service, its list or our database fails, without too many requests."""

import asyncio
from typing import Any

import pytest

from bot.infra.db.errors import StoreDown
from bot.orders.order import Phase
from bot.settlement.errors import KeyRefused, OutcomeUnknown, Refused, SlowDown
from bot.settlement.model import CreatedOrder
from tests.orders.order_system import EMMA, SARI, OrderSystem, place_unresolved
from tests.settlement.builders import BRI
from tests.settlement.fake_settlement import FakeSettlement
from tests.waiting import TIMEOUT_SECONDS


@pytest.mark.parametrize(("failure", "rest"), [(KeyRefused(), 30), (SlowDown(retry_after=90), 90), (SlowDown(), 30)])
async def test_a_service_that_wants_to_be_left_alone_is_left_alone(
    system: OrderSystem, service: FakeSettlement, failure: Exception, rest: int
) -> None:
    service.places.append("lost_after")
    order = await system.place()
    service.reads.append(failure)
    for _ in range(rest // 2):
        await system.find_lost_orders()
    assert service.times("newest") == 1
    await system.find_lost_orders(after=3)
    assert (await system.order(order.reference)).phase is Phase.OPEN


async def test_an_old_question_does_not_make_the_list_be_read_without_end(
    system: OrderSystem, service: FakeSettlement
) -> None:
    await place_unresolved(system, service)
    before = service.times("newest")
    for _ in range(600):
        await system.lost_orders.run_once()
        system.clock.passes(seconds=6)
    assert service.times("newest") - before < 100


async def test_one_order_that_cannot_be_settled_does_not_keep_the_others_from_being_found(
    system: OrderSystem, service: FakeSettlement, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.places.extend(["lost_after", "lost_after"])
    emma, sari = await system.place(EMMA), await system.place(SARI, method=BRI)
    record_created = system.orders.results.record_created

    async def settle_but_emmas(reference: str, created: CreatedOrder, **others: Any) -> object:
        if reference == emma.reference:
            raise StoreDown
        return await record_created(reference, created, **others)

    monkeypatch.setattr(system.orders.results, "record_created", settle_but_emmas)
    await system.find_lost_orders()
    assert (await system.order(sari.reference)).phase is Phase.OPEN
    monkeypatch.undo()
    await system.find_lost_orders()
    assert (await system.order(emma.reference)).phase is Phase.OPEN


@pytest.mark.parametrize("answer", ["answer", OutcomeUnknown(), Refused(reason="no")])
async def test_an_answer_that_could_not_be_saved_before_the_process_ended_is_looked_for(
    system: OrderSystem, service: FakeSettlement, monkeypatch: pytest.MonkeyPatch, answer: str | Exception
) -> None:
    tried = asyncio.Event()

    async def away(*_: object, **__: object) -> None:
        tried.set()
        raise StoreDown

    for name in ("record_created", "record_unknown", "record_refused"):
        monkeypatch.setattr(system.orders.results, name, away)
    service.places.append(answer)
    order = await system.confirm(await system.draft())
    async with asyncio.timeout(TIMEOUT_SECONDS):
        await tried.wait()
    await system.orders.submission.close(0)
    monkeypatch.undo()
    assert (await system.order(order.reference)).phase is Phase.INTENDED
    for _ in range(31):
        await system.find_lost_orders()
    expected = Phase.OPEN if answer == "answer" else Phase.UNRESOLVED
    assert (await system.order(order.reference)).phase is expected
    assert service.times("place") == 1

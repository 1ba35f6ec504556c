"""The recipient of an order is saved together with the order, once, and only if there is an order."""

import asyncio

import pytest

from bot.recipients.model import SavedRecipient
from bot.recipients.service import RecipientService
from bot.settlement.errors import MethodVanished
from tests.orders.order_system import EMMA, NUMBER, OrderSystem
from tests.settlement.builders import BCA, BRI, GOPAY
from tests.settlement.fake_settlement import FakeSettlement


async def known(system: OrderSystem) -> tuple[SavedRecipient, ...]:
    return await RecipientService(system.store).list_all(EMMA)


async def test_a_confirmed_order_is_remembered_with_the_holders_name(system: OrderSystem) -> None:
    await system.place(holder="SARI DEWI")
    (kept,) = await known(system)
    assert (kept.method, kept.number, kept.holder, kept.label) == (BCA, NUMBER, "SARI DEWI", None)


async def test_taps_at_the_same_moment_and_replays_remember_once(
    system: OrderSystem, other_system: OrderSystem
) -> None:
    draft = await system.draft()
    await asyncio.gather(*(each.confirm(draft) for each in (system, other_system) for _ in range(5)))
    await asyncio.gather(system.orders.submission.wait(), other_system.orders.submission.wait())
    placed = await system.drafts.get(draft.id)
    assert placed is not None
    await system.confirm(placed)
    assert len(await known(system)) == 1


async def test_what_was_not_ordered_is_not_remembered(system: OrderSystem, service: FakeSettlement) -> None:
    draft = await system.draft()
    service.methods = (BRI, GOPAY)
    with pytest.raises(MethodVanished):
        await system.confirm(draft)
    assert await known(system) == ()

"""Whom an order goes to is remembered with the order itself: once, and not where no order was made."""

import asyncio

import pytest

from bot.orders.placement.service import MethodVanished
from bot.recipients.model import SavedRecipient
from bot.recipients.service import RecipientService
from tests.orders.order_world import EMMA, NUMBER, House, unresolved
from tests.settlement.fake_settlement import BCA, BRI, GOPAY, FakeSettlement


async def known(house: House) -> tuple[SavedRecipient, ...]:
    return await RecipientService(house.store).list_all(EMMA)


async def test_a_confirmed_order_is_remembered_with_the_holders_name(house: House) -> None:
    await house.place(holder="SARI DEWI")
    (kept,) = await known(house)
    assert (kept.method, kept.number, kept.holder, kept.label) == (BCA, NUMBER, "SARI DEWI", None)


async def test_taps_at_the_same_moment_and_replays_remember_once(house: House, other_house: House) -> None:
    draft = await house.draft()
    await asyncio.gather(*(each.confirm(draft) for each in (house, other_house) for _ in range(5)))
    await asyncio.gather(house.orders.submission.wait(), other_house.orders.submission.wait())
    placed = await house.drafts.get(draft.id)
    assert placed is not None
    await house.confirm(placed)
    assert len(await known(house)) == 1


async def test_a_second_attempt_moves_the_time_and_doubles_nothing(house: House, service: FakeSettlement) -> None:
    lost = await unresolved(house, service)
    (before,) = await known(house)
    house.clock.passes(minutes=5)
    assert await house.orders.try_again(lost.reference) is not None
    await house.orders.submission.wait()
    (after,) = await known(house)
    assert after.id == before.id
    assert after.last_used_at == house.clock.now()


async def test_what_was_not_ordered_is_not_remembered(house: House, service: FakeSettlement) -> None:
    draft = await house.draft()
    service.methods = (BRI, GOPAY)
    with pytest.raises(MethodVanished):
        await house.confirm(draft)
    assert await known(house) == ()

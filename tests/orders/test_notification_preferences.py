"""The user's notification preferences apply to all notifications of their orders, and to nobody else's."""

from typing import Any

import pytest

from bot.orders.notifications import OrderNotification
from bot.users.model import User
from bot.users.repository import UserRepository
from tests.orders.order_system import EMMA, SARI, OrderSystem
from tests.settlement.builders import a_report

STEPS = (OrderNotification.CONVERTING, OrderNotification.SENDING)


async def users(system: OrderSystem, user_id: int = EMMA, **changes: Any) -> User:
    user = User(id=user_id, created_at=system.clock.now(), **changes)
    async with system.store.transaction() as tx:
        await UserRepository(tx).save(user)
    return user


async def phrase_of(system: OrderSystem, user_id: int = EMMA) -> str | None:
    async with system.store.reading() as tx:
        user = await UserRepository(tx).get(user_id)
    assert user
    return user.phrase


async def complete_order(system: OrderSystem, user_id: int = EMMA) -> list[str]:
    """Place an order, let it be paid and completed, and return the notifications of its steps."""
    order = await system.place(user_id)
    for state in ("LN_INVOICE_PAID", "LN_SWAP_PENDING", "USDT_RECEIVED", "IDR_SETTLED", "COMPLETED"):
        await system.apply_report(order.reference, a_report(service_id=order.service_id or "", state=state))
        await system.deliver()
    return [kind for kind in system.sender.kinds(user_id) if kind in STEPS]


@pytest.mark.parametrize("notices", [None, {"sent": "silent"}, {"steps": "status"}, {"steps": "loud"}])
async def test_small_steps_are_left_to_the_status_message(system: OrderSystem, notices: dict[str, str] | None) -> None:
    await users(system, notification_preferences=notices)
    assert await complete_order(system) == []


@pytest.mark.parametrize("way", ["sound", "silent"])
async def test_who_wishes_hears_of_each_small_step_once(system: OrderSystem, way: str) -> None:
    await users(system, notification_preferences={"steps": way})
    await users(system, SARI)
    assert await complete_order(system) == [*STEPS]
    assert await complete_order(system, SARI) == []


async def test_a_phrase_is_given_together_with_the_order(system: OrderSystem) -> None:
    await users(system)
    await system.confirm(await system.draft(), "kopi perahu ungu")
    assert await phrase_of(system) == "kopi perahu ungu"


async def test_a_phrase_that_was_chosen_is_never_replaced_by_ordering(system: OrderSystem) -> None:
    await users(system, phrase="hujan di bulan juni", locale="en")
    draft = await system.draft()
    await system.confirm(draft, "kopi perahu ungu")
    await system.confirm(draft, "teh sampan biru")  # a second tap
    assert await phrase_of(system) == "hujan di bulan juni"

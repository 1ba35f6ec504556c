"""The repository of missed orders, in both databases."""

from datetime import datetime

from bot.infra.db.database import Database
from bot.orders.repository import MissedOrder, MissedOrderRepository
from tests.times import NOW, SECOND
from tests.users.builders import EMMA, SARI


def missed(reference: str, at: datetime = NOW, user_id: int = EMMA) -> MissedOrder:
    return MissedOrder(user_id=user_id, reference=reference, at=at)


async def keep(store: Database, *kept: MissedOrder) -> None:
    async with store.transaction() as tx:
        for each in kept:
            await MissedOrderRepository(tx).save(each)


async def of_user(store: Database, user_id: int = EMMA) -> tuple[MissedOrder, ...]:
    async with store.reading() as tx:
        return await MissedOrderRepository(tx).of_user(user_id)


async def test_what_was_refused_again_since_it_was_shown_is_not_deleted(store: Database) -> None:
    await keep(store, missed("R1"), missed("R2"), missed("R1", NOW, SARI))
    shown = await of_user(store)
    await keep(store, missed("R2", NOW + SECOND))
    async with store.transaction() as tx:
        await MissedOrderRepository(tx).delete(shown)
    assert await of_user(store) == (missed("R2", NOW + SECOND),)
    assert await of_user(store, SARI) == (missed("R1", NOW, SARI),)

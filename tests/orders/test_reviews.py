"""Which message is the review is saved with the intent. The review says when a lost order is found."""

from bot.infra.outbox.model import NotificationStatus
from bot.infra.outbox.repository import OutboxRepository
from bot.orders.messages import order_subject
from bot.orders.notifications import OrderNotification
from bot.orders.order import Order
from tests.infra.builders import message_id_of
from tests.orders.order_system import OrderSystem
from tests.settlement.fake_settlement import FakeSettlement

REVIEW = 77


async def kinds_of(system: OrderSystem, order: Order) -> list[str]:
    async with system.store.reading() as tx:
        return [row.kind for row in await OutboxRepository(tx).find_by_subject(order_subject(order))]


async def review_of(system: OrderSystem, order: Order) -> int | None:
    async with system.store.reading() as tx:
        return await message_id_of(tx, order_subject(order), OrderNotification.REVIEW, order.user_id)


async def test_the_review_is_saved_with_the_intent_and_never_sent(system: OrderSystem) -> None:
    order = await system.place(message_id=REVIEW)
    await system.deliver()
    assert await review_of(system, order) == REVIEW
    assert system.sender.kinds() == [OrderNotification.INVOICE, OrderNotification.EDIT_REVIEW]
    async with system.store.reading() as tx:
        review, *_ = await OutboxRepository(tx).find_by_subject(order_subject(order))
    assert (review.status, review.attempts) == (NotificationStatus.SENT, 0)


async def test_a_review_is_edited_after_the_invoice_of_its_order(system: OrderSystem, service: FakeSettlement) -> None:
    service.places.append("lost_after")
    lost = await system.place(message_id=REVIEW)
    await system.find_lost_orders()
    assert await kinds_of(system, lost) == ["review", "checking", "invoice", "edit_review"]
    direct = await system.place(message_id=REVIEW, number="8720999999")
    assert await kinds_of(system, direct) == ["review", "invoice", "edit_review"]

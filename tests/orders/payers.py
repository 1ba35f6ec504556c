"""Orders of payers without a chat, and orders that were made from a link."""

from dataclasses import replace
from typing import Any

from bot.core.money import Amount
from bot.infra.db.transaction import Transaction
from bot.orders.order import Order, Payer, payer_on_page
from bot.orders.placement.service import PlaceOrder
from bot.settlement.model import OrderRequest
from tests.orders.order_system import NUMBER, OrderSystem
from tests.settlement.builders import BCA

PAGE, OTHER_PAGE = payer_on_page("a secret of 128 bits"), payer_on_page("another secret")
LINK = "5f2c0a1b9d3e4f60"
WANTED = OrderRequest(method=BCA, number=NUMBER, holder="SARI DEWI", amount=Amount("IDR", 250_000), channel="lightning")


async def place_for(
    system: OrderSystem, payer: Payer, *, origin: str | None = LINK, draft_id: str = "", **changes: Any
) -> Order:
    """Place an order from a link, and wait for the result of its request. Each has a confirmation of its own."""
    request = PlaceOrder(
        payer=payer,
        draft_id=draft_id or f"confirmation {system.service.times('place')} of {payer}",
        wanted=replace(WANTED, **changes),
        quote=await system.service.quote(),
        origin=origin,
    )
    order = await system.orders.place(request, _agree)
    await system.orders.submission.wait()
    return await system.order(order.reference)


async def _agree(_: Transaction) -> bool:
    return True

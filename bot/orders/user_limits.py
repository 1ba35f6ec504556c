"""Whether a person may order more just now: foretold before they type everything, and decided with the intent.

Only the decision is sure. It is made in the transaction that writes the intent, one person's one at a time, so that
neither two taps nor two devices come past it together.

A moved price that is accepted asks for nothing more: its order has held its place from the beginning.
"""

from datetime import datetime

from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.orders import limits
from bot.orders.order import Order
from bot.orders.repository import OrderRepository
from bot.orders.rules import Rules


async def decide(tx: Transaction, rules: Rules, wished: Order) -> None:
    """Raise `Rejection` where `wished`, which is about to be written in `tx`, is more than its person may order."""
    if rules.limits.are_none:
        return
    await OrderRepository(tx).one_at_a_time(wished.person_id)
    now = wished.created_at
    placed = await OrderRepository(tx).may_count(wished.person_id, now - limits.DAY)
    limits.check(rules.limits, placed, wished.expected_idr, now, smallest=rules.min_order_idr)


async def foresee(store: Database, rules: Rules, person_id: int, now: datetime, idr: int | None = None) -> None:
    """Raise `Rejection` where `decide` would for an order of `idr` rupiah placed now; None is the smallest there is."""
    if rules.limits.are_none:
        return
    async with store.reading() as tx:
        placed = await OrderRepository(tx).may_count(person_id, now - limits.DAY)
    limits.check(rules.limits, placed, idr or rules.min_order_idr, now, smallest=rules.min_order_idr)

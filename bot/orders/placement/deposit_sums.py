"""Give each order by deposit a sum of its own, in sats (`orders/deposits.py`).

The service converts sats to rupiah and rounds down. So a sum in rupiah is rounded up to sats, and the recipient gets at
least what the sender asked for. The review shows the sum. It is reserved in the transaction that saves the intent. It
changes only if another order has taken it since, or if it no longer brings the rupiah. If it grows by more than prices
may differ without a question, nothing is ordered and the sender sees the review again.
"""

from dataclasses import replace
from datetime import datetime

from bot.core.clock import Clock
from bot.core.errors import Rejection
from bot.core.money import MAX_SATS, Amount, AmountRejected
from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.orders.deposits import MAY_BE_PAID_FOR, choose_sum, last_sum_preferred
from bot.orders.order import Order
from bot.orders.repository import OrderRepository
from bot.orders.rules import OrderRules
from bot.rates.model import Estimate, estimate
from bot.recipients.banks import display_name
from bot.settlement.model import PayoutMethod, Quote

SUMS_READ = 1_000
"""How many sums are read at once."""


class DepositSums:
    """Find and reserve the sums of deposits."""

    def __init__(self, database: Database, clock: Clock, rules: OrderRules) -> None:
        self._database = database
        self._clock = clock
        self._rules = rules

    async def preview(self, method: PayoutMethod | None, channel: str, estimated: Estimate) -> Estimate:
        """Return what would be ordered for an amount with this estimate.

        Raises:
            Rejection: the sum would be above the destination's cap.
        """
        async with self._database.reading() as tx:
            sats = await _find_free(tx, channel, estimated.sats, self._clock.now())
        return self._check(method, sats, estimated.quote)

    async def reserve(self, tx: Transaction, intent: Order, quote: Quote) -> Order:
        """Return the intent with a sum that no other order has. It must be added in `tx`.

        Its expected amounts must be those that its sender agreed to. The agreed price stays as it is. `quote` is the
        price now.

        Raises:
            Rejection: the sum would be much larger than the agreed one, or above the destination's cap.
        """
        # All processes reserve one after the other, so that no two can find the same sum free.
        await OrderRepository(tx).lock_payment(f"sums:{intent.channel}")
        agreed = intent.expected_sats
        least = max(agreed, estimate(intent.amount, quote).sats)
        sats = await _find_free(tx, intent.channel, least, intent.created_at)
        if (sats - agreed) * 100 > agreed * self._rules.drift_percent:
            raise Rejection("orders.deposit.sum_changed")
        self._check(intent.method, sats, quote)
        return replace(
            intent,
            requested_amount=Amount("SAT", sats),
            typed_amount=intent.amount,
            expected_sats=sats,
            expected_idr=intent.expected_idr * sats // agreed,
        )

    def _check(self, method: PayoutMethod | None, sats: int, quote: Quote) -> Estimate:
        """Return what the sum brings. The typed amount was within the limits. The sum can be above the cap."""
        estimated = estimate(Amount("SAT", sats), quote)
        allowed = self._rules.amounts_for(method)
        if method is not None and allowed.is_above(estimated.idr):
            raise AmountRejected(
                "orders.amount.deposit_above_cap", idr=estimated.idr, cap=allowed.maximum, name=display_name(method)
            )
        if sats > MAX_SATS:
            raise AmountRejected("core.amount.too_large_sats", maximum=MAX_SATS)
        return estimated


async def _find_free(tx: Transaction, channel: str, least: int, now: datetime) -> int:
    used: dict[int, bool] = {}
    last = max(least + SUMS_READ, last_sum_preferred(least))
    first = least
    while True:
        used.update(await OrderRepository(tx).sums_used(channel, first, last, since=now - MAY_BE_PAID_FOR))
        found = choose_sum(least, used)
        if found <= last:
            return found
        first, last = last + 1, last + SUMS_READ

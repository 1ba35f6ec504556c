"""Place the orders of payers who have opened a link.

A payer can open a link often, or press Confirm twice. All of that is one order. It is decided in the transaction that
saves the intent, for one payer at a time. So is whether the link can still be paid.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from bot.core.money import Ambiguous, Amount, AmountRejected, parse_amount
from bot.infra.db.errors import RowUnreadable
from bot.infra.db.transaction import Transaction
from bot.infra.feature import Infra
from bot.orders.limits import DAY
from bot.orders.notifications import OrderNotification
from bot.orders.order import Order, OrderStatus, Payer
from bot.orders.placement.service import ConfirmationOutdated, OrderService, PlaceOrder
from bot.orders.repository import OrderRepository
from bot.payment_requests.model import PaymentRequest, RequestState
from bot.payment_requests.repository import PaymentRequestRepository
from bot.payments.tokens import LIGHTNING
from bot.rates.model import Estimate, price_drift_percent
from bot.settlement.model import OrderRequest

PRICED = frozenset({OrderStatus.WAITING, OrderStatus.NEEDS_CONFIRMATION})
"""The statuses of an order with a locked price. The price of the others isn't known yet."""


def read_rupiah(text: str) -> int:
    """Return the typed amount in rupiah.

    Raises:
        AmountRejected: it can't be read, has several meanings, or isn't in rupiah.
    """
    amount = parse_amount(text)
    if isinstance(amount, Ambiguous):
        raise AmountRejected("payment_requests.pay.ambiguous")
    if amount.currency != "IDR":
        raise AmountRejected("payment_requests.pay.only_rupiah")
    return amount.value


def _is_price_kept(order: Order, idr: int, sats: int, now: datetime, drift_percent: Decimal) -> bool:
    if order.status(now) not in PRICED:
        return True
    locked_sats, locked_idr = order.last_price
    drift = price_drift_percent(expected_sats=sats, expected_idr=idr, sats=locked_sats, idr=locked_idr)
    return abs(drift) <= drift_percent


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """What a payer has confirmed: the amount and the price of a review, which is confirmed once.

    `phrase` and `message_id` are as in `PlaceOrder`.
    """

    payer: Payer
    request_id: str
    idr: int
    sats: int
    review: str
    phrase: str | None = None
    message_id: int | None = None


class NotPayable(Exception):
    """The link can't be paid now, or no longer."""


class HasUnpaid(Exception):
    """The payer has an unpaid order that takes the place of this one."""

    def __init__(self, order: Order) -> None:
        super().__init__()
        self.order = order


class PayService:
    """Find the requests of links, price them, and place orders from them."""

    def __init__(self, infra: Infra, orders: OrderService, *, is_on: bool = True) -> None:
        self.is_on = is_on
        self._database = infra.database
        self._clock = infra.clock
        self._orders = orders

    @property
    def minimum(self) -> int:
        """The least that can be sent, in rupiah."""
        return self._orders.rules.min_order_idr

    async def find(self, token: str) -> PaymentRequest | None:
        """Return the request of a link, in any status, or None."""
        async with self._database.reading() as tx:
            return await PaymentRequestRepository(tx).find_by_token(token)

    async def get(self, request_id: str) -> PaymentRequest | None:
        """Return the request with this id, in any status, or None."""
        async with self._database.reading() as tx:
            return await PaymentRequestRepository(tx).get(request_id)

    async def find_all(self, tokens: Collection[str]) -> Mapping[str, PaymentRequest]:
        """Return the readable requests of these links, in any status."""
        async with self._database.reading() as tx:
            return await PaymentRequestRepository(tx).find_by_tokens(tokens)

    async def find_placed(self, request: PaymentRequest, review: str) -> Order | None:
        """Return the order that the confirmation of this review has placed, or None."""
        async with self._database.reading() as tx:
            return await OrderRepository(tx).of_draft(f"{request.id}.{review}")

    async def orders_from(self, request: PaymentRequest, payer: Payer) -> Sequence[Order]:
        """Return a payer's orders from a link, the newest first."""
        async with self._database.reading() as tx:
            return await OrderRepository(tx).of_payer_from(request.id, payer)

    async def check_browsers(self, request: PaymentRequest) -> None:
        """Raise `TooManyFromLinks` if no browser can pay this link right now. `place` decides."""
        async with self._database.reading() as tx:
            await self._orders.check_links(tx, request.id, self._clock.now(), in_browser=True)

    async def read_user_orders(self, payer: Payer) -> Sequence[Order]:
        """Return the payer's orders that may count for their limits."""
        async with self._database.reading() as tx:
            return await OrderRepository(tx).counted_by_limits(payer, self._clock.now() - DAY)

    async def estimate(self, request: PaymentRequest, idr: int, user_orders: Sequence[Order]) -> Estimate:
        """Return what `idr` rupiah from this link cost now.

        Raises:
            Rejection: the destination or the payer's limits don't allow it.
            MethodVanished: the destination is no longer in the live list.
            SettlementFailure: the service doesn't answer.
        """
        method = await self._orders.catalogue.find(request.method)
        return await self._orders.estimate_order(user_orders, method, Amount("IDR", idr), LIGHTNING)

    def find_unpaid(self, orders: Iterable[Order], request: PaymentRequest, idr: int, sats: int) -> Order | None:
        """Return the newest of a payer's orders from this link that takes the place of another one of `idr` rupiah.

        It asks for the same amount, and may still be paid, or may have been created. A locked price must be about
        `sats`, the price of the amount now.
        """
        now, drift_percent = self._clock.now(), self._orders.rules.drift_percent
        return next(
            (
                order
                for order in sorted(orders, key=lambda each: each.created_at, reverse=True)
                if order.origin == request.id
                and order.amount == Amount("IDR", idr)
                and order.blocks_another(now)
                and _is_price_kept(order, idr, sats, now, drift_percent)
            ),
            None,
        )

    async def place(self, confirmed: Confirmation) -> Order:
        """Place the order that a payer has confirmed, once, or return the unpaid one that takes its place.

        Raises:
            NotPayable: the link can't be paid.
            MethodVanished, Rejection, SettlementFailure: as `OrderService.place`. Nothing is saved.
        """
        request = await self.get(confirmed.request_id)
        if request is None:
            raise NotPayable
        idr = request.idr if request.idr is not None else confirmed.idr
        draft_id = f"{request.id}.{confirmed.review}"

        async def confirm(tx: Transaction) -> bool:
            if await OrderRepository(tx).of_draft(draft_id) is not None:
                return False
            now = self._clock.now()
            if await self._orders.rules.check_link(tx, request.id, now) is not None:
                raise NotPayable
            if not confirmed.payer.has_chat and not await PaymentRequestRepository(tx).is_in_browsers(request.id):
                raise NotPayable
            await PaymentRequestRepository(tx).record_use(request.id, now)
            await OrderRepository(tx).lock_payer(confirmed.payer)
            counted = await OrderRepository(tx).counted_by_limits(confirmed.payer, now - DAY)
            unpaid = self.find_unpaid(counted, request, idr, confirmed.sats)
            if unpaid is not None:
                raise HasUnpaid(unpaid)
            return True

        wanted = OrderRequest(
            method=request.method,
            number=request.number,
            holder=request.holder,
            amount=Amount("IDR", idr),
            channel=LIGHTNING,
        )
        try:
            order = await self._orders.place(
                PlaceOrder(
                    payer=confirmed.payer,
                    draft_id=draft_id,
                    wanted=wanted,
                    quote=await self._orders.catalogue.quote(),
                    reviewed_sats=confirmed.sats,
                    phrase=confirmed.phrase,
                    message_id=confirmed.message_id,
                    origin=request.id,
                ),
                confirm,
            )
        except HasUnpaid as found:
            return found.order
        except ConfirmationOutdated:
            raise NotPayable from None
        if order.payer != confirmed.payer:
            raise NotPayable
        return order


async def check_link(tx: Transaction, origin: str | None, now: datetime, *, is_on: bool) -> OrderNotification | None:
    """Lock a link, and return why no order of it may be made or shown now: orders ask it (`CheckLink`).

    `is_on` says whether users can ask and pay.
    """
    if origin is None:
        return None
    try:
        request = await PaymentRequestRepository(tx).lock(origin)
    except RowUnreadable:
        return OrderNotification.LINK_PAUSED  # it is recorded for the monitor
    state = RequestState.CLOSED if request is None else request.state_at(now)
    if state is RequestState.OPEN:
        return None if is_on else OrderNotification.LINK_PAUSED
    return OrderNotification(f"link_{state}")

"""Place an order exactly once: the intent is committed, the service is asked once, and its answer is saved.

Wherever a crash interrupts, the row says what is known. `orders/placement/reconciler.py` looks for an intent without
an answer, and only the user can decide that it is tried again.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from bot.core.clock import Clock
from bot.core.money import Amount
from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.infra.outbox.repository import OutboxRepository
from bot.orders import user_limits as limits
from bot.orders.deposits import list_counts
from bot.orders.notifications.kinds import OrderNotification
from bot.orders.notifications.queueing import order_notifications
from bot.orders.order import EventNote, Order, Phase, new_page_token, new_reference, opened
from bot.orders.placement.invoice_check import InvoiceCheck, payment_notifications, withhold
from bot.orders.placement.matching import Seen, read_list
from bot.orders.placement.results import ResultRecorder, is_like_anothers, is_superseded
from bot.orders.placement.submission import OrderSubmission
from bot.orders.repository import OrderRepository
from bot.orders.rules import Rules
from bot.orders.tracking.intervals import next_poll_at
from bot.rates.quote import Estimate, estimate
from bot.recipients.model import Recipient
from bot.recipients.service import remember
from bot.settlement.catalogue import Market
from bot.settlement.model import PayoutMethod, Quote, ServiceDown, Settlement, SettlementFailure
from bot.users.repository import UserRepository

__all__ = ["ConfirmationOutdated", "MethodVanished", "OrderService", "PlaceOrder", "Rules"]


class MethodVanished(Exception):
    """The destination is no longer in the live list."""


class ConfirmationOutdated(Exception):
    """What was confirmed has changed, or was confirmed before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceOrder:
    """What a user has confirmed. `draft_id` names the confirmation: it places one order, however often it is repeated.

    `amount` and `quote` are those of the review. `phrase` becomes the user's if they have none, because their first
    invoice shows one.
    """

    person_id: int
    chat_id: int
    draft_id: str
    method: PayoutMethod
    number: str = field(repr=False)
    holder: str | None = field(repr=False)
    amount: Amount
    channel: str
    quote: Quote
    phrase: str | None = field(default=None, repr=False)


Confirm = Callable[[Transaction], Awaitable[bool]]
"""Saves that the confirmation was used, in the transaction that saves the intent. It returns False to reject it."""


class OrderService:
    """Place orders, and decide what users are asked about. `on_notification` is called after each one added."""

    def __init__(
        self,
        *,
        store: Database,
        settlement: Settlement,
        market: Market,
        clock: Clock,
        rules: Rules,
        on_notification: Callable[[], None] = lambda: None,
    ) -> None:
        self.store = store
        self.market = market
        self.clock = clock
        self.rules = rules
        self.on_notification = on_notification
        self.results = ResultRecorder(store, clock, rules, on_notification)
        self.submission = OrderSubmission(settlement, self.results, clock)
        self._settlement = settlement

    async def estimate_order(self, person_id: int, method: PayoutMethod | None, amount: Amount) -> Estimate:
        """Return what `amount` comes to at the current quote.

        Raises:
            Rejection: the rules, the destination or the user's own limits don't allow it.
            SettlementFailure: there is no quote.
        """
        worth = estimate(amount, await self.market.quote())
        self.rules.check_limits(method, worth)
        await limits.foresee(self.store, self.rules, person_id, self.clock.now(), worth.idr)
        return worth

    async def check_person(self, person_id: int) -> None:
        """Raise `Rejection` if this user can order nothing right now."""
        await limits.foresee(self.store, self.rules, person_id, self.clock.now())

    async def place(self, request: PlaceOrder, confirm: Confirm) -> Order:
        """Place an order, once. Return it, or the order that was placed before where `confirm` rejects the request.

        `confirm` is called in the transaction that saves the intent, before that.

        Raises:
            MethodVanished: the destination is no longer in the live list.
            ConfirmationOutdated: `confirm` has rejected the request, and it has no order.
            Rejection: the rules or the user's limits don't allow it.
            SettlementFailure: the live list can't be read.
            Nothing is saved then.
        """
        current = await self._listed(request.method)
        self.rules.check_limits(current, estimate(request.amount, request.quote))
        order = self._intent(replace(request, method=current))
        async with self.store.transaction() as tx:
            is_confirmed = await confirm(tx)
            if is_confirmed:
                await self._add_intent(tx, order)
                await _give_phrase(tx, order.person_id, request.phrase)
        if not is_confirmed:
            return await self.placed_before(request.draft_id)
        self.submission.submit(order)
        return order

    async def placed_before(self, draft_id: str) -> Order:
        """Return the latest order of this draft.

        Raises:
            ConfirmationOutdated: there is none.
        """
        async with self.store.reading() as tx:
            order = await OrderRepository(tx).of_draft(draft_id)
        if order is None:
            raise ConfirmationOutdated
        return order

    async def try_again(self, reference: str) -> Order | None:
        """A new attempt at an order that was not found in time: only ever the person's decision.

        The old intent's invoice is never shown from here on. None where the order has been found meanwhile, or
        the decision has been taken before.

        Raises `MethodVanished`, `Rejection` and `SettlementFailure` as `place` does; nothing is decided then.
        """
        async with self.store.reading() as tx:
            lost = await OrderRepository(tx).get(reference)
        if lost is None or lost.phase is not Phase.UNRESOLVED:
            return None
        method = await self._listed(lost.method)
        self.rules.check_amount(method, idr=lost.expected_idr, sats=lost.expected_sats)
        async with self.store.transaction() as tx:
            lost = await OrderRepository(tx).get(reference)
            if lost is None or lost.phase is not Phase.UNRESOLVED:
                return None
            given_up = await OrderRepository(tx).save(replace(lost, phase=Phase.ABANDONED))
            if given_up is None:
                return None
            await OrderRepository(tx).record_event(given_up, self.clock.now(), EventNote.TRIED_AGAIN)
            again = replace(
                lost,
                reference=new_reference(),
                attempt=lost.attempt + 1,
                method=method,
                phase=Phase.INTENDED,
                created_at=self.clock.now(),
                last_polled_at=None,
                page_token=new_page_token(),
                version=0,
            )
            await self._add_intent(tx, again)
        self.submission.submit(again)
        return again

    async def drop(self, reference: str) -> bool:
        """The person no longer wants an order that nothing has been shown of; whether that was so."""
        async with self.store.transaction() as tx:
            order = await OrderRepository(tx).get(reference)
            if order is None or order.phase not in {Phase.UNRESOLVED, Phase.NEEDS_CONFIRMATION}:
                return False
            saved = await OrderRepository(tx).save(replace(order, phase=Phase.ABANDONED))
            if saved:
                await OrderRepository(tx).record_event(saved, self.clock.now(), EventNote.DROPPED)
            return saved is not None

    async def accept_price(self, reference: str) -> Order | None:
        """Show the invoice of an order that its sender was asked about; None where there's nothing to accept any more.

        A cap or a minimum that has changed since counts, and so does the same order created again since, or another
        program's open deposit of the same sum. Such an order is returned in phase ABANDONED, and its sender gets a
        message that says why.

        Raises `SettlementFailure` where the list of orders can't be read; the question stays open then.
        """
        async with self.store.reading() as tx:
            asked = await OrderRepository(tx).get(reference)
        if asked is None or asked.phase is not Phase.NEEDS_CONFIRMATION or asked.offer_is_over(self.clock.now()):
            return None
        seen = await self._list_around(asked)
        listed = await self._by_pair()
        now = self.clock.now()
        async with self.store.transaction() as tx:
            held = await OrderRepository(tx).get(reference)
            if held is None or held.phase is not Phase.NEEDS_CONFIRMATION or held.offer_is_over(now):
                return None
            if await is_superseded(tx, held):
                check = withhold(held, OrderNotification.SUPERSEDED, note=EventNote.SUPERSEDED)
            elif await is_like_anothers(tx, held, seen, now):
                check = withhold(held, OrderNotification.DEPOSIT_TAKEN, note=EventNote.DEPOSIT_TAKEN)
            else:
                check = self._accepted(replace(held, method=listed.get(held.method.pair, held.method)), now)
            look = next_poll_at(check.order, now, self.rules.poll_interval)
            saved = await OrderRepository(tx).save(replace(check.order, next_poll_at=look))
            if saved:
                await OrderRepository(tx).record_event(saved, now, check.note)
                await OutboxRepository(tx).add(order_notifications(saved, check.notifications, now))
        self.on_notification()
        return saved

    async def _list_around(self, held: Order) -> Seen | None:
        """The list that a deposit is compared with; None for an invoice. Raises `SettlementFailure`."""
        if held.deposit is None or held.service_id is None:
            return None
        seen = await read_list(self._settlement, self.clock)
        if not list_counts(seen.reports, held.service_id, is_new=False):
            raise ServiceDown
        return seen

    def _accepted(self, held: Order, now: datetime) -> InvoiceCheck:
        if not self.rules.amounts_for(held.method).allow(held.idr or 0):
            return withhold(held, OrderNotification.OUTSIDE_LIMITS, note=EventNote.OUTSIDE_LIMITS)
        payable_now = opened(held, now)
        return InvoiceCheck(payable_now, payment_notifications(payable_now), note=EventNote.PRICE_ACCEPTED)

    async def _listed(self, method: PayoutMethod) -> PayoutMethod:
        """Return the destination as the live list has it now. Raises `MethodVanished` and `SettlementFailure`."""
        methods = await self.market.methods(fresh=True)
        current = next((each for each in methods if each.pair == method.pair), None)
        if current is None:
            raise MethodVanished
        return current

    async def _by_pair(self) -> Mapping[tuple[str, str], PayoutMethod]:
        """The live list; empty where it can't be had, and then what an order itself knows of its cap has to do."""
        try:
            return {method.pair: method for method in await self.market.methods()}
        except SettlementFailure:
            return {}

    def _intent(self, request: PlaceOrder) -> Order:
        worth = estimate(request.amount, request.quote)
        return Order(
            reference=new_reference(),
            person_id=request.person_id,
            chat_id=request.chat_id,
            draft_id=request.draft_id,
            attempt=1,
            method=request.method,
            number=request.number,
            holder=request.holder,
            requested_amount=request.amount,
            channel=request.channel,
            expected_sats=worth.sats,
            expected_idr=worth.idr,
            phase=Phase.INTENDED,
            created_at=self.clock.now(),
            page_token=new_page_token(),
        )

    async def _add_intent(self, tx: Transaction, order: Order) -> None:
        await limits.decide(tx, self.rules, order)
        if not await OrderRepository(tx).add(order):
            raise ConfirmationOutdated
        if order.has_recipient:
            recipient = Recipient(order.method, order.number, order.holder)
            await remember(tx, order.person_id, recipient, order.created_at)
        await OrderRepository(tx).record_event(order, order.created_at, EventNote.INTENDED)


async def _give_phrase(tx: Transaction, person_id: int, phrase: str | None) -> None:
    person = await UserRepository(tx).get(person_id) if phrase else None
    if person is not None and person.phrase is None:
        await UserRepository(tx).save(replace(person, phrase=phrase, suggestion=None))

"""Place an order exactly once: save the intent, send one request to the service, and save its answer.

After a crash at any point, the row has what is known. If an intent has no answer, `orders/placement/lost_orders.py`
looks for its order. Only the user can decide to try again.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from bot.core.errors import Rejection
from bot.core.money import Amount
from bot.infra.db.transaction import Transaction
from bot.infra.feature import Infra
from bot.infra.outbox.model import Queue
from bot.infra.outbox.repository import OutboxRepository
from bot.orders import limits
from bot.orders.deposits import is_list_conclusive, is_settled
from bot.orders.messages import order_notifications, review_notifications
from bot.orders.notifications import OrderNotification
from bot.orders.order import EventNote, Order, Payer, Phase, make_payable, new_intent, new_page_token, new_reference
from bot.orders.placement.deposit_sums import DepositSums
from bot.orders.placement.invoice_check import InvoiceCheck, payment_notifications, withhold
from bot.orders.placement.matching import OrderListing, read_list, read_rivals
from bot.orders.placement.results import ResultRecorder, has_rivals, is_superseded
from bot.orders.placement.submission import OrderSubmission
from bot.orders.repository import LinkQuery, OrderRepository, TrackedOrder
from bot.orders.rules import OrderRules
from bot.orders.tracking.tracker import OrderListener, ReportRecorder
from bot.payments.tokens import LIGHTNING
from bot.rates.model import Estimate, estimate
from bot.recipients.model import Recipient
from bot.recipients.service import save_recipient
from bot.settlement.access import SettlementAccess
from bot.settlement.errors import NotUnderstood, SettlementFailure, SlowDown
from bot.settlement.model import OrderReport, OrderRequest, PayoutMethod, Quote
from bot.users.repository import UserRepository

__all__ = ["ConfirmationOutdated", "OrderRules", "OrderService", "PlaceOrder"]


class ConfirmationOutdated(Exception):
    """The draft has changed since, or was confirmed before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceOrder:
    """A confirmed request for an order. A draft places one order, even if its confirmation is repeated.

    The amount in `wanted` and `quote` are those of the review. `reviewed_sats` is the sum in sats as the review showed
    it, of a deposit, or if `quote` is newer. `phrase` becomes the user's phrase if they have none, because every
    invoice shows one. `message_id` is the message with the review, in which the outcome is shown. `origin` is the link
    that was opened, if any.
    """

    payer: Payer
    draft_id: str
    wanted: OrderRequest
    quote: Quote
    reviewed_sats: int | None = None
    phrase: str | None = field(default=None, repr=False)
    message_id: int | None = None
    origin: str | None = None


Confirm = Callable[[Transaction], Awaitable[bool]]
"""Saves, in the transaction of the intent, that the confirmation was used. It returns False to reject it."""


class OrderService:
    """Place orders, and apply the users' answers about them."""

    def __init__(
        self, infra: Infra, access: SettlementAccess, rules: OrderRules, listeners: Sequence[OrderListener] = ()
    ) -> None:
        self.catalogue = access.catalogue
        self.rules = rules
        self.results = ResultRecorder(infra, rules)
        self.reports = ReportRecorder(rules, listeners)
        self.submission = OrderSubmission(access.settlement, self.results, infra.clock, rules)
        self._database = infra.database
        self._clock = infra.clock
        self._settlement = access.settlement
        self._sums = DepositSums(infra.database, infra.clock, rules)

    async def estimate_order(
        self, user_orders: Sequence[Order], method: PayoutMethod | None, amount: Amount, channel: str = LIGHTNING
    ) -> Estimate:
        """Return the sats and rupiah of `amount` at the current quote. For a deposit, they are those of its free sum.

        `user_orders` are the user's orders that may count for their limits.

        Raises:
            Rejection: the rules, the destination or the user's own limits don't allow it.
            SettlementFailure: there is no quote.
        """
        estimated = await self._estimate(method, amount, channel, await self.catalogue.quote())
        self._check_limits(user_orders, estimated.idr)
        return estimated

    async def estimate_choices(
        self,
        user_orders: Sequence[Order],
        method: PayoutMethod | None,
        amounts: Iterable[Amount],
        channel: str = LIGHTNING,
    ) -> dict[Amount, Estimate]:
        """Return what each of `amounts` comes to, as `estimate_order` does. Amounts that aren't allowed are left out.

        A limit that only time can lift leaves none out.

        Raises:
            SettlementFailure: there is no quote.
        """
        quote = await self.catalogue.quote()
        estimates = dict[Amount, Estimate]()
        for amount in amounts:
            try:
                estimated = await self._estimate(method, amount, channel, quote)
            except Rejection:
                continue
            try:
                self._check_limits(user_orders, estimated.idr)
            except limits.TooManyOrders:
                pass
            except Rejection:
                continue
            estimates[amount] = estimated
        return estimates

    def check_user(self, user_orders: Sequence[Order]) -> None:
        """Raise `Rejection` if a user with these orders can't place any order right now."""
        self._check_limits(user_orders, self.rules.min_order_idr)

    async def place(self, request: PlaceOrder, confirm: Confirm) -> Order:
        """Place an order once, and return it. If `confirm` rejects the request, return the order placed before.

        `confirm` is called in the transaction that saves the intent, before the intent is saved.

        Raises:
            MethodVanished: the destination is no longer in the live list.
            ConfirmationOutdated: `confirm` has rejected the request, and there is no order.
            Rejection: the rules or the user's limits don't allow it.
            SettlementFailure: the live list can't be read.
            In each case nothing is saved.
        """
        current = await self.catalogue.find(request.wanted.method, fresh=True)
        estimated = estimate(request.wanted.amount, request.quote)
        agreed = max(estimated.sats, request.reviewed_sats or 0)
        self.rules.check_amount(current, idr=estimated.idr, sats=agreed)
        quote = None
        if request.wanted.channel == LIGHTNING:
            estimated = replace(estimated, sats=request.reviewed_sats or estimated.sats)
        else:
            quote = await self.catalogue.quote(fresh=True)
            estimated = estimate(Amount("SAT", agreed), request.quote)
        order = new_intent(
            replace(request.wanted, method=current),
            estimated,
            payer=request.payer,
            draft_id=request.draft_id,
            now=self._clock.now(),
            origin=request.origin,
        )
        async with self._database.transaction() as tx:
            is_confirmed = await confirm(tx)
            if is_confirmed:
                order = await self._add_intent(tx, order, quote, request.message_id)
                await _save_phrase(tx, order.payer, request.phrase)
        if not is_confirmed:
            return await self.get_of_draft(request.draft_id)
        self.submission.submit(order)
        return order

    async def get_of_draft(self, draft_id: str) -> Order:
        """Return the latest order of this draft.

        Raises:
            ConfirmationOutdated: there is none.
        """
        async with self._database.reading() as tx:
            order = await OrderRepository(tx).of_draft(draft_id)
        if order is None:
            raise ConfirmationOutdated
        return order

    async def try_again(self, reference: str, message_id: int | None = None) -> Order | None:
        """Place a lost order again because its user asked for it in this message, and return the new order.

        The invoice of the old intent is never shown after that. Return None if the old order was found meanwhile, or
        its user has already answered. If its link can't be paid now, the old order ends, and is returned.

        Raises `MethodVanished`, `Rejection` and `SettlementFailure` as `place` does. Then the question stays open.
        """
        async with self._database.reading() as tx:
            lost = await OrderRepository(tx).get(reference)
        if lost is None or lost.phase is not Phase.UNRESOLVED:
            return None
        method = await self.catalogue.find(lost.method, fresh=True)
        self.rules.check_amount(method, idr=lost.expected_idr, sats=lost.expected_sats)
        quote = None if lost.channel == LIGHTNING else await self.catalogue.quote(fresh=True)
        async with self._database.transaction() as tx:
            lost = await OrderRepository(tx).get(reference)
            if lost is None or lost.phase is not Phase.UNRESOLVED:
                return None
            now = self._clock.now()
            if link_outcome := await self.rules.check_link(tx, lost.origin, now):
                check = withhold(lost, link_outcome, note=EventNote.LINK_OVER)
                return await self.results.save_check(tx, check, now)
            abandoned = replace(lost, phase=Phase.ABANDONED)
            if not await OrderRepository(tx).save_with_event(abandoned, now, EventNote.TRIED_AGAIN):
                return None
            new_attempt = replace(
                lost,
                reference=new_reference(),
                attempt=lost.attempt + 1,
                method=method,
                phase=Phase.INTENDED,
                created_at=now,
                last_polled_at=None,
                page_token=new_page_token(),
                version=0,
            )
            new_attempt = await self._add_intent(tx, new_attempt, quote, message_id)
        self.submission.submit(new_attempt)
        return new_attempt

    async def drop(self, reference: str) -> bool:
        """Abandon an order that its user no longer wants. Return False if it no longer waits for an answer."""
        async with self._database.transaction() as tx:
            order = await OrderRepository(tx).get(reference)
            if order is None or order.phase not in {Phase.UNRESOLVED, Phase.NEEDS_CONFIRMATION}:
                return False
            abandoned = replace(order, phase=Phase.ABANDONED)
            return bool(await OrderRepository(tx).save_with_event(abandoned, self._clock.now(), EventNote.DROPPED))

    async def drop_unpaid(self, reference: str) -> Order | None:
        """Remove the invoice of an unpaid order that its user no longer wants, and return the order.

        The service can't withdraw it. So the order is followed as before, and counts as long as before. If its invoice
        was removed earlier, it stays as it is. Return None if it can't be paid, or another transaction has changed it.
        """
        now = self._clock.now()
        async with self._database.transaction() as tx:
            order = await OrderRepository(tx).get(reference)
            if order is not None and order.awaits_payment(now):
                return await remove_invoice(tx, order, now, EventNote.DROPPED)
        is_removed = order is not None and order.phase is Phase.OPEN and limits.can_still_be_paid(order, now)
        return order if is_removed else None

    async def accept(self, reference: str) -> Order | None:
        """Show the invoice of an order that its user has accepted. Return None if it is too late to accept.

        The service is asked first whether the order can still be paid. If it has failed or was paid, its user is
        notified of that, and no invoice is shown. The order is abandoned if the cap or the minimum has changed, if its
        link can't be paid now, if its user has placed the same order again, or if another open deposit has the same
        sum. The user is notified of the reason.

        Raises `SettlementFailure` if the order or the list of orders can't be read. Then the question stays open.
        """
        async with self._database.reading() as tx:
            asked = await OrderRepository(tx).get(reference)
        if asked is None or asked.phase is not Phase.NEEDS_CONFIRMATION or asked.is_offer_over(self._clock.now()):
            return None
        asked_at = self._clock.now()
        listing = await self._read_list_with(asked)
        report = await self._read_report(asked, listing)
        methods = await self._methods_by_pair()
        now = self._clock.now()
        async with self._database.transaction() as tx:
            order = await OrderRepository(tx).get(reference)
            if order is None or order.phase is not Phase.NEEDS_CONFIRMATION or order.is_offer_over(now):
                return None
            link_outcome = await self.rules.check_link(tx, order.origin, now)
            if is_settled(report):
                return await self._record_settled(tx, order, report, now, asked_at)
            if link_outcome:
                check = withhold(order, link_outcome, note=EventNote.LINK_OVER)
            elif await is_superseded(tx, order):
                check = withhold(order, OrderNotification.SUPERSEDED, note=EventNote.SUPERSEDED)
            elif await has_rivals(tx, order, listing, now):
                check = withhold(order, OrderNotification.DEPOSIT_TAKEN, note=EventNote.DEPOSIT_TAKEN)
            else:
                check = self._check_accepted(replace(order, method=methods.get(order.method.pair, order.method)), now)
            return await self.results.save_check(tx, check, now)

    async def _read_list_with(self, order: Order) -> OrderListing | None:
        """Return the list to compare a deposit with, or None for an invoice. Raises `SettlementFailure`."""
        if order.deposit is None or order.service_id is None:
            return None
        rivals = await self.results.find_rivals(order, order.sats or 0)
        listing = await read_list(self._settlement, self._clock)
        if not is_list_conclusive(listing.reports, order.service_id, is_new=False):
            raise NotUnderstood("the list lacks the order")
        return await read_rivals(self._settlement, listing, rivals)

    async def _read_report(self, order: Order, listing: OrderListing | None) -> OrderReport:
        """Return the service's record of the order, from the list if that has it. Raises `SettlementFailure`."""
        service_id = order.service_id or ""
        report = listing.find(service_id) if listing is not None else None
        if report is None:
            try:
                report = await self._settlement.look_up(service_id)
            except SlowDown:
                # The search that found the order read it a moment ago, and the service allows one read of an order a
                # second (settlement API, 8). The list has no such limit.
                report = (await read_list(self._settlement, self._clock)).find(service_id)
        if report is None:
            raise NotUnderstood("the list lacks the order")
        return report

    async def _record_settled(
        self, tx: Transaction, order: Order, report: OrderReport, now: datetime, asked_at: datetime
    ) -> Order | None:
        """Save an accepted order that has failed or was paid already. It is followed from now on, and never shown."""
        accepted = replace(order, phase=Phase.OPEN, hold_reason=None)
        saved = await OrderRepository(tx).save_with_event(accepted, now, EventNote.PRICE_ACCEPTED)
        if saved is None:
            return None
        whole = TrackedOrder(saved, is_whole=True)
        return await self.reports.record(tx, whole, report, now, asked_at=asked_at, is_new=True)

    def _check_accepted(self, order: Order, now: datetime) -> InvoiceCheck:
        if not self.rules.amounts_for(order.method).allow(order.idr or 0):
            return withhold(order, OrderNotification.OUTSIDE_LIMITS, note=EventNote.OUTSIDE_LIMITS)
        payable_order = make_payable(order, now)
        return InvoiceCheck(payable_order, payment_notifications(payable_order), note=EventNote.PRICE_ACCEPTED)

    async def _methods_by_pair(self) -> Mapping[tuple[str, str], PayoutMethod]:
        """Return the live list, or an empty one if it can't be read. Then the cap stored with the order applies."""
        try:
            return {method.pair: method for method in await self.catalogue.methods()}
        except SettlementFailure:
            return {}

    async def _estimate(self, method: PayoutMethod | None, amount: Amount, channel: str, quote: Quote) -> Estimate:
        """Return what `amount` comes to at `quote`. Every price that a user sees before an order is from here.

        Raises:
            Rejection: the rules or the destination don't allow it.
        """
        estimated = estimate(amount, quote)
        self.rules.check_amount(method, idr=estimated.idr, sats=estimated.sats)
        return estimated if channel == LIGHTNING else await self._sums.preview(method, channel, estimated)

    def _check_limits(self, user_orders: Sequence[Order], idr: int) -> None:
        """Raise `Rejection` if an order of `idr` rupiah is above the user's limits now.

        This warns the user before they type everything. `_enforce_payer_limits` decides.
        """
        if not self.rules.limits.is_unlimited:
            limits.check(self.rules.limits, user_orders, idr, self._clock.now(), smallest=self.rules.min_order_idr)

    async def _enforce_payer_limits(self, tx: Transaction, intent: Order) -> None:
        """Raise `Rejection` if an intent that is being added in `tx` is above its payer's limits.

        One intent of a payer is added at a time, so that two devices can't exceed the limits together. When a payer
        accepts a changed price, nothing is checked, because the order has counted since it was placed.
        """
        if self.rules.limits.is_unlimited:
            return
        await OrderRepository(tx).lock_payer(intent.payer)
        now = intent.created_at
        user_orders = await OrderRepository(tx).counted_by_limits(intent.payer, now - limits.DAY)
        limits.check(self.rules.limits, user_orders, intent.expected_idr, now, smallest=self.rules.min_order_idr)

    async def _enforce_link_limits(self, tx: Transaction, intent: Order) -> None:
        """Raise `Rejection` if links have just created too many orders. One intent from a link is added at a time."""
        if intent.origin is None or self.rules.link_limits.is_unlimited:
            return
        await OrderRepository(tx).lock_links()
        await self.check_links(tx, intent.origin, intent.created_at, in_browser=not intent.payer.has_chat)

    async def check_links(self, tx: Transaction, origin: str, now: datetime, *, in_browser: bool) -> None:
        """Raise `TooManyFromLinks` if links have just created too many orders, or browsers their part of them."""
        repository, rules = OrderRepository(tx), self.rules.link_limits
        limits.check_links(rules, await repository.count_from_links(now - limits.LINK_SPAN), origin)
        if in_browser:
            created = await repository.count_from_links(now - limits.LINK_SPAN, by_browsers=True)
            limits.check_links(rules.of_browsers, created, origin)
            if await repository.count_unpaid_of_browsers(origin, now - limits.YOUNG) >= limits.MAX_YOUNG:
                raise limits.TooManyFromLinks("orders.limits.links")

    async def _add_intent(self, tx: Transaction, order: Order, quote: Quote | None, message_id: int | None) -> Order:
        """Save the intent, with the time until which this process may ask the service for it, and its review.

        A deposit also gets its sum, with the `quote` of now. An invoice needs none.
        """
        if quote is not None:
            order = await self._sums.reserve(tx, order, quote)
        await self._enforce_payer_limits(tx, order)
        await self._enforce_link_limits(tx, order)
        order = replace(order, posting_until=order.created_at + self.rules.longest_placement)
        if not await OrderRepository(tx).add(order):
            raise ConfirmationOutdated
        if order.has_recipient and not order.hides_recipient and order.payer.user_id is not None:
            recipient = Recipient(order.method, order.number, order.holder)
            await save_recipient(tx, order.payer.user_id, recipient, order.created_at)
        if message_id is not None:
            await OutboxRepository(tx).add(review_notifications(order, message_id, order.created_at))
        await OrderRepository(tx).record_event(order, order.created_at, EventNote.INTENDED)
        return order


async def withdraw_invoices(tx: Transaction, origins: LinkQuery, now: datetime, *, only: str | None = None) -> int:
    """Remove the unpaid invoices of orders from a user's links, which operators have closed, and notify the payers.

    The service can't withdraw an invoice. So the order keeps its expiry, and is followed as before. `origins` are the
    links of the user. `only` is the one link that was closed, if it isn't all of them. Return how many were removed.
    """
    count = 0
    for order in await OrderRepository(tx).unpaid_of_links(origins):
        if order.awaits_payment(now) and only in {None, order.origin}:
            await remove_invoice(tx, order, now, EventNote.WITHDRAWN, OrderNotification.WITHDRAWN)
            count += 1
    return count


async def remove_invoice(
    tx: Transaction, order: Order, now: datetime, note: EventNote, *kinds: OrderNotification
) -> Order | None:
    """Remove the invoice of an unpaid order, and queue notifications. The order keeps its expiry, and is followed.

    Return None if another transaction has changed it.
    """
    saved = await OrderRepository(tx).save_with_event(replace(order, expiry_notified=True), now, note)
    if saved is not None:
        queued = order_notifications(saved, (OrderNotification.REMOVE_INVOICE, *kinds), now)
        # In the queue of invoices, so that the removal comes after an invoice that is being sent.
        await OutboxRepository(tx).add([replace(each, queue=Queue.URGENT) for each in queued])
    return saved


async def _save_phrase(tx: Transaction, payer: Payer, phrase: str | None) -> None:
    user = await UserRepository(tx).get(payer.user_id) if phrase and payer.user_id is not None else None
    if user is not None and user.phrase is None:
        await UserRepository(tx).save(replace(user, phrase=phrase, suggested_phrase=None))

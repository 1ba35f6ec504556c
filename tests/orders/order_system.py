"""Orders on a real database, with a scripted service, a clock that tests move, and a sender that records messages.

A second `OrderSystem` on the same file acts as another process. A new one after `close` acts as the bot after a crash.
Pass the same `sql` to share compiled statements. The new system still opens its own connections.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from bot.checkout.draft import OrderDraft, Step, new_draft
from bot.checkout.service import DraftService, place_order, review_draft
from bot.core.money import Amount
from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.infra.outbox.delivery import OutboxDelivery
from bot.infra.outbox.model import Queue, RetryLater, Sent, StoredNotification, Undeliverable
from bot.infra.workers import Wakeup
from bot.operations.monitor import Monitor, OperationRules
from bot.orders.alarms import load_order
from bot.orders.destinations.health import DestinationHealthService
from bot.orders.limits import DAY
from bot.orders.notifications import ORDER_SUBJECT, OrderNotification
from bot.orders.order import Order
from bot.orders.placement.lost_orders import LostOrders
from bot.orders.placement.service import OrderRules, OrderService
from bot.orders.repository import OrderRepository
from bot.orders.tracking.poller import Poller
from bot.orders.tracking.tracker import OrderTracker
from bot.orders.tracking.viewed_orders import ViewedOrders
from bot.rates.model import Estimate
from bot.rates.service import end_subscription
from bot.settlement.access import SettlementAccess
from bot.settlement.budget import Budget
from bot.settlement.catalogue import ServiceCatalogue
from bot.settlement.health import Health
from bot.settlement.model import OrderReport, OrderRequest
from bot.staff.alarms import AlarmService
from bot.staff.model import AlarmSubjects, StaffRules
from bot.staff.staff_chat import StaffChat
from bot.support.service import OrderTicketListener, tell_ticket
from tests.infra.builders import an_infra
from tests.infra.keys import VAULT
from tests.settlement.builders import BCA
from tests.settlement.fake_settlement import FakeSettlement, MovedClock, RecordedSettlement

if TYPE_CHECKING:
    from bot.settlement.client import SettlementClient

EMMA, SARI, OSCAR = 1001, 1002, 2001
EDITS = frozenset(kind for kind in OrderNotification if kind.queue is Queue.EDITS)
NUMBER = "8620123456"
REQUEST = OrderRequest(method=BCA, number="1234567890", holder=None, amount=Amount("IDR", 50_000), channel="lightning")


async def allow_any_link(_: Transaction, __: str | None, ___: datetime) -> None:
    """Let orders be made from links that are in no table (`OrderRules.check_link`)."""


RULES = OrderRules(network="bcrt", operator_ids=frozenset({OSCAR}), check_link=allow_any_link)


@dataclass(frozen=True)
class SentMessage:
    """A message that was sent. `payment_request` is the invoice or deposit address in it."""

    chat_id: int
    kind: str
    subject: str
    maybe_sent: bool
    payment_request: str | None = None
    mark: str = ""

    @property
    def marked_kind(self) -> str:
        """The kind, and the mark that distinguishes messages of one subject."""
        return f"{self.kind}:{self.mark}" if self.mark else self.kind


@dataclass
class RecordingSender:
    """A sender that records messages. `outcomes` has the next results of each chat. Exceptions in it are raised."""

    clock: MovedClock
    sent: list[SentMessage] = field(default_factory=list)
    outcomes: dict[int, deque[Sent | RetryLater | Undeliverable | Exception]] = field(
        default_factory=lambda: defaultdict(deque)
    )
    message_count: int = 0
    store: Database | None = None

    async def send(self, notification: StoredNotification) -> Sent | RetryLater | Undeliverable:
        scripted = self.outcomes[notification.chat_id].popleft() if self.outcomes[notification.chat_id] else None
        if isinstance(scripted, Exception):
            raise scripted
        if scripted is not None and not isinstance(scripted, Sent):
            return scripted
        payment_request = None
        if notification.kind == OrderNotification.INVOICE and self.store is not None:
            async with self.store.reading() as tx:
                order = await OrderRepository(tx).get(str(notification.payload["reference"]))
            if order is None or not order.awaits_payment(self.clock.now()):
                return Sent()
            payment_request = order.bolt11 or (order.deposit.to_address if order.deposit else None)
        self.message_count += 1
        self.sent.append(
            SentMessage(
                notification.chat_id,
                notification.kind,
                notification.subject,
                notification.maybe_sent,
                payment_request,
                notification.mark,
            )
        )
        return scripted or Sent(self.message_count)

    def kinds(self, chat_id: int = EMMA) -> list[str]:
        return [message.kind for message in self.sent if message.chat_id == chat_id]

    def edits_and_messages(self, chat_id: int = EMMA) -> list[str]:
        """Return the kinds of edits and removals, and then those of messages. No queue waits for another."""
        return sorted(self.kinds(chat_id), key=lambda kind: kind not in EDITS)

    def payment_requests(self, chat_id: int | None = None) -> list[str]:
        return [each.payment_request for each in self.sent if each.payment_request and chat_id in {None, each.chat_id}]


class OrderSystem:
    """The parts of one process that handle orders."""

    def __init__(
        self,
        database: str,
        service: FakeSettlement,
        *,
        rules: OrderRules = RULES,
        wrap: Callable[[Database], Any] = lambda store: store,
        settlement: Any = None,
        sender: RecordingSender | None = None,
        sql: Database | None = None,
    ) -> None:
        self.database, self.service, self.clock = database, service, service.clock
        self.sql = sql or Database(database, VAULT)
        self.store: Database = wrap(self.sql)
        self.health = Health(self.clock, seconds(30))
        self.settlement = cast("SettlementClient", RecordedSettlement(settlement or service, self.health))
        self.viewed = ViewedOrders(self.clock)
        self.sender = sender or RecordingSender(self.clock)
        self.sender.store = self.store
        self.catalogue = ServiceCatalogue(self.settlement, self.clock)
        self.infra = an_infra(self.store, self.clock)
        self.access = SettlementAccess(
            settlement=self.settlement,
            catalogue=self.catalogue,
            budget=Budget(1000, clock=lambda: 0.0, sleep=_skip_sleep),
            health=self.health,
            health_changed=Wakeup(),
        )
        self.drafts = DraftService(self.store, self.clock)
        self.staff_chat = StaffChat(0, rules.support_ids)
        self.orders = OrderService(self.infra, self.access, rules, (OrderTicketListener(self.staff_chat),))
        self.tracker = OrderTracker(self.infra, rules, self.orders.reports)
        self.lost_orders = self.build_lost_orders()
        self.delivery = OutboxDelivery(
            self.store,
            self.sender,
            self.clock,
            on_chat_unreachable=(end_subscription,),
            log_fields={ORDER_SUBJECT: "order"},
        )
        self.alarms = AlarmService(self.infra, StaffRules(operator_ids=rules.operator_ids), AlarmSubjects(load_order))
        self.destinations = DestinationHealthService(self.store, self.clock)
        self.poller = Poller(self.infra, self.access, self.tracker, self.viewed, rules.poll_interval)
        self.monitor = Monitor(
            self.infra,
            self.access,
            alarms=self.alarms,
            on_handled=partial(tell_ticket, self.staff_chat),
            destinations=self.destinations,
            poller=self.poller,
            rules=OperationRules(),
        )

    def build_lost_orders(self, alone_since: datetime | None = None) -> LostOrders:
        """Return a search for the lost orders."""
        return LostOrders(
            self.infra,
            self.settlement,
            self.orders.rules,
            submission=self.orders.submission,
            results=self.orders.results,
            alone_since=alone_since,
        )

    async def close(self) -> None:
        await self.orders.submission.close(0)
        await self.delivery.close(0)
        await self.sql.close()

    def new_draft(self, chat_id: int = EMMA) -> OrderDraft:
        """Return an empty draft of this user."""
        return new_draft(chat_id=chat_id, user_id=chat_id, now=self.clock.now())

    async def draft(self, chat_id: int = EMMA, **changes: Any) -> OrderDraft:
        """Return a draft that is ready to confirm, with the quote that its review showed."""
        draft = await self.drafts.begin(self.new_draft(chat_id), 1)
        known: dict[str, Any] = {
            "step": Step.REVIEW,
            "method": BCA,
            "number": NUMBER,
            "holder_asked": True,
            "amount": Amount("IDR", 250_000),
            "quote": await self.service.quote(),
        }
        saved = await self.drafts.save(replace(draft, **{**known, **changes}), 2)
        assert saved is not None
        return saved

    async def place(self, chat_id: int = EMMA, **changes: Any) -> Order:
        """Place an order, and wait for the result of its request."""
        order = await self.confirm(await self.draft(chat_id, **changes))
        await self.orders.submission.wait()
        return await self.order(order.reference)

    async def begin(self, chat_id: int = EMMA, **changes: Any) -> Order:
        """Place an order, and wait only until the service is asked."""
        self.service.asked.clear()
        order = await self.confirm(await self.draft(chat_id, **changes))
        await self.service.asked.wait()
        return order

    async def confirm(self, draft: OrderDraft, phrase: str | None = None) -> Order:
        """Place the order of a draft, without waiting for the result of its request."""
        return await place_order(self.orders, draft, phrase)

    async def user_orders(self, user_id: int = EMMA) -> Sequence[Order]:
        """Return a user's orders as the conversation loads them."""
        async with self.store.reading() as tx:
            return await OrderRepository(tx).counted_and_newest(user_id, self.clock.now() - DAY)

    async def review(self, draft: OrderDraft) -> tuple[OrderDraft, Estimate]:
        """Return the draft with the quote that its review shows, and what it comes to."""
        return await review_draft(self.orders, draft, await self.user_orders(draft.user_id))

    async def check_user(self, user_id: int) -> None:
        """Raise `Rejection` if this user can't place any order right now."""
        self.orders.check_user(await self.user_orders(user_id))

    async def order(self, reference: str) -> Order:
        async with self.sql.reading() as tx:
            order = await OrderRepository(tx).get(reference)
        assert order is not None
        return order

    async def all_orders(self, user_id: int = EMMA) -> tuple[Order, ...]:
        """Return a user's orders, newest first."""
        async with self.sql.reading() as tx:
            return await OrderRepository(tx).of_user(user_id, limit=100)

    async def check_service(self) -> None:
        """Raise and clear only the alarms about the service."""
        alarms = await self.alarms.find_open()
        await self.alarms.record_findings(await self.monitor._get_service_findings(alarms), alarms)

    async def deliver(self) -> None:
        """Send all due notifications, after the monitor has read the service's health."""
        await self.check_service()
        while await self.delivery.start_due():
            await self.delivery.wait_until_sent()

    async def poll(self, *, after: float = 5) -> float:
        """Poll once after `after` seconds, and send the notifications. Return the seconds until the next poll."""
        self.clock.passes(seconds=after)
        pause = await self.poller.tick()
        await self.deliver()
        return pause

    async def apply_report(self, reference: str, report: OrderReport) -> Order | None:
        """Apply a report that was requested now."""
        return await self.tracker.apply_report(reference, report, asked_at=self.clock.now())

    async def find_lost_orders(self, *, after: float = 2) -> None:
        self.clock.passes(seconds=after)
        await self.lost_orders.run_once()
        await self.deliver()


async def _skip_sleep(_: float) -> None:
    return


def rules(**changes: Any) -> OrderRules:
    return replace(RULES, **changes)


def seconds(number: float) -> timedelta:
    return timedelta(seconds=number)


async def place_unresolved(system: OrderSystem, service: FakeSettlement, how: str = "lost_before") -> Order:
    """Place an order that the service didn't list in time, so its user was asked what to do."""
    service.places.append(how)
    service.listed = False
    order = await system.place()
    await system.find_lost_orders(after=61)
    service.listed = True
    return await system.order(order.reference)

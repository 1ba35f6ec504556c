"""Orders: place and follow them, show them, and give receipts."""

from collections.abc import Sequence

from bot.infra.feature import Feature, Infra, Worker
from bot.orders.destinations.health import DestinationHealthService, PayoutTimeMeasurement
from bot.orders.handlers import DestinationHandlers, OrderHandlers, PreferenceHandlers
from bot.orders.messages import DescribeTicket, OrderMessages
from bot.orders.missed_messages import MissedMessages, follow_ups
from bot.orders.placement.lost_orders import LostOrders
from bot.orders.placement.service import OrderService
from bot.orders.receipts.handlers import ReceiptHandlers
from bot.orders.receipts.service import ReceiptService
from bot.orders.rules import OrderRules
from bot.orders.status_handlers import StatusAnswers, StatusMessages
from bot.orders.tracking.poller import Poller
from bot.orders.tracking.tracker import OrderListener, OrderTracker
from bot.orders.tracking.viewed_orders import ViewedOrders
from bot.orders.user_data import USER_DATA
from bot.settlement.access import SettlementAccess
from bot.staff.feature import Staff


class Orders:
    """Build the feature.

    Args:
        infra: what every feature is built on.
        access: the service, which gets the orders and reports what becomes of them.
        staff: whom users and operators can ask about an order.
        listeners: react to changes of orders, in the transaction that changes an order.
        describe_ticket: says in the message about an order's problem what becomes of its ticket.
        rules: the settings of orders.
    """

    def __init__(
        self,
        infra: Infra,
        access: SettlementAccess,
        *,
        staff: Staff,
        listeners: Sequence[OrderListener],
        describe_ticket: DescribeTicket,
        rules: OrderRules,
    ) -> None:
        database, clock, messenger = infra.database, infra.clock, infra.messenger
        contacts = staff.contacts
        self.viewed = ViewedOrders(clock)
        self.payout_times = PayoutTimeMeasurement(database, clock)
        self.destinations = DestinationHealthService(database, clock)
        self.service = OrderService(infra, access, rules, listeners)
        self.tracker = OrderTracker(infra, rules, self.service.reports)
        self.poller = Poller(infra, access, self.tracker, self.viewed, rules.poll_interval)
        self.status_messages = StatusMessages(infra, access.settlement, self.tracker, contacts)
        self.status_answers = StatusAnswers(database=database, status_messages=self.status_messages, contacts=contacts)
        receipt_service = ReceiptService(database, clock)
        self.receipts = receipts = ReceiptHandlers(
            database=database, messenger=messenger, receipts=receipt_service, public_url=rules.public_url
        )
        self.handlers = OrderHandlers(
            infra,
            service=self.service,
            status_messages=self.status_messages,
            receipts=receipts,
            contacts=contacts,
        )
        self.missed = MissedMessages(database, self.status_messages)
        messages = OrderMessages(
            describe_ticket=describe_ticket,
            contacts=contacts,
            receipts=receipt_service,
            public_url=rules.public_url,
        )
        self._lost_orders = LostOrders(
            infra,
            access.settlement,
            rules,
            submission=self.service.submission,
            results=self.service.results,
            # On SQLite, no other process can work on the database.
            alone_since=clock.now() if database.is_sqlite else None,
        )
        self.feature = Feature(
            name="orders",
            unreadable_rows={"orders": "orders.chat.order_unreadable"},
            user_data=USER_DATA,
            routes=(
                self.handlers.routes(),
                receipts.routes(),
                PreferenceHandlers().routes(),
                DestinationHandlers(self.destinations).routes(),
            ),
            answers=receipts.answers(),
            renderers=(messages.renderers(),),
            follow_ups=follow_ups(rules.operator_ids),
            workers=(
                Worker("poller", self.poller.tick),
                Worker("order-deadlines", self.tracker.tick),
                Worker("lost-orders", self._lost_orders.tick),
                Worker("malformed-orders", self.tracker.find_malformed),
            ),
            on_lead=self.begin_to_lead,
        )

    async def begin_to_lead(self) -> None:
        """Forget what this process knew when it led before."""
        self.tracker.begin_to_lead()
        self._lost_orders.begin_to_lead()
        self.poller.begin_to_lead()

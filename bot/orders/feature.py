"""Orders: place and follow them, show them, and give receipts."""

from bot.infra.db.transaction import Transaction
from bot.infra.feature import Feature, Infra, Worker
from bot.orders.destinations.handlers import DestinationHandlers
from bot.orders.destinations.health import DestinationHealthService, PayoutTimeMeasurement
from bot.orders.handlers import OrderHandlers
from bot.orders.missed_messages import MissedMessages, follow_ups
from bot.orders.notifications.rendering import OrderMessages
from bot.orders.notifications.warnings import ALARM_SUBJECTS, OrderWarnings
from bot.orders.placement.lost_orders import LostOrders
from bot.orders.placement.service import OrderService
from bot.orders.preference_handlers import PreferenceHandlers
from bot.orders.receipts.handlers import ReceiptHandlers
from bot.orders.receipts.service import ReceiptService
from bot.orders.rules import OrderRules
from bot.orders.screens import preferences
from bot.orders.status_messages import StatusMessages
from bot.orders.status_questions.handlers import StatusQuestionHandlers
from bot.orders.tracking.observer import Observer
from bot.orders.tracking.poller import Poller
from bot.orders.tracking.viewed_orders import ViewedOrders
from bot.orders.user_data import USER_DATA
from bot.orders.workers import MalformedOrderFinder, OrderWorkers
from bot.settlement.access import SettlementAccess
from bot.staff.feature import Staff
from bot.users.session import Session


class Orders:
    """Build the feature."""

    def __init__(self, infra: Infra, access: SettlementAccess, *, staff: Staff, rules: OrderRules) -> None:
        database, clock, messenger = infra.database, infra.clock, infra.messenger
        contacts = staff.contacts
        self.viewed = ViewedOrders(clock)
        self.payout_times = PayoutTimeMeasurement(database, clock)
        self.destinations = DestinationHealthService(database, clock)
        self.service = OrderService(infra, access, rules)
        self.observer = Observer(infra, rules, self.service.reports)
        self.poller = Poller(infra, access, self.observer, self.viewed, rules.poll_interval)
        self.status_messages = StatusMessages(infra, access.settlement, self.observer, contacts)
        self.status_questions = StatusQuestionHandlers(
            database=database, status_messages=self.status_messages, contacts=contacts
        )
        receipt_service = ReceiptService(database, clock)
        receipts = ReceiptHandlers(
            database=database, messenger=messenger, receipts=receipt_service, public_url=rules.public_url
        )
        self.handlers = OrderHandlers(
            infra,
            service=self.service,
            status_messages=self.status_messages,
            receipts=receipts,
            contacts=contacts,
        )
        missed = MissedMessages(database, self.status_messages)
        messages = OrderMessages(
            features=infra.features, contacts=contacts, receipts=receipt_service, public_url=rules.public_url
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
        workers = OrderWorkers(self.observer, self._lost_orders)
        self.feature = Feature(
            name="orders",
            unreadable_rows={"orders": "orders.chat.order_unreadable"},
            user_data=USER_DATA,
            settings_sections=(preferences.SECTION,),
            on_load=(self._record_active_user, missed.load),
            after_update=(missed.show,),
            routes=(
                self.handlers.routes(),
                receipts.routes(),
                PreferenceHandlers().routes(),
                DestinationHandlers(self.destinations).routes(),
            ),
            answers=receipts.answers(),
            handlers=receipts.handlers(),
            renderers=(messages.renderers(), OrderWarnings(rules.operator_ids, staff.service_contact).renderers()),
            alarm_subjects=ALARM_SUBJECTS,
            follow_ups=follow_ups(rules.operator_ids),
            workers=(
                Worker("poller", self.poller.tick),
                Worker("expiries", workers.check_times),
                Worker("reconciler", workers.find_lost_orders),  # the name is a label of metrics, so it stays
                Worker("malformed-orders", MalformedOrderFinder(database, clock).tick),
            ),
            on_lead=self.begin_to_lead,
        )

    async def begin_to_lead(self) -> None:
        """Forget what this process knew when it led before."""
        self.observer.begin_to_lead()
        self._lost_orders.begin_to_lead()
        self.poller.begin_to_lead()

    async def _record_active_user(self, _: Transaction, session: Session) -> None:
        """Poll the orders of an active user first."""
        self.viewed.record_active_user(session.user.id)

"""The composition root: it builds every part of the bot from the settings, and connects them."""

import math
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from functools import partial

from pydantic import SecretStr
from telegram.ext import Application, ApplicationBuilder

import bot.tables  # noqa: F401  every feature adds its tables to the metadata, which encryption goes through
from bot.broadcasts.feature import Broadcasts
from bot.broadcasts.service import BroadcastRules
from bot.checkout.feature import Checkout
from bot.config import Settings
from bot.core.clock import SystemClock
from bot.home.feature import AUDIT_TERMS, Home
from bot.home.handlers import BuiltFeatures
from bot.infra.db.database import Database
from bot.infra.db.vault import Vault, generate_key
from bot.infra.feature import Feature, Infra
from bot.infra.i18n import Translations
from bot.infra.leases.chat_leases import ChatLeases, Leases, UnsharedLeases
from bot.infra.outbox.delivery import FEWEST_BULK_SLOTS, OutboxDelivery
from bot.infra.outbox.model import Queue
from bot.infra.outbox.rendering import Renderers, chain_follow_ups
from bot.infra.redaction import know_secrets
from bot.infra.telegram.inbound.repository import Inbox
from bot.infra.telegram.inbound.webhook import Webhook, WebhookRegistration
from bot.infra.telegram.outbound.limiter import Limits as SendLimits
from bot.infra.telegram.outbound.limiter import SendLimiter
from bot.infra.telegram.outbound.sender import Messenger
from bot.infra.telegram.transport import TelegramRequest
from bot.infra.workers import Wakeup
from bot.operations.feature import Operations
from bot.operations.monitor import OperationRules
from bot.orders.alarms import load_order
from bot.orders.feature import Orders
from bot.orders.limits import Limits, LinkLimits
from bot.orders.notifications import ORDER_SUBJECT
from bot.orders.rules import OrderRules
from bot.payment_reminders.feature import PaymentReminders
from bot.payment_reminders.service import end_reminders
from bot.payment_requests.feature import PaymentRequests
from bot.payment_requests.model import PaymentRequestRules
from bot.payment_requests.paying.notifications import LinkListener
from bot.payment_requests.paying.service import check_link
from bot.rates.feature import Rates
from bot.rates.service import end_subscription
from bot.recipients.feature import Recipients
from bot.settlement.access import SettlementAccess
from bot.settlement.budget import LEAST_PER_SECOND, AdaptiveBudget
from bot.settlement.catalogue import ServiceCatalogue
from bot.settlement.client import SettlementClient
from bot.settlement.errors import SlowDown
from bot.settlement.health import BUDGET, Health
from bot.staff.feature import Staff
from bot.staff.model import StaffRules
from bot.support.feature import Support
from bot.support.model import SupportRules
from bot.support.notifications import TICKET_SUBJECT
from bot.support.service import OrderTicketListener
from bot.support.topics import move_group
from bot.support.user_messages import ReplyTime, describe_ticket
from bot.users.feature import Privacy, Users
from bot.users.model import Provider, UserRules
from bot.users.readers import RenderContext, RenderContexts
from bot.users.session import SessionLoader


@dataclass(frozen=True, slots=True, kw_only=True)
class App:
    """The parts of the bot, built and connected, but not started."""

    settings: Settings
    database: Database
    application: Application  # type: ignore[type-arg]
    webhook_registration: WebhookRegistration
    settlement: SettlementClient
    readers: RenderContexts
    renderers: Renderers[RenderContext]
    infra: Infra
    sessions: SessionLoader
    features: Sequence[Feature]
    users: Users
    orders: Orders
    checkout: Checkout
    payment_requests: PaymentRequests
    support: Support
    operations: Operations
    home: Home
    delivery: OutboxDelivery
    bulk_delivery: OutboxDelivery
    wake_outbox: Wakeup
    wake_bulk: Wakeup
    wake_chats: Wakeup
    leases: Leases
    broadcasts: Broadcasts
    clock: SystemClock


def build(settings: Settings, process_id: str | None = None) -> App:
    """Build the parts. This opens no connection and no file.

    `process_id` is the random id by which other processes know this one. One is drawn if it is missing.
    """
    clock = SystemClock()
    owner = process_id or secrets.token_hex(4)
    database = create_database(settings, owner)
    leases = UnsharedLeases(owner) if database.is_sqlite else ChatLeases(database, owner)
    wake_outbox, wake_bulk, health_changed = Wakeup(), Wakeup(), Wakeup()
    health = Health(clock, compute_outage_tolerance(settings), health_changed)
    budget = AdaptiveBudget(settings.service_max_requests_per_second)
    BUDGET.set_function(lambda: budget.per_second)

    def record_result(route: str, result: object, seconds: float) -> None:
        health.record(route, result, seconds)
        if isinstance(result, SlowDown):
            budget.halve()

    settlement = SettlementClient(
        settings.service_base_url, settings.service_api_key.get_secret_value(), on_result=record_result
    )
    limiter = SendLimiter(create_send_limits(settings))
    application = create_telegram_application(settings, limiter)
    messenger = Messenger(application.bot)
    translations = Translations.load()
    catalogue = ServiceCatalogue(settlement, clock)
    infra = Infra(
        clock=clock,
        database=database,
        messenger=messenger,
        translations=translations,
        default_locale=settings.default_locale,
        wake_bulk=wake_bulk,
        inbox=Inbox(database, clock),
    )
    access = SettlementAccess(
        settlement=settlement, catalogue=catalogue, budget=budget, health=health, health_changed=health_changed
    )
    provider = create_provider(settings)
    user_rules = UserRules(
        provider=provider, operator_ids=settings.operator_ids, retention_days=settings.retention_days
    )
    on_blocked = (end_subscription, end_reminders)
    users = Users(infra, on_blocked=on_blocked, rules=user_rules)
    recipients = Recipients(infra, can_ask=settings.payment_requests == "on")
    rates = Rates(infra, access, record_seconds=settings.quote_record_seconds)
    staff = Staff(infra, load_order=load_order, audit_terms=AUDIT_TERMS, rules=create_staff_rules(settings))
    broadcasts = Broadcasts(infra, access, rates=rates, rules=create_broadcast_rules(settings))
    reply_time = ReplyTime(database, clock)
    orders = Orders(
        infra,
        access,
        staff=staff,
        listeners=(LinkListener(), OrderTicketListener(staff.chat)),
        describe_ticket=partial(describe_ticket, reply_time),
        rules=create_order_rules(settings),
    )
    checkout = Checkout(infra, catalogue, users=users, orders=orders, run_by=settings.operator_name)
    payment_requests = PaymentRequests(
        infra, catalogue, orders=orders, checkout=checkout, rules=create_payment_request_rules(settings)
    )
    payment_reminders = PaymentReminders(
        infra, recipients=recipients, checkout=checkout, hour=settings.payment_reminder_hour
    )
    support = Support(
        infra, access, staff=staff, orders=orders, reply_time=reply_time, rules=create_support_rules(settings)
    )
    operations = Operations(
        infra,
        access,
        bot=application.bot,
        limiter=limiter,
        staff=staff,
        orders=orders,
        rules=create_operation_rules(settings),
    )
    below = BuiltFeatures(
        recipients=recipients,
        rates=rates,
        staff=staff,
        orders=orders,
        checkout=checkout,
        payment_requests=payment_requests,
        payment_reminders=payment_reminders,
        support=support,
        operations=operations,
    )
    # This is the order in which a user's data is shown and exported.
    built = (
        users,
        recipients,
        orders,
        checkout,
        payment_requests,
        payment_reminders,
        rates,
        staff,
        broadcasts,
        support,
        operations,
    )
    features = [each.feature for each in built]
    user_data = [feature.user_data for feature in features if feature.user_data is not None]
    features.append(Privacy(infra, user_data, user_rules).feature)
    home = Home(infra, below, features=features, bot=application.bot, provider=provider)
    features.append(home.feature)
    users.sessions.lead_back_to(checkout.draft_handlers, home.start.make)
    readers = RenderContexts(infra)
    renderers = Renderers(
        readers.open,
        *(renderers for feature in features for renderers in feature.renderers),
    )
    create_delivery = partial(
        OutboxDelivery,
        database,
        renderers,
        clock,
        follow_ups=chain_follow_ups(*(feature.follow_ups for feature in features)),
        on_chat_unreachable=on_blocked,
        on_chat_moved=[move_group],
        log_fields={ORDER_SUBJECT: "order", TICKET_SUBJECT: "ticket"},
    )
    delivery = create_delivery(leases=leases, queues=(Queue.URGENT, Queue.EDITS, Queue.EXTRA), wakeup=wake_outbox)
    database.before_commit = delivery.mark_due_in
    return App(
        settings=settings,
        database=database,
        application=application,
        webhook_registration=WebhookRegistration(application.bot, create_webhook(settings)),
        settlement=settlement,
        readers=readers,
        renderers=renderers,
        infra=infra,
        sessions=users.sessions,
        features=features,
        users=users,
        orders=orders,
        checkout=checkout,
        payment_requests=payment_requests,
        support=support,
        operations=operations,
        home=home,
        delivery=delivery,
        # Broadcasts and rates are sent in bulk, by the leader alone.
        bulk_delivery=create_delivery(
            queues=(Queue.BULK,),
            bulk_slots=compute_bulk_slots(settings.broadcast_messages_per_second),
            wakeup=wake_bulk,
        ),
        leases=leases,
        broadcasts=broadcasts,
        wake_outbox=wake_outbox,
        wake_bulk=wake_bulk,
        wake_chats=Wakeup(),
        clock=clock,
    )


def build_declared() -> App:
    """Build the parts with placeholder settings, to read what the features declare. They can't reach any service."""
    return build(
        Settings(
            _env_file=None,
            telegram_bot_token=SecretStr("0:none"),
            service_api_key=SecretStr("pk_live_none.none"),
            service_base_url="http://127.0.0.1:9",
            encryption_keys=SecretStr(generate_key()),
        )
    )


def compute_bulk_slots(per_second: float) -> int:
    """Return how many messages are sent at once in bulk: those of 0.8 s. More would only wait, marked as being sent."""
    return min(max(math.ceil(0.8 * per_second), FEWEST_BULK_SLOTS), Queue.BULK.slots)


def create_database(settings: Settings, owner: str = "") -> Database:
    """Return the database with its encryption keys. `owner` is the random id of a process that takes leases."""
    return Database(settings.database_url, Vault(settings.sealing_keys), owner=owner)


def create_webhook(settings: Settings) -> Webhook | None:
    """Return the bot's webhook, or None if it receives by polling."""
    if settings.receive == "poll":
        return None
    webhook = Webhook.derive(settings.telegram_bot_token.get_secret_value(), settings.public_url)
    know_secrets([webhook.secret])
    return webhook


def create_telegram_application(settings: Settings, limiter: SendLimiter | None = None) -> Application:  # type: ignore[type-arg]
    """Return PTB's application with our transport and limiter, but without its updater.

    `infra/telegram/inbound/receiver.py` receives updates instead. Work that has lost its lease can't call.
    """
    return (
        ApplicationBuilder()
        .token(settings.telegram_bot_token.get_secret_value())
        .base_url(f"{settings.telegram_api_url}/bot")
        .base_file_url(f"{settings.telegram_api_url}/file/bot")
        .request(TelegramRequest())
        .get_updates_request(TelegramRequest(connections=2))
        .rate_limiter(limiter or SendLimiter(create_send_limits(settings)))
        .updater(None)
        .build()
    )


def create_order_rules(settings: Settings) -> OrderRules:
    """Return the rules for orders."""
    return OrderRules(
        check_link=partial(check_link, is_on=settings.payment_requests == "on"),
        network=settings.invoice_network,
        min_order_idr=settings.min_order_idr,
        drift_percent=Decimal(str(settings.price_drift_percent)),
        pay_within=timedelta(seconds=settings.pay_within_seconds),
        ask_lost_after=timedelta(seconds=settings.reconcile_seconds),
        poll_interval=timedelta(seconds=settings.poll_interval_seconds),
        operator_ids=settings.operator_ids,
        support_ids=settings.support_ids,
        limits=Limits(
            open_orders=settings.max_open_orders,
            orders_per_hour=settings.max_orders_per_hour,
            idr_per_day=settings.max_idr_per_day,
        ),
        link_limits=create_link_limits(settings),
        overdue_after=timedelta(seconds=settings.stuck_seconds),
        public_url=settings.public_url,
    )


def create_link_limits(settings: Settings) -> LinkLimits:
    """Return how many orders links create. Browsers get two fifths, or half of that if nobody tells them apart."""
    share = 5 if settings.trusted_proxies else 10
    from_all, from_one = settings.max_link_orders, settings.max_link_orders_each
    return LinkLimits(
        from_all=from_all,
        from_one=from_one,
        browsers_from_all=from_all and max(1, from_all * 2 // share),
        browsers_from_one=from_one and max(1, from_one * 2 // share),
    )


def create_payment_request_rules(settings: Settings) -> PaymentRequestRules:
    """Return the rules for payment requests."""
    return PaymentRequestRules(
        is_on=settings.payment_requests == "on",
        max_open=settings.max_open_payment_requests,
        max_per_day=settings.max_payment_requests_per_day,
        public_url=settings.public_url,
        operator_name=settings.operator_name,
        operator_ids=settings.operator_ids,
    )


def create_broadcast_rules(settings: Settings) -> BroadcastRules:
    """Return the rules for broadcasts."""
    return BroadcastRules(
        jump_percent=Decimal(str(settings.broadcast_jump_percent)),
        messages_per_second=settings.broadcast_messages_per_second,
        operator_ids=settings.operator_ids,
        pays_telegram=settings.allow_paid_broadcast,
    )


def create_staff_rules(settings: Settings) -> StaffRules:
    """Return the settings of staff."""
    return StaffRules(
        operator_ids=settings.operator_ids,
        agent_ids=settings.support_ids or settings.operator_ids,
        chat_id=settings.support_chat_id,
        contact=settings.support_contact,
        service_contact=settings.service_contact,
        failed_payout_policy_url=settings.failed_payout_policy_url,
        remind_after=timedelta(seconds=settings.alarm_reminder_seconds),
        repeat_after=timedelta(seconds=settings.alarm_repeat_seconds),
    )


def create_operation_rules(settings: Settings) -> OperationRules:
    """Return the rules by which the bot is monitored."""
    return OperationRules(
        operator_ids=settings.operator_ids,
        backlog_after=timedelta(seconds=settings.outbox_backlog_seconds),
        shrink_percent=Decimal(str(settings.methods_shrink_percent)),
        poller_silence=compute_poller_silence(settings),
        overdue_after=timedelta(seconds=settings.stuck_seconds),
        heartbeat_url=settings.heartbeat_url.get_secret_value(),
    )


def create_support_rules(settings: Settings) -> SupportRules:
    """Return the rules for support."""
    return SupportRules(
        provider=create_provider(settings),
        operator_ids=settings.operator_ids,
        can_ask=settings.payment_requests == "on",
        reopen_within=timedelta(seconds=settings.ticket_reopen_seconds),
        remind_after=timedelta(seconds=settings.ticket_reminder_seconds),
    )


def create_provider(settings: Settings) -> Provider:
    """Return who runs the bot, for its users."""
    return Provider(name=settings.operator_name, terms_url=settings.terms_url, privacy_url=settings.privacy_url)


def compute_outage_tolerance(settings: Settings) -> timedelta:
    """Return how long the service can fail before an alarm is raised: six poll intervals, up to a minute."""
    return min(6 * timedelta(seconds=settings.poll_interval_seconds), timedelta(minutes=1))


def compute_poller_silence(settings: Settings) -> timedelta:
    """Return how long the poller can be silent before an alarm is raised: twelve polls and the wait for the budget."""
    slowest = min(settings.service_max_requests_per_second, LEAST_PER_SECOND)
    return timedelta(seconds=12 * min(settings.poll_interval_seconds, 5) + 2 / slowest)


def create_send_limits(settings: Settings) -> SendLimits:
    """Return the limits for sending to Telegram."""
    return SendLimits(
        chat_per_second=settings.chat_messages_per_second,
        group_per_minute=settings.group_messages_per_minute,
        bulk_per_second=settings.broadcast_messages_per_second,
    )

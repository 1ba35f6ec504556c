"""The composition root: builds every part from the settings, and introduces them to one another."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from telegram.ext import Application, ApplicationBuilder

from bot.actions.alarms import Alarms
from bot.actions.broadcast_drafts import BroadcastDrafts
from bot.actions.broadcasts import Broadcasts
from bot.actions.budget import AdaptiveBudget
from bot.actions.clock import SystemClock
from bot.actions.deliveries import Delivering
from bot.actions.drafts import Drafts
from bot.actions.figures import Figures
from bot.actions.health import Health
from bot.actions.help import Help
from bot.actions.history import History
from bot.actions.market import Market
from bot.actions.observe import Observer
from bot.actions.orders import Orders
from bot.actions.outbox import OutboxDelivery
from bot.actions.payout_times import MeasuredTimes
from bot.actions.privacy import Privacy
from bot.actions.quotes import Quotes
from bot.actions.rate_news import RateNews
from bot.actions.receipts import Receipts
from bot.actions.recipients import KnownRecipients
from bot.actions.reconcile import Reconciler
from bot.actions.subscribing import Subscribing
from bot.actions.support_room import SupportRoom
from bot.actions.viewed_orders import ViewedOrders
from bot.actions.watched import WatchedSettlement
from bot.actions.watching import Watching
from bot.chat.alarm_news import AlarmTeller
from bot.chat.broadcast_delivery import ChatCourier, LiveMessages
from bot.chat.broadcast_news import BroadcastNews
from bot.chat.charts import Charts
from bot.chat.desk import Desk
from bot.chat.limits import SendLimiter
from bot.chat.messenger import Messenger
from bot.chat.notices import ChatTeller
from bot.chat.quote_news import QuoteNews
from bot.chat.transport import TelegramRequest
from bot.config import Settings
from bot.house_rules import broadcast_rules_of, pace_of, patience_of, provider_of, rules_of, silence_of
from bot.house_support import SupportParts, support_of
from bot.i18n import Translations
from bot.settlement.adapter import SettlementAdapter
from bot.settlement.client import SettlementClient
from bot.store.store import SqlStore
from bot.store.vault import Vault
from bot.workers.broadcasting import Broadcasting, LiveShow
from bot.workers.loop import Nudge
from bot.workers.poller import Poller
from bot.workers.watch import Watch


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """Every part, built and introduced; nothing has begun yet."""

    settings: Settings
    store: SqlStore
    client: SettlementClient
    application: Application  # type: ignore[type-arg]
    desk: Desk
    delivery: OutboxDelivery
    poller: Poller
    reconciler: Reconciler
    quotes: Quotes
    rate_news: RateNews
    watch: Watch
    nudge_outbox: Nudge
    nudge_broadcasts: Nudge
    nudge_live: Nudge
    broadcasting: Broadcasting
    live_show: LiveShow
    nudge_quotes: Nudge
    nudge_watch: Nudge
    support: SupportParts
    clock: SystemClock


def build(settings: Settings) -> House:
    """Build the parts; opens no connection and no file."""
    clock = SystemClock()
    store = store_of(settings)
    nudge_outbox, nudge_broadcasts, nudge_quotes, nudge_watch = Nudge(), Nudge(), Nudge(), Nudge()
    client = SettlementClient(settings.service_base_url, settings.service_api_key.get_secret_value())
    health = Health(clock, patience_of(settings), nudge_watch)
    budget, viewed = AdaptiveBudget(settings.service_max_requests_per_second), ViewedOrders(clock)
    adapter = SettlementAdapter(client, may_place=store.leads)
    settlement = WatchedSettlement(adapter, health, on_slow_down=budget.halve)
    application = telegram_application(settings, lambda: store.is_leading)
    messenger = Messenger(application.bot)
    translations = Translations.load()
    receipts = Receipts(store, clock)
    market, rules = Market(settlement, clock), rules_of(settings)
    orders = Orders(store=store, settlement=settlement, market=market, clock=clock, rules=rules, on_news=nudge_outbox)
    quotes = Quotes(store, settlement, clock, on_recorded=nudge_quotes)
    room = SupportRoom(settings.support_chat_id, rules.supporter_ids)
    observer = Observer(orders, room)
    watching = Watching(
        store=store,
        clock=clock,
        health=health,
        alarms=alarms_of(settings, store, clock, nudge_outbox),
        market=market,
        backlog_after=timedelta(seconds=settings.outbox_backlog_seconds),
        shrink_percent=Decimal(str(settings.methods_shrink_percent)),
    )
    poller = Poller(
        store=store,
        settlement=settlement,
        observer=observer,
        clock=clock,
        budget=budget,
        viewed=viewed,
        interval=rules.poll_interval,
    )
    help_desk = Help(room, settings.support_contact)
    support = support_of(
        settings,
        store=store,
        messenger=messenger,
        translations=translations,
        market=market,
        clock=clock,
        room=room,
        on_news=nudge_outbox,
    )
    broadcasts = Broadcasts(
        store=store,
        market=market,
        clock=clock,
        rules=broadcast_rules_of(settings),
        on_confirmed=nudge_broadcasts,
        on_news=nudge_outbox,
    )
    charts, nudge_live = Charts(quotes), Nudge()
    delivering = Delivering(
        store=store,
        clock=clock,
        courier=ChatCourier(messenger, translations, charts, paid=settings.allow_paid_broadcast),
        default_locale=settings.default_locale,
        per_second=settings.broadcast_messages_per_second,
        on_change=nudge_live,
    )
    desk = Desk(
        store=store,
        settlement=settlement,
        market=market,
        drafts=Drafts(store, clock),
        history=History(store),
        privacy=Privacy(store, clock, settings.retention_days),
        receipts=receipts,
        charts=charts,
        recipients=KnownRecipients(store, clock),
        subscribing=Subscribing(store, clock),
        orders=orders,
        payout_times=MeasuredTimes(store, clock),
        reply_time=support.reply_time,
        observer=observer,
        help=help_desk,
        support_room=room,
        ticket_room=support.ticket_room,
        lookups=support.lookups,
        ticket_opening=support.ticket_opening,
        ticket_ending=support.ticket_ending,
        ticket_answers=support.ticket_answers,
        ticket_corrections=support.ticket_corrections,
        revealing=support.revealing,
        broadcasts=broadcasts,
        broadcast_drafts=BroadcastDrafts(store, clock),
        delivering=delivering,
        figures=Figures(store, settlement, clock),
        trail=support.trail,
        saved_answers=support.saved_answers,
        messenger=messenger,
        translations=translations,
        clock=clock,
        default_locale=settings.default_locale,
        watching=watching,
        viewed=viewed,
        operator_ids=settings.operator_ids,
        provider=provider_of(settings),
    )
    teller = ChatTeller(
        store=store,
        messenger=messenger,
        translations=translations,
        clock=clock,
        help_desk=help_desk,
        receipts=receipts,
        default_locale=settings.default_locale,
        public_url=settings.public_url,
        others={
            **BroadcastNews(store, messenger, clock).tellers(),
            **QuoteNews(store, messenger, clock).tellers(),
            **AlarmTeller(store, messenger, clock, settings.operator_ids).tellers(),
            **support.tellers,
        },
    )
    return House(
        settings=settings,
        store=store,
        client=client,
        application=application,
        desk=desk,
        delivery=OutboxDelivery(store, teller, clock, on_room=nudge_outbox, after=support.after),
        poller=poller,
        reconciler=Reconciler(orders, settlement),
        quotes=quotes,
        rate_news=RateNews(store, market, clock, nudge_outbox),
        broadcasting=Broadcasting(broadcasts, delivering),
        live_show=LiveShow(delivering, LiveMessages(store, messenger, translations, settings.default_locale)),
        nudge_live=nudge_live,
        nudge_outbox=nudge_outbox,
        nudge_broadcasts=nudge_broadcasts,
        nudge_quotes=nudge_quotes,
        watch=Watch(watching, poller, clock, silence_of(settings)),
        nudge_watch=nudge_watch,
        support=support,
        clock=clock,
    )


def store_of(settings: Settings) -> SqlStore:
    """The database, with the keys to what is sealed in it."""
    return SqlStore(settings.database_url, Vault(settings.sealing_keys))


def alarms_of(settings: Settings, store: SqlStore, clock: SystemClock, nudge_outbox: Nudge) -> Alarms:
    """What operators hear of by themselves."""
    return Alarms(store, clock, settings.operator_ids, timedelta(seconds=settings.alarm_reminder_seconds), nudge_outbox)


def telegram_application(settings: Settings, may_call: Callable[[], bool] = lambda: True) -> Application:  # type: ignore[type-arg]
    """PTB's application with our transport and our limiter, and without its updater: `chat/updates.py` receives.

    `may_call` is asked before each call of the Bot API.
    """
    return (
        ApplicationBuilder()
        .token(settings.telegram_bot_token.get_secret_value())
        .base_url(f"{settings.telegram_api_url}/bot")
        .base_file_url(f"{settings.telegram_api_url}/file/bot")
        .request(TelegramRequest(may_call=may_call))
        .get_updates_request(TelegramRequest(connections=2, may_call=may_call))
        .rate_limiter(SendLimiter(pace_of(settings)))
        .updater(None)
        .build()
    )

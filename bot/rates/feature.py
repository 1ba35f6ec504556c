"""The feature of rates: the current quote, its chart, and rate updates by subscription."""

from bot.infra.feature import Feature, Infra, Worker
from bot.infra.workers import Wakeup
from bot.rates import notifications
from bot.rates.charts import Charts
from bot.rates.handlers import RateHandlers, SubscriptionHandlers
from bot.rates.service import QuoteService, SubscriptionService
from bot.rates.user_data import USER_DATA
from bot.rates.workers import QuoteRecorder, RateScheduler, SubscriptionWorker
from bot.settlement.access import SettlementAccess


class Rates:
    """Build the feature.

    `record_seconds` is the time between two recorded quotes.
    """

    def __init__(self, infra: Infra, access: SettlementAccess, *, record_seconds: float) -> None:
        database, clock, catalogue = infra.database, infra.clock, access.catalogue
        recorded = Wakeup()
        self.quotes = QuoteService(database, access.settlement, clock, on_recorded=recorded)
        self.charts = Charts(self.quotes)
        self.subscriptions = subscriptions = SubscriptionService(database, clock)
        self.handlers = RateHandlers(catalogue=catalogue, charts=self.charts, subscriptions=subscriptions)
        subscription_handlers = SubscriptionHandlers(
            database=database, catalogue=catalogue, subscriptions=subscriptions
        )
        scheduler = RateScheduler(database, catalogue, clock, infra.wake_bulk)
        self.feature = Feature(
            name="rates",
            user_data=USER_DATA,
            routes=(self.handlers.routes(), subscription_handlers.routes()),
            answers=subscription_handlers.answers(),
            renderers=(notifications.RENDERERS,),
            workers=(
                Worker("subscriptions", SubscriptionWorker(scheduler).tick, recorded),
                Worker("quotes", QuoteRecorder(self.quotes, clock, record_seconds).tick),
            ),
            on_lead=scheduler.begin_to_lead,
        )

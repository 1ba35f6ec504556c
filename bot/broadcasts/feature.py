"""The feature of broadcasts: operators write messages to the subscribers of rate updates."""

from bot.broadcasts import notifications
from bot.broadcasts.audit import AUDIT_TERMS
from bot.broadcasts.compose_handlers import ComposeHandlers
from bot.broadcasts.deliveries import DeliveryService
from bot.broadcasts.delivery_handlers import DeliveryHandlers
from bot.broadcasts.drafts import BroadcastDrafts
from bot.broadcasts.handlers import BroadcastHandlers
from bot.broadcasts.messages import BroadcastMessages, ChatBroadcastSender, LiveMessages
from bot.broadcasts.service import BroadcastRules, BroadcastService
from bot.broadcasts.user_data import USER_DATA
from bot.broadcasts.workers import BroadcastWorker, LiveMessageWorker
from bot.infra.feature import Feature, Infra, Worker
from bot.infra.workers import Wakeup
from bot.rates.charts import Charts
from bot.settlement.catalogue import ServiceCatalogue


class Broadcasts:
    """Build the feature.

    Args:
        infra: what every feature is built on.
        catalogue: provides the rate that a broadcast shows.
        charts: draws the rate.
        rules: the settings of broadcasts.
        paid: whether to pay Telegram for messages above its free rate.
    """

    def __init__(
        self, infra: Infra, catalogue: ServiceCatalogue, charts: Charts, *, rules: BroadcastRules, paid: bool
    ) -> None:
        database, clock, messenger = infra.database, infra.clock, infra.messenger
        translations = infra.translations
        confirmed, has_changed = Wakeup(), Wakeup()
        drafts = BroadcastDrafts(database, clock)
        service = BroadcastService(
            database=database,
            catalogue=catalogue,
            clock=clock,
            rules=rules,
            on_confirmed=confirmed,
            on_notification=infra.wake_outbox,
        )
        self.deliveries = DeliveryService(
            database=database,
            clock=clock,
            sender=ChatBroadcastSender(messenger, translations, charts, paid=paid),
            per_second=rules.messages_per_second,
            on_change=has_changed,
            on_decision=confirmed,
        )
        self.live_messages = LiveMessageWorker(self.deliveries, LiveMessages(database, messenger, translations))
        compose = ComposeHandlers(drafts=drafts, broadcasts=service, translations=translations)
        handlers = BroadcastHandlers(
            drafts=drafts,
            broadcasts=service,
            compose=compose,
            messages=BroadcastMessages(messenger, translations, charts),
        )
        self.feature = Feature(
            name="broadcasts",
            user_data=USER_DATA,
            routes=(handlers.routes(), DeliveryHandlers(deliveries=self.deliveries).routes()),
            answers=compose.answers(),
            renderers=(notifications.RENDERERS,),
            workers=(
                Worker("broadcasts", BroadcastWorker(service, self.deliveries).tick, confirmed),
                Worker("live", self.live_messages.tick, has_changed),
            ),
            audit_terms=AUDIT_TERMS,
        )

"""The feature of broadcasts: operators write messages to the subscribers of rate updates."""

from bot.broadcasts import notifications
from bot.broadcasts.compose_handlers import ComposeHandlers
from bot.broadcasts.deliveries import DeliveryService
from bot.broadcasts.delivery_handlers import DeliveryHandlers
from bot.broadcasts.drafts import BroadcastDrafts
from bot.broadcasts.handlers import BroadcastHandlers
from bot.broadcasts.messages import BroadcastMessages, ChatBroadcastSender, LiveMessages
from bot.broadcasts.model import AUDIT_TERMS
from bot.broadcasts.service import BroadcastRules, BroadcastService
from bot.broadcasts.user_data import USER_DATA
from bot.broadcasts.workers import BroadcastWorker, LiveMessageWorker
from bot.infra.feature import Feature, Infra, Worker
from bot.infra.workers import Wakeup
from bot.rates.feature import Rates
from bot.settlement.access import SettlementAccess


class Broadcasts:
    """Build the feature."""

    def __init__(self, infra: Infra, access: SettlementAccess, *, rates: Rates, rules: BroadcastRules) -> None:
        database, clock, messenger = infra.database, infra.clock, infra.messenger
        translations, charts = infra.translations, rates.charts
        confirmed, has_changed = Wakeup(), Wakeup()
        drafts = BroadcastDrafts(database, clock)
        service = BroadcastService(infra, access.catalogue, rules, on_confirmed=confirmed)
        self.deliveries = DeliveryService(
            infra,
            sender=ChatBroadcastSender(messenger, translations, charts, paid=rules.pays_telegram),
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

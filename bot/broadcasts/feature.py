"""The feature of broadcasts: operators write messages to the subscribers of rate updates."""

from bot.broadcasts.deliveries import BroadcastWorker, DeliveryService, LiveMessages
from bot.broadcasts.handlers import BroadcastHandlers
from bot.broadcasts.messages import ReaderMessages
from bot.broadcasts.service import BroadcastRules, BroadcastService
from bot.infra.feature import Feature, Infra, Worker
from bot.infra.workers import Wakeup
from bot.rates.feature import Rates
from bot.settlement.access import SettlementAccess


class Broadcasts:
    """Build the feature."""

    def __init__(self, infra: Infra, access: SettlementAccess, *, rates: Rates, rules: BroadcastRules) -> None:
        wake_worker, wake_live = Wakeup(), Wakeup()
        service = BroadcastService(infra, access.catalogue, rules, on_confirmed=wake_worker)
        self.messages = ReaderMessages(infra, rates.charts, paid=rules.pays_telegram)

        def wake() -> None:
            wake_worker()
            wake_live()

        deliveries = DeliveryService(infra, self.messages, per_second=rules.messages_per_second, on_change=wake)
        live_messages = LiveMessages(infra, deliveries)
        handlers = BroadcastHandlers(
            broadcasts=service,
            deliveries=deliveries,
            messages=self.messages,
            translations=infra.translations,
        )

        async def begin_to_lead() -> None:
            self.messages.open()
            await live_messages.begin_to_lead()

        self.feature = Feature(
            name="broadcasts",
            routes=(handlers.routes(),),
            answers=handlers.answers(),
            renderers=(self.messages.renderers(),),
            follow_ups=self.messages.follow_ups(),
            on_lead=begin_to_lead,
            workers=(
                Worker("broadcasts", BroadcastWorker(service, deliveries).tick, wake_worker),
                Worker("live", live_messages.tick, wake_live),
            ),
        )

"""Read what users ask before and during an order: price, limits, times and contacts. One place for all screens."""

from bot.core.clock import Clock
from bot.infra.i18n import Translator
from bot.orders.destinations.health import PayoutTimeMeasurement
from bot.orders.rules import OrderRules
from bot.settlement.catalogue import ServiceCatalogue
from bot.staff.staff_chat import SupportContacts
from bot.support.user_chat.screens.help import HelpFacts
from bot.support.user_chat.screens.welcome import answer_newcomer
from bot.users.provider import Provider
from bot.users.screens.start import WelcomeFacts


class FactReader:
    """Read the facts."""

    def __init__(
        self,
        *,
        rules: OrderRules,
        payout_times: PayoutTimeMeasurement,
        contacts: SupportContacts,
        catalogue: ServiceCatalogue,
    ) -> None:
        self._rules = rules
        self._payout_times = payout_times
        self._contacts = contacts
        self._catalogue = catalogue

    async def read(self) -> HelpFacts:
        """Return the facts that are known without asking the service."""
        return HelpFacts(
            minimum=self._rules.min_order_idr,
            a_day=self._rules.limits.idr_per_day,
            times=await self._payout_times.get(),
            contacts=self._contacts,
            # Help has to open while the service is down, so the service isn't asked.
            tokens_offered=self._catalogue.may_offer_tokens,
        )


class FirstContact:
    """Read what the welcome answers to newcomers."""

    def __init__(self, *, facts: FactReader, catalogue: ServiceCatalogue, provider: Provider, clock: Clock) -> None:
        self._facts = facts
        self._catalogue = catalogue
        self._provider = provider
        self._clock = clock

    async def read(self, t: Translator) -> WelcomeFacts:
        """Return the facts. If the service doesn't answer or its rate is old, they have no price."""
        quote = await self._catalogue.quote_soon()
        if quote is not None and quote.is_stale(self._clock.now()):
            quote = None
        return answer_newcomer(t, await self._facts.read(), quote, self._provider)

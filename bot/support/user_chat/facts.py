"""Read what users ask before and during an order: price, limits, times and contacts. One place for all screens."""

from typing import Final

from bot.core.clock import Clock
from bot.core.money import SETTLEMENT_FEE_IDR, Amount
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.screen import Button
from bot.orders.destinations.health import PayoutTimeMeasurement
from bot.orders.destinations.screens import format_payout_times
from bot.orders.rules import OrderRules
from bot.rates.model import estimate
from bot.settlement.catalogue import ServiceCatalogue
from bot.settlement.model import Quote
from bot.staff.staff_chat import SupportContacts
from bot.support.user_chat.buttons import HelpButton, HelpPage
from bot.support.user_chat.screens.help import HelpFacts
from bot.support.user_chat.screens.question import format_contact
from bot.users.provider import Provider, format_provider
from bot.users.screens.start import WelcomeFacts

EXAMPLE: Final = 500_000
"""The rupiah whose price the welcome names, if the limits allow them."""


def answer_newcomer(t: Translator, facts: HelpFacts, quote: Quote | None, run_by: Provider) -> WelcomeFacts:
    """Return one line for each answer. Without a `quote` no price is named."""
    contact = format_contact(facts.contacts.contact)
    lines = (
        _format_cost(t, facts, quote),
        _format_time(t, facts),
        t(f"support.welcome.trouble_{facts.contacts.reached_by}", contact=contact),
        *(t("support.welcome.run_by", provider=line) for line in format_provider(t, run_by)),
    )
    return WelcomeFacts(lines, Button(t.plain("support.button.read_more"), data=HelpButton(HelpPage.FIRST).pack()))


def _format_cost(t: Translator, facts: HelpFacts, quote: Quote | None) -> Html:
    fee, minimum = t.rupiah(SETTLEMENT_FEE_IDR), t.rupiah(facts.minimum)
    if quote is None:
        return t("support.welcome.cost_unpriced", fee=fee, minimum=minimum)
    example = max(facts.minimum, min(EXAMPLE, facts.a_day or EXAMPLE))
    worth = estimate(Amount("IDR", example), quote)
    return t("support.welcome.cost", fee=fee, minimum=minimum, amount=t.rupiah(worth.idr), sats=t.sats(worth.sats))


def _format_time(t: Translator, facts: HelpFacts) -> Html:
    if facts.times is None:
        return t("support.welcome.time_unmeasured")
    return t("support.welcome.time", measured=format_payout_times(t, facts.times))


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

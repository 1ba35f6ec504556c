"""Make the pages of `/help`, and read their facts: limits, times and contacts."""

from bot.infra.db.database import Database
from bot.infra.telegram.ui.screen import Screen
from bot.orders.destinations.health import PayoutTimeMeasurement
from bot.orders.repository import OrderRepository
from bot.orders.rules import OrderRules
from bot.settlement.catalogue import ServiceCatalogue
from bot.staff.staff_chat import SupportContacts
from bot.support.buttons import HelpPage
from bot.support.repository import TicketRepository
from bot.support.screens import help as help_screens
from bot.support.screens.help import HelpFacts
from bot.users.model import Provider
from bot.users.session import Session


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


MAX_LISTED = 5
"""How many open tickets `/help` lists."""


class HelpPages:
    """Make the pages that say how the bot works and how to reach support."""

    def __init__(
        self,
        *,
        database: Database,
        facts: FactReader,
        contacts: SupportContacts,
        provider: Provider,
        can_ask: bool,
    ) -> None:
        self._database = database
        self._facts = facts
        self._contacts = contacts
        self._provider = provider
        self._can_ask = can_ask

    async def make(self, session: Session, page: HelpPage) -> Screen:
        """Return a page. The first one is that of senders, also for members of staff."""
        if page not in {HelpPage.FIRST, HelpPage.SENDERS}:
            return help_screens.show_page(session.t, page, await self._facts.read())
        async with self._database.reading() as tx:
            known = await TicketRepository(tx).of_user(session.user.id, limit=MAX_LISTED)
            tickets = [ticket for ticket in known if ticket.is_open]
            orders = [
                await OrderRepository(tx).get_if_readable(ticket.order_reference)
                for ticket in tickets
                if ticket.order_reference
            ]
        by_reference = {order.reference: order for order in orders if order is not None}
        return help_screens.show_first_page(
            session.t, self._contacts, tickets, by_reference, self._provider, can_ask=self._can_ask
        )

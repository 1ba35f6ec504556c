"""Ask for the name that payers see."""

from collections.abc import Mapping

from bot.checkout.buttons import DraftAction
from bot.checkout.draft import OrderDraft
from bot.checkout.steps import holder
from bot.checkout.steps.destination import list_methods
from bot.checkout.steps.handler import TakeAnswer
from bot.infra.telegram.ui.screen import Screen
from bot.payment_requests.rules import PaymentRequestRules
from bot.payment_requests.wording import check_name
from bot.settlement.catalogue import ServiceCatalogue
from bot.users.session import Session


class RequestHolderStep:
    """Ask for the holder's name, which can't be skipped here."""

    def __init__(self, *, catalogue: ServiceCatalogue, rules: PaymentRequestRules) -> None:
        self._catalogue = catalogue
        self._rules = rules

    @property
    def buttons(self) -> Mapping[DraftAction, TakeAnswer]:
        """Return what takes the answer of each button: there is none."""
        return {}

    async def show(self, session: Session, draft: OrderDraft) -> Screen:
        """Return the question."""
        return holder.show_question(session.t, draft)

    async def take_typed(self, _: Session, draft: OrderDraft, text: str) -> OrderDraft:
        """Take the typed name.

        Raises:
            Rejection: it is no name, or not one in which a user can ask.
        """
        name = holder.read_name(text)
        await self.check(name)
        return holder.with_holder(draft, name)

    async def check(self, name: str) -> None:
        """Raise a `Rejection` if nobody can ask in this name."""
        check_name(name, await list_methods(self._catalogue), self._rules.operator_name)

"""Ask for the sum in rupiah, or leave it to the payer."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from bot.checkout.buttons import DraftAction
from bot.checkout.draft import OrderDraft, RequestTerms
from bot.checkout.flow import missing
from bot.checkout.steps.amount import AmountStep
from bot.checkout.steps.handler import TakeAnswer
from bot.core.money import Amount, AmountRejected
from bot.infra.telegram.ui.screen import Screen
from bot.orders.order import Order
from bot.orders.placement.service import OrderService
from bot.payment_requests.screens import ask as screens
from bot.users.session import Session


class RequestAmountStep(AmountStep):
    """Ask for the sum as for an order. The limits of who pays aren't known yet."""

    def __init__(self, *, orders: OrderService) -> None:
        super().__init__(orders=orders)
        self._rules = orders.rules

    @property
    def buttons(self) -> Mapping[DraftAction, TakeAnswer]:
        """Return what takes the answer of each button."""
        return {**super().buttons, DraftAction.SKIP: self._leave_open}

    async def show(self, session: Session, draft: OrderDraft) -> Screen:
        """Return the question, with the choice that the payer decides."""
        return screens.add_open_sum(session.t, draft, await super().show(session, draft))

    async def read_placed(self, _: Session) -> Sequence[Order]:
        """Return no orders, because somebody else will pay."""
        return ()

    async def take_amount(self, _: Session, draft: OrderDraft, amount: Amount) -> OrderDraft:
        """Return the draft with this sum.

        Raises:
            AmountRejected: it isn't in rupiah, or outside the limits of one order.
        """
        if amount.currency != "IDR":
            raise AmountRejected("payment_requests.amount.only_rupiah")
        self._rules.check_amount(draft.method, idr=amount.value, sats=0)
        return _with(draft, amount)

    async def _leave_open(self, _: Session, draft: OrderDraft, __: str) -> OrderDraft:
        """Let the payer decide."""
        return _with(draft, None)


def _with(draft: OrderDraft, amount: Amount | None) -> OrderDraft:
    terms = replace(draft.terms or RequestTerms(), payer_decides=amount is None)
    filled = replace(draft, amount=amount, terms=terms)
    return replace(filled, step=missing(filled))

"""Ask for the amount: in rupiah, thousands, millions, sats or bitcoin. Ask about an ambiguous one."""

from collections.abc import Mapping
from dataclasses import replace

from bot.checkout.buttons import DraftAction
from bot.checkout.draft import OrderDraft
from bot.checkout.flow import missing
from bot.checkout.screens import amount as screens
from bot.checkout.screens import limit_warning
from bot.checkout.steps.handler import TakeAnswer
from bot.core.errors import Rejection
from bot.core.money import Ambiguous, Amount, parse_amount
from bot.infra.telegram.ui.screen import Screen
from bot.orders.placement.service import OrderService
from bot.settlement.model import SettlementFailure
from bot.users.session import Session


class AmountStep:
    """Ask for the amount."""

    def __init__(self, *, orders: OrderService) -> None:
        self._orders = orders

    @property
    def buttons(self) -> Mapping[DraftAction, TakeAnswer]:
        """Return what takes the answer of each button."""
        return {DraftAction.AMOUNT: self._choose}

    async def show(self, session: Session, draft: OrderDraft) -> Screen:
        """Return the question."""
        return screens.screen(session.t, draft, self._orders.rules.min_order_idr)

    async def take_typed(self, session: Session, draft: OrderDraft, text: str) -> OrderDraft | Screen:
        """Take the typed amount, or ask which reading of it is meant."""
        amount = parse_amount(text)
        if isinstance(amount, Ambiguous):
            return screens.readings(session.t, draft, text, amount)
        return await self._with(draft, amount)

    async def _choose(self, _: Session, draft: OrderDraft, argument: str) -> OrderDraft:
        """Take the amount of a button."""
        currency, _slash, value = argument.partition("/")
        if currency not in {"IDR", "SAT"} or not value.isdigit():
            raise Rejection("users.stale.button")
        return await self._with(draft, Amount("SAT" if currency == "SAT" else "IDR", int(value)))

    async def _with(self, draft: OrderDraft, amount: Amount) -> OrderDraft:
        """Return the draft with this amount.

        Raises:
            Rejection: the amount is outside the limits. The rejection names a possible amount.
        """
        draft = replace(draft, amount=amount)
        try:
            await self._orders.estimate_order(draft.user_id, draft.method, amount)
        except SettlementFailure:
            pass  # the answer is kept anyway: the review checks the amount again
        except Rejection as rejection:
            if not limit_warning.is_one(rejection):
                raise
        return replace(draft, step=missing(draft))

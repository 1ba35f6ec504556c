"""Ask how to pay: with Lightning, or a token that the service accepts now."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from bot.checkout.buttons import DraftAction
from bot.checkout.draft import OrderDraft
from bot.checkout.flow import missing
from bot.checkout.screens import channel as screens
from bot.checkout.steps.handler import TakeAnswer
from bot.core.errors import Rejection
from bot.infra.telegram.ui.screen import Screen
from bot.payments.tokens import LIGHTNING
from bot.settlement.catalogue import ServiceCatalogue
from bot.settlement.model import SettlementFailure
from bot.users.session import Session


class ChannelStep:
    """Ask how the user pays."""

    def __init__(self, *, catalogue: ServiceCatalogue) -> None:
        self._catalogue = catalogue

    @property
    def buttons(self) -> Mapping[DraftAction, TakeAnswer]:
        """Return what takes the answer of each button."""
        return {DraftAction.CHANNEL: self._choose}

    async def show(self, session: Session, draft: OrderDraft) -> Screen:
        """Return the question, with the ways that the service offers now."""
        return screens.screen(session.t, draft, await list_channels(self._catalogue))

    async def take_typed(self, _: Session, __: OrderDraft, ___: str) -> OrderDraft:
        """Point to the buttons."""
        raise Rejection("payments.channel.press")

    async def _choose(self, _: Session, draft: OrderDraft, channel: str) -> OrderDraft:
        """Take one of the ways on offer."""
        if channel not in await list_channels(self._catalogue):
            raise Rejection("payments.channel.gone")
        chosen = replace(draft, channel=channel)
        return replace(chosen, step=missing(chosen))


async def list_channels(catalogue: ServiceCatalogue) -> Sequence[str]:
    """Return the ways to pay now. Lightning needs no rails, so it is offered even if the rails can't be read."""
    try:
        return await catalogue.channels()
    except SettlementFailure:
        return (LIGHTNING,)

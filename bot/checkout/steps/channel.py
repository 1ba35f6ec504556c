"""Ask how to pay: with Lightning, or a token that the service accepts now."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from bot.checkout.buttons import DraftAction, draft_data
from bot.checkout.draft import OrderDraft
from bot.checkout.flow import missing
from bot.checkout.screens.parts import leave_row
from bot.checkout.steps.handler import TakeAnswer
from bot.core.errors import Rejection
from bot.infra.i18n import Translator
from bot.infra.telegram.ui.screen import Button, Screen
from bot.orders.screens.formatting import format_channel
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
        return show_question(session.t, draft, await list_channels(self._catalogue))

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


def show_question(t: Translator, draft: OrderDraft, channels: Sequence[str]) -> Screen:
    """Return the ways to pay, with the chosen one marked."""
    rows = tuple(
        (
            Button(
                ("● " if name == draft.channel else "") + format_channel(t, name),
                data=draft_data(draft, DraftAction.CHANNEL, name),
            ),
        )
        for name in channels
    )
    return Screen(t("payments.channel.ask"), (*rows, leave_row(t, draft)))

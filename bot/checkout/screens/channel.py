"""How to pay: Lightning, and the tokens that the service takes just now."""

from collections.abc import Sequence
from dataclasses import replace

from bot.checkout.draft import OrderDraft
from bot.checkout.flow import missing
from bot.checkout.screens.parts import leave_row
from bot.core.errors import Rejection
from bot.infra.i18n import Translator
from bot.infra.telegram.ui import callback_data as data
from bot.infra.telegram.ui.screen import Button, Screen
from bot.infra.telegram.ui.session import Session
from bot.orders.screens.formatting import format_channel
from bot.payments.tokens import LIGHTNING
from bot.settlement.model import SettlementFailure


async def on_offer(session: Session) -> Sequence[str]:
    """How one can pay just now. Lightning needs no rails, so it's there even when they can't be asked for."""
    try:
        return await session.desk.market.channels()
    except SettlementFailure:
        return (LIGHTNING,)


def screen(t: Translator, draft: OrderDraft, channels: Sequence[str]) -> Screen:
    """The ways to pay, the chosen one marked."""
    rows = tuple(
        (
            Button(
                ("● " if name == draft.channel else "") + format_channel(t, name),
                data=data.for_draft(draft, "pay", name),
            ),
        )
        for name in channels
    )
    return Screen(t("channel.ask"), (*rows, leave_row(t, draft)))


async def show(session: Session, draft: OrderDraft) -> Screen:
    """The choice, as `deposit/rails` has it now."""
    return screen(session.t, draft, await on_offer(session))


async def refuse_typed(_: Session, __: OrderDraft, ___: str) -> OrderDraft:
    """Point to the buttons."""
    raise Rejection("channel.press")


async def choose(session: Session, draft: OrderDraft, channel: str) -> OrderDraft:
    """Take one of the ways on offer."""
    if channel not in await on_offer(session):
        raise Rejection("channel.gone")
    chosen = replace(draft, channel=channel)
    return replace(chosen, ask=missing(chosen))

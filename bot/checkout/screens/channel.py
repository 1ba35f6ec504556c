"""How to pay: Lightning, and the tokens that the service takes just now."""

from collections.abc import Sequence
from dataclasses import replace

from bot.checkout.draft import OrderDraft, missing
from bot.checkout.screens.parts import leave_row
from bot.core.errors import Rejection
from bot.infra.i18n import Translator
from bot.infra.telegram.ui import callback_data as data
from bot.infra.telegram.ui.screen import Button, Screen
from bot.infra.telegram.ui.session import Pressed, Said, Session
from bot.orders.screens import phrases as words
from bot.payments.tokens import LIGHTNING
from bot.settlement.model import SettlementFailure


async def on_offer(visit: Session) -> Sequence[str]:
    """How one can pay just now. Lightning needs no rails, so it's there even when they can't be asked for."""
    try:
        return await visit.desk.market.channels()
    except SettlementFailure:
        return (LIGHTNING,)


def screen(t: Translator, draft: OrderDraft, channels: Sequence[str]) -> Screen:
    """The ways to pay, the chosen one marked."""
    rows = tuple(
        (
            Button(
                ("● " if name == draft.channel else "") + words.channel(t, name),
                data=data.for_draft(draft, "pay", name),
            ),
        )
        for name in channels
    )
    return Screen(t("channel.ask"), (*rows, leave_row(t, draft)))


async def show(visit: Session, draft: OrderDraft) -> Screen:
    """The choice, as `deposit/rails` has it now."""
    return screen(visit.t, draft, await on_offer(visit))


async def answer(visit: Session, draft: OrderDraft, said: Said) -> OrderDraft | Screen:
    """One of the ways on offer."""
    if not isinstance(said, Pressed):
        raise Rejection("channel.press")
    if said.action != "pay" or said.argument not in await on_offer(visit):
        raise Rejection("channel.gone")
    draft = replace(draft, channel=said.argument)
    return replace(draft, ask=missing(draft))

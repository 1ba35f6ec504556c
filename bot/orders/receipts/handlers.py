"""Receipts as messages: drawn for whoever sent the rupiah, as news of the order and whenever they ask for one again."""

from dataclasses import dataclass, field
from datetime import tzinfo

from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui import callback_data as data
from bot.infra.telegram.ui.screen import Keyboard
from bot.infra.telegram.ui.session import Session
from bot.orders.order import Order
from bot.orders.receipts.picture import render_receipt_off_loop
from bot.orders.receipts.screens import receipt
from bot.orders.receipts.service import Receipts
from bot.settlement.steps import COMPLETED


@dataclass(frozen=True, slots=True)
class Picture:
    """A receipt that is ready to be sent."""

    png: bytes = field(repr=False)
    caption: Html = field(repr=False)
    keyboard: Keyboard


async def draw(receipts: Receipts, t: Translator, order: Order, zone: tzinfo, bot: str) -> Picture | None:
    """The receipt of `order` in its reader's language and time; None where it has none, or none any more.

    `bot` is the bot's name, as for `screens.receipt.facts`.
    """
    made = await receipts.of(order)
    if made is None:
        return None
    png = await render_receipt_off_loop(receipt.facts(t, order, made, zone, bot))
    return Picture(png, receipt.caption(t, order, made, bot), receipt.keyboard(t, order))


async def show(session: Session, order: Order) -> None:
    """The receipt once more, at the end of the chat."""
    if order.state != COMPLETED:
        await session.acknowledge(session.t.plain("receipt.none" if order.is_ended else "receipt.not_yet"), alert=True)
        return
    desk, button = session.desk, data.for_order(order.reference, "receipt")
    if desk.second_taps.is_second(session.chat_id, button, desk.clock.now()):
        await session.acknowledge()
        return
    drawn = await draw(desk.receipts, session.t, order, session.zone, desk.messenger.username)
    if drawn is None:
        await session.acknowledge(session.t.plain("receipt.gone"), alert=True)
        return
    await session.acknowledge()
    if await session.post_picture(drawn.png, drawn.caption, drawn.keyboard):
        desk.second_taps.answered(session.chat_id, button, desk.clock.now())

"""Where an order stands, shown: at the end of the chat, or after the service has been asked once more."""

from datetime import timedelta

from bot.infra.outbox.repository import OutboxRepository
from bot.infra.telegram.outbound.sender import Delivered, Outcome
from bot.infra.telegram.ui.screen import Screen
from bot.infra.telegram.ui.session import Session
from bot.orders.notifications import subject_of
from bot.orders.order import Order, OrderNotification, Phase
from bot.orders.screens import outcome
from bot.settlement.model import SettlementFailure

LOOK_GAP = timedelta(seconds=1)
"""Settlement API, 6.3: no order is asked for more than once a second."""


def screen_of(session: Session, order: Order) -> Screen:
    """The order's card, or what there is to know or decide instead."""
    now = session.desk.clock.now()
    return outcome.state(session.t, order, now, session.zone, help_offered=session.desk.help.is_offered)


async def looked_at(session: Session, order: Order) -> Order:
    """The order after asking the service now, unless it was asked a moment ago; where it can't be, that is noted."""
    now = session.desk.clock.now()
    asked_just_now = order.looked_at is not None and now - order.looked_at < LOOK_GAP
    if order.phase is not Phase.OPEN or order.service_id is None or asked_just_now:
        return order
    try:
        report = await session.desk.settlement.look_up(order.service_id)
    except SettlementFailure:
        session.notice = session.t("card.cannot_look")
        return order
    return await session.desk.observer.observe(order.reference, report, asked_at=now) or order


async def show_at_the_end(session: Session, order: Order) -> Outcome:
    """Show where the order stands at the end of the chat. A card moves there: one an order is alive."""
    await session.acknowledge()
    sent = await session.send(screen_of(session, order))
    message_id = sent.message_id if isinstance(sent, Delivered) else None
    if message_id is None or order.phase not in {Phase.OPEN, Phase.DONE}:
        return sent
    async with session.desk.store.transaction() as tx:
        before = await OutboxRepository(tx).message_of(subject_of(order), OrderNotification.CARD, session.chat_id)
        await OutboxRepository(tx).replace_message(
            subject_of(order), OrderNotification.CARD, session.chat_id, message_id
        )
    if before is not None and before != message_id:
        await session.desk.messenger.delete(session.chat_id, before, lane="talk")
    return sent


async def show_as_decided(session: Session, order: Order) -> None:
    """The moment of a button has passed: say so, and show where the order stands now."""
    await session.acknowledge(session.t.plain("stale.order"))
    await show_at_the_end(session, order)

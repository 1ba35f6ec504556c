"""A problem with a paid order and its ticket are one message, and what is written in reply to it is of the ticket."""

from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any, cast

import pytest

from bot.infra.db.database import Database
from bot.infra.i18n import LOCALES
from bot.infra.outbox.model import Notification, Sent, StoredNotification
from bot.infra.outbox.rendering import Renderers
from bot.infra.outbox.repository import OutboxRepository
from bot.infra.telegram.outbound.sender import Delivered, Outcome
from bot.orders.messages import OrderMessages, order_notifications
from bot.orders.notifications import OrderNotification
from bot.orders.order import Order, Phase
from bot.orders.repository import OrderRepository
from bot.settlement.model import OrderStep
from bot.staff.staff_chat import StaffChat, SupportContacts
from bot.support.model import Cause, Ticket
from bot.support.notifications import StaffNotification
from bot.support.repository import BotMessageRepository, TicketRepository
from bot.support.user_messages import ReplyTime, UserMessages, describe_ticket
from bot.users.readers import RenderContext, RenderContexts
from bot.users.repository import UserRepository
from tests.infra.builders import an_infra, as_stored
from tests.orders.builders import an_open_order
from tests.screens import NOW
from tests.settlement.fake_settlement import MovedClock
from tests.texts import label, like, readable, says
from tests.users.builders import EMMA, a_user

RINA = 3001
STAFF_CHAT = StaffChat(0, frozenset({RINA}))


class Telegram:
    """A fake Telegram that keeps texts and buttons."""

    username = "kirim"

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.keyboards: list[Any] = []

    async def send_text(self, *given: Any, **_: Any) -> Outcome:
        self.texts.append(given[1])
        self.keyboards.append(given[2])
        return Delivered(70 + len(self.texts))


def messages_to_users() -> UserMessages:
    return UserMessages(STAFF_CHAT, reopen_within=timedelta(days=7))


def sender_of(store: Database, telegram: Telegram) -> Renderers[RenderContext]:
    clock = MovedClock()
    clock.at = NOW
    described = partial(describe_ticket, ReplyTime(store, clock))
    messages = OrderMessages(
        describe_ticket=described, contacts=SupportContacts(STAFF_CHAT), receipts=cast("Any", None)
    )
    readers = RenderContexts(an_infra(store, clock, telegram))
    return Renderers(readers.open, messages.renderers())


def a_failed_order(**changes: Any) -> Order:
    end: dict[str, Any] = {"state": "FAILED", "phase": Phase.DONE, "ended_at": NOW, "paid_at": NOW}
    return replace(an_open_order(user_id=EMMA), step=OrderStep.SENDING, **{**end, **changes})


async def save(store: Database, order: Order, ticket: Ticket | None = None, locale: str = "en") -> None:
    async with store.transaction() as tx:
        await UserRepository(tx).save(a_user(EMMA, locale=locale))
        await OrderRepository(tx).add(order)
        if ticket is not None:
            assert await TicketRepository(tx).add(ticket)


async def send(store: Database, telegram: Telegram, order: Order, kind: OrderNotification) -> StoredNotification:
    (notification,) = order_notifications(order, (kind,), NOW)
    assert isinstance(await sender_of(store, telegram).send(as_stored(notification)), Sent)
    return cast("StoredNotification", notification)


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize(
    ("kind", "cause", "said"),
    [
        (OrderNotification.FAILED, Cause.FAILED, "orders.notification.failed_paid"),
        (OrderNotification.OVERDUE, Cause.STUCK, "orders.notification.overdue"),
    ],
)
async def test_a_problem_and_its_ticket_are_one_message(
    sqlite_store: Database, kind: OrderNotification, cause: Cause, said: str, locale: str
) -> None:
    order, telegram = a_failed_order(), Telegram()
    if kind is OrderNotification.OVERDUE:
        order = replace(order, state="IDR_SETTLED", phase=Phase.OPEN, ended_at=None)
    ticket = Ticket.open(EMMA, NOW, order_reference=order.reference, cause=cause)
    await save(sqlite_store, order, ticket, locale)
    await send(sqlite_store, telegram, order, kind)
    (words,) = map(readable, telegram.texts)
    assert says(words, said, locale)
    assert says(words, "support.ticket.heading", locale, ticket=ticket.reference)
    has_failed = kind is OrderNotification.FAILED
    assert says(words, f"support.ticket.by_itself{'_failed' if has_failed else ''}", locale)
    assert says(words, "orders.asked.nothing_needed", locale) is has_failed
    (keyboard,) = telegram.keyboards
    assert [button.label for row in keyboard for button in row] == [label("support.button.write_to_support", locale)]


async def test_a_problem_without_a_ticket_leads_to_support_as_before(sqlite_store: Database) -> None:
    order, telegram = a_failed_order(), Telegram()
    await save(sqlite_store, order)
    await send(sqlite_store, telegram, order, OrderNotification.FAILED)
    assert label("support.ticket.by_itself") not in readable(telegram.texts[0])
    assert telegram.keyboards[0][0][0].label == label("orders.button.help")


async def test_an_unpaid_failure_says_nothing_of_a_ticket(sqlite_store: Database) -> None:
    order, telegram = a_failed_order(paid_at=None), Telegram()
    order = replace(order, step=OrderStep.CREATED)
    await save(sqlite_store, order, Ticket.open(EMMA, NOW, order_reference=order.reference))
    await send(sqlite_store, telegram, order, OrderNotification.FAILED)
    assert says(readable(telegram.texts[0]), "orders.notification.failed_unpaid")
    assert like("support.ticket.heading") not in readable(telegram.texts[0])


async def test_the_message_belongs_to_the_ticket_and_the_staff_see_that_it_arrived(sqlite_store: Database) -> None:
    order, telegram = a_failed_order(), Telegram()
    ticket = Ticket.open(EMMA, NOW, order_reference=order.reference, cause=Cause.FAILED)
    await save(sqlite_store, order, ticket)
    notification: Notification[Any] = await send(sqlite_store, telegram, order, OrderNotification.FAILED)
    async with sqlite_store.transaction() as tx:
        follow_ups = messages_to_users().follow_ups()
        await follow_ups[OrderNotification.FAILED](tx, notification, Sent(71), NOW)
        bot_message = await BotMessageRepository(tx).get(EMMA, 71)
        cards = await OutboxRepository(tx).find_by_subject(f"ticket:{ticket.reference}")
    assert bot_message is not None
    assert bot_message.ticket == ticket.reference
    assert [(each.kind, each.chat_id) for each in cards] == [(StaffNotification.CARD, RINA)]

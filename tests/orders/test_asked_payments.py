"""A payment that is only seen because its payer asks is told once. The clock is the test's: no poll comes between."""

from typing import Any

from bot.infra.telegram.ui.reader import Reader
from bot.orders.notifications import OrderNotification
from bot.orders.status_handlers import StatusAnswers, StatusMessages
from bot.staff.staff_chat import StaffChat, SupportContacts
from bot.users.model import User
from tests.orders.order_system import EMMA, OrderSystem
from tests.screens import JAKARTA
from tests.texts import TRANSLATIONS


class Asking:
    """A session of Emma that keeps what is said besides the outbox."""

    def __init__(self, system: OrderSystem) -> None:
        self.user, self.chat_id, self.now = User(id=EMMA, created_at=system.clock.now()), EMMA, system.clock.now()
        self.notice, self.t = None, str
        self.reader = Reader(TRANSLATIONS.get("en"), JAKARTA, self.now)
        self.said: list[object] = []


async def ask(system: OrderSystem) -> Asking:
    contacts = SupportContacts(StaffChat(0, frozenset()))
    messages = StatusMessages(system.infra, system.settlement, system.tracker, contacts)
    handlers = StatusAnswers(database=system.store, status_messages=messages, contacts=contacts)
    session: Any = Asking(system)

    async def show(asked: Asking, order: object, *_: object, **__: object) -> None:
        asked.said.append(order)

    handlers._show = show  # type: ignore[assignment,method-assign]
    assert await handlers.show_meant(session, "i paid already")
    await system.deliver()
    return session  # type: ignore[no-any-return]


async def test_a_payment_that_is_only_seen_when_its_payer_asks_is_told_once(system: OrderSystem) -> None:
    order = await system.place()
    await system.poll()
    system.sender.sent.clear()
    system.service.becomes(order.service_id or "", "LN_INVOICE_PAID")
    system.clock.passes(seconds=2)
    asked = await ask(system)
    assert asked.said == []
    assert system.sender.kinds(EMMA)[0] == OrderNotification.PAID
    asked = await ask(system)
    assert [each.is_paid for each in asked.said] == [True]  # type: ignore[attr-defined]


async def test_who_asks_within_a_second_of_a_poll_hears_what_it_saw(system: OrderSystem) -> None:
    order = await system.place()
    await system.poll()
    system.service.becomes(order.service_id or "", "LN_INVOICE_PAID")
    reads = system.service.times("look_up")
    asked = await ask(system)
    assert [each.is_paid for each in asked.said] == [False]  # type: ignore[attr-defined]
    assert system.service.times("look_up") == reads

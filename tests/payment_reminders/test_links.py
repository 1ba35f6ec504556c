"""An order from a link hides its number: its payer learns nothing of it, also with the same account saved."""

from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import AsyncMock

import pytest

from bot.orders.order import Order, payer_in_chat
from bot.payment_reminders.handlers import ReminderHandlers
from bot.payment_reminders.service import ReminderService
from bot.recipients.repository import RecipientRepository
from bot.recipients.service import RecipientService
from tests.orders.order_system import EMMA, OrderSystem
from tests.orders.payers import LINK, place_for
from tests.recipients.builders import a_recipient
from tests.texts import TRANSLATIONS, text


async def offer(system: OrderSystem, order: Order) -> tuple[Any, Any]:
    """Ask for a reminder of an order, and of its account among the saved ones. Return both sessions."""
    recipient = a_recipient("0" * 16, EMMA, method=order.method, number=order.number)
    async with system.sql.transaction() as tx:
        await RecipientRepository(tx).save(recipient)
    handlers = ReminderHandlers(
        ReminderService(system.infra, 8), RecipientService(system.store), repeating=cast("Any", None)
    )
    sessions = []
    for act, about in ((handlers.offer_for_order, order), (handlers.offer_for_recipient, recipient)):
        session = SimpleNamespace(
            infra=system.infra,
            user=SimpleNamespace(id=EMMA),
            t=TRANSLATIONS.get("en"),
            acknowledge=AsyncMock(),
            explain=AsyncMock(),
            show=AsyncMock(),
            with_resume=lambda screen: screen,
        )
        await cast("Any", act)(session, about)
        sessions.append(session)
    return sessions[0], sessions[1]


@pytest.mark.parametrize("origin", [None, LINK])
async def test_no_reminder_repeats_an_order_from_a_link_or_its_amount(system: OrderSystem, origin: str | None) -> None:
    order = await place_for(system, payer_in_chat(EMMA), origin=origin)
    under_receipt, of_recipient = await offer(system, order)
    if origin is None:
        assert under_receipt.show.await_count == of_recipient.show.await_count == 1
    else:
        under_receipt.acknowledge.assert_awaited_once_with(text("payment_reminders.not_saved"), alert=True)
        of_recipient.explain.assert_awaited_once_with("payment_reminders.no_order")
        assert under_receipt.show.await_count == of_recipient.show.await_count == 0

"""The payer of a link never sees the whole number: in no screen, no message, no button and no file."""

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

from bot.checkout.draft import repeat_order
from bot.infra.i18n import LOCALES, Translator
from bot.infra.telegram.ui.callbacks import read_button
from bot.infra.telegram.ui.screen import Screen
from bot.orders import user_data
from bot.orders.alarms import OrderInAlarm
from bot.orders.buttons import OrderAction, OrderButton
from bot.orders.history import HistoryPage
from bot.orders.notifications import OrderNotification
from bot.orders.order import HoldReason, Order, Phase, payer_in_chat
from bot.orders.receipts import screens
from bot.orders.receipts.codes import ReceiptLinks
from bot.orders.screens import order_messages, order_page
from bot.orders.screens import payment as pay
from bot.orders.screens.formatting import format_sent
from bot.orders.screens.order_lists import show_history, show_missed, show_open_orders
from bot.orders.user_data import export_order
from bot.recipients.repository import RecipientRepository
from bot.staff.model import Alarm, AlarmKind
from bot.staff.screens import show_raised
from bot.support.model import Ticket
from bot.support.screens.saved_replies import variable_values
from tests.orders.builders import REPORTS, a_receipt, an_open_order, every_event_of, some_evidence
from tests.orders.order_system import EMMA, NUMBER, OrderSystem
from tests.orders.payers import LINK, place_for
from tests.orders.samples import some_orders
from tests.screens import JAKARTA, NOW, Outside, ScreenCase
from tests.settlement.builders import LISTED_BCA
from tests.texts import TRANSLATIONS

WHOLE = "1234567890"
REPEATS = {OrderAction.REQUOTE, OrderAction.RESEND, OrderAction.REMIND}
"""The actions that begin a draft with the order's recipient."""


def from_a_link(order: Order) -> Order:
    """Return the order as one that was made from a link, with a refusal that quotes the number."""
    return replace(order, origin=LINK, refusal=f"no account {order.number} 1234 5678 90")


def all_of_one(outside: Outside, order: Order) -> Iterator[ScreenCase]:
    """Yield everything that the payer of one order can be shown of it."""
    reader, t = outside.reader, outside.t
    events = every_event_of(order)
    yield ScreenCase("page", order_page.screen(reader, order, events, help_offered=True))
    yield ScreenCase("status", order_messages.show_status_or_question(reader, order, help_offered=True))
    yield ScreenCase("status message", order_messages.show_status(reader, order, help_offered=True))
    for kind in REPORTS:
        if kind not in {OrderNotification.PAID, OrderNotification.PAID_LATE, OrderNotification.SENT}:
            yield ScreenCase(kind, order_messages.show_notification(kind, reader, order, help_offered=True))
    page = HistoryPage((order,), order.reference, None, None, 0, 1)
    yield ScreenCase("history", show_history(reader, page))
    yield ScreenCase("open orders", show_open_orders(reader, [order]))
    yield ScreenCase("missed orders", show_missed(reader, [order]))
    yield ScreenCase("asked", order_messages.show_answer(reader, order, help_offered=True))
    links = ReceiptLinks("kirim", "https://pay.example.com")
    yield ScreenCase("receipt as text", screens.as_text(t, order, a_receipt(), links))
    yield ScreenCase("receipt", Screen(format_sent(t, order), screens.build_keyboard(t, order)))
    yield ScreenCase("verification", screens.show_genuine(t, order, JAKARTA))
    yield ScreenCase("privacy", Screen("\n".join(user_data.stored_orders((order,), 1, ()).format_rows(t))))
    yield ScreenCase("deletion waits", Screen(user_data.OpenOrders((order,)).details(t, NOW)))
    alarm = Alarm(kind=AlarmKind.ORDER_FAILED, subject=order.reference, raised_at=NOW)
    yield ScreenCase("operators", show_raised(reader, alarm, {order.reference: OrderInAlarm(order)}))
    if order.bolt11 is not None or order.deposit is not None:
        paid = pay.build_payment(reader, order, "MANGO LAUT")
        yield ScreenCase("payment", Screen(f"{paid.caption}{paid.follow_up or ''}", paid.keyboard))
    facts = screens.build_facts(t, order, a_receipt().code, JAKARTA, links)
    yield ScreenCase("picture of the receipt", Screen(f"{facts.recipient} {facts.rows} {facts.meanings}"))
    replies = variable_values(t, Ticket.open(EMMA, NOW, order_reference=order.reference), order)
    yield ScreenCase("saved replies", Screen(" ".join(replies.values())))


def shows_number(text: str) -> bool:
    """Return whether the whole number is in a text, however it is grouped."""
    return WHOLE in re.sub(r"[ .\-\u00a0]", "", text)


def actions(case: ScreenCase) -> set[OrderAction]:
    buttons = [read_button(button.data) for button in case.buttons if button.data]
    return {each.action for each in buttons if isinstance(each, OrderButton)}


def link_orders(t: Translator) -> Iterator[Order]:
    orders = [order for order in some_orders(Outside(t, LISTED_BCA)) if order.number]
    held = replace(orders[0], phase=Phase.NEEDS_CONFIRMATION, hold_reason=HoldReason.RECIPIENT_MASKED, sats=1, idr=1)
    refused = replace(orders[0], phase=Phase.REFUSED)
    yield from map(from_a_link, (*orders, held, refused))


@pytest.mark.parametrize("locale", LOCALES)
def test_no_screen_of_a_link_s_order_has_the_number_or_begins_a_draft_with_it(locale: str) -> None:
    outside = Outside(TRANSLATIONS.get(locale), LISTED_BCA)
    seen = [case for order in link_orders(outside.t) for case in all_of_one(outside, order)]
    for case in seen:
        assert not shows_number(case.text), f"{case.name}: {case.text}"
        assert not actions(case) & REPEATS, case.name
        for button in case.buttons:
            assert not shows_number("".join(filter(None, (button.data, button.url, button.copy, button.label))))
    assert {OrderAction.OPEN_LINK} <= {action for case in seen for action in actions(case)}


@pytest.mark.parametrize("locale", LOCALES)
def test_the_same_screens_of_an_ordinary_order_repeat_it_and_show_its_payer_their_own_number(locale: str) -> None:
    # Otherwise the test above would show nothing.
    outside = Outside(TRANSLATIONS.get(locale), LISTED_BCA)
    ordinary = [replace(order, origin=None) for order in link_orders(outside.t)]
    seen = [case for order in ordinary for case in all_of_one(outside, order)]
    assert {action for case in seen for action in actions(case)} >= REPEATS
    assert OrderAction.OPEN_LINK not in {action for case in seen for action in actions(case)}
    assert {case.name for case in seen if shows_number(case.text)} >= {
        "page",  # the service's reason
        OrderNotification.REFUSED,
        OrderNotification.RECIPIENT_MASKED,
    }


def test_the_exported_file_has_the_last_digits_and_not_what_can_quote_the_number() -> None:
    for order in link_orders(TRANSLATIONS.get("en")):
        exported = export_order(replace(order, evidence=some_evidence()), (), None)
        assert not shows_number(str(exported))
        assert "••••7890" in str(exported)
        assert "WARUNG SARI" not in str(exported), "the service's name of the recipient's shop"
        own = export_order(replace(order, origin=None, evidence=some_evidence()), (), None)
        assert shows_number(str(own))
        assert "WARUNG SARI" in str(own)


@pytest.mark.parametrize("origin", [None, LINK])
def test_no_payers_file_has_the_operators_account_at_the_service(origin: str | None) -> None:
    order = an_open_order(origin=origin, evidence=some_evidence())
    exported = str(export_order(order, (), None))
    assert "redeem_5f2c" in exported
    assert "tenant" not in exported


async def test_an_order_from_a_link_saves_no_recipient_and_offers_to_save_none(
    system: OrderSystem,
) -> None:
    await place_for(system, payer_in_chat(EMMA))
    async with system.store.reading() as tx:
        assert await RecipientRepository(tx).find_by_user(EMMA) == ()
    await place_for(system, payer_in_chat(EMMA), origin=None)
    async with system.store.reading() as tx:
        (saved,) = await RecipientRepository(tx).find_by_user(EMMA)
    assert saved.number == NUMBER


def test_no_draft_repeats_what_its_payer_may_not_see() -> None:
    (order, *_) = link_orders(TRANSLATIONS.get("en"))
    with pytest.raises(ValueError, match="can't be repeated"):
        repeat_order(order, order.method, NOW)
    assert repeat_order(replace(order, origin=None), order.method, NOW).number == WHOLE

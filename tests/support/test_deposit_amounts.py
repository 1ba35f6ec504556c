"""A deposit is paid in its token, so no screen about it says sats: neither to its sender nor to staff."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from bot.infra.i18n import LOCALES
from bot.infra.telegram.ui.reader import Reader
from bot.orders.notifications import OrderNotification
from bot.orders.order import Order
from bot.orders.receipts.screens import format_rows
from bot.orders.screens import order_messages, order_page
from bot.orders.screens.payment import build_payment
from bot.payments.tokens import TOKENS
from bot.support.cases import Case
from bot.support.screens.case import format_case
from tests.orders.builders import REPORTS, a_deposit_order, orders_in_each_state
from tests.screens import JAKARTA, NOW
from tests.texts import TRANSLATIONS


def texts_about(reader: Reader, order: Order) -> Iterator[str]:
    yield order_messages.show_status(reader, order, help_offered=True).text
    # The status message reports the payment, and the receipt reports the transfer.
    for kind in set(REPORTS).difference({OrderNotification.PAID, OrderNotification.PAID_LATE, OrderNotification.SENT}):
        yield order_messages.show_notification(kind, reader, order, help_offered=True, staff_notified=True).text
    yield order_page.screen(reader, order, (), help_offered=True).text
    yield format_case(reader, Case(user_id=1001, user=None, order=order))
    yield str(format_rows(reader.t, order, JAKARTA))


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("code", TOKENS)
def test_the_amounts_of_a_deposit_are_in_its_token_everywhere(code: str, locale: str) -> None:
    reader, deposit, symbol = Reader(TRANSLATIONS.get(locale), JAKARTA, NOW), a_deposit_order(code), TOKENS[code].symbol
    assert f"0.00029412</code> <b>{symbol}" in build_payment(reader, deposit, None).caption
    assert "sats" not in build_payment(reader, deposit, None).caption
    for moment, order in orders_in_each_state():
        about = tuple(texts_about(reader, replace(order, channel=code, bolt11=None, deposit=deposit.deposit)))
        assert not [said for said in about if "sats" in said], moment
        assert [said for said in about if f"0.00029412 {symbol}" in said or f"0.0002941 {symbol}" in said], moment

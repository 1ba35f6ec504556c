"""The card tells an order's whole way at a glance."""

from dataclasses import replace

import pytest

from bot.chat.screens import card
from bot.domain.order import Order, Phase
from bot.domain.timeline import Step
from tests.unit.every_screen import JAKARTA, NOW, TRANSLATIONS, Seen, an_order, at_each_moment

MOMENTS = dict(at_each_moment())
WAYS = {
    "IDLE": "✅ Order made|⏳ Your payment|▫️ Converting|▫️ Sending rupiah|▫️ Sent",
    "LN_INVOICE_PAID": "✅ Order made|✅ Payment received|▫️ Converting|▫️ Sending rupiah|▫️ Sent",
    "LN_SWAP_PENDING": "✅ Order made|✅ Payment received|⏳ Converting|▫️ Sending rupiah|▫️ Sent",
    "P2PM_ORDER_PLACED": "✅ Order made|✅ Payment received|✅ Converting|⏳ Sending rupiah|▫️ Sent",
    "COMPLETED": "✅ Order made|✅ Payment received|✅ Converting|✅ Sending rupiah|✅ Sent",
    "expired": "✅ Order made|⌛ Invoice expired",
    "failed unpaid": "✅ Order made|❌ Failed",
    "failed expired": "✅ Order made|⌛ Invoice expired",
    "failed paid": "✅ Order made|✅ Payment received|✅ Converting|❌ Sending rupiah",
    "failed paid between two looks": "✅ Order made|✅ Payment received|❌ Failed",
    "never heard of": "✅ Order made|⏳ Your payment|▫️ Converting|▫️ Sending rupiah|▫️ Sent",
}


def the_card(order: Order, locale: str = "en", *, help_offered: bool = True) -> Seen:
    screen = card.screen(TRANSLATIONS.get(locale), order, NOW, JAKARTA, help_offered=help_offered)
    return Seen("card", screen)


def labels(order: Order, *, help_offered: bool = True) -> list[str]:
    return [button.label for button in the_card(order, help_offered=help_offered).buttons]


@pytest.mark.parametrize(("moment", "way"), WAYS.items())
def test_each_moment_of_an_order_has_its_picture(moment: str, way: str) -> None:
    assert the_card(MOMENTS[moment]).text.split("\n\n")[1].replace("\n", "|") == way


def test_the_heading_says_amount_recipient_price_and_reference_and_the_holder_if_given() -> None:
    heading = the_card(MOMENTS["IDLE"]).text.split("\n\n")[0]
    assert heading == "Rp500,000 → BCA ••••7890\nBUDI & <i>SANTOSO</i>\nTo pay: 29,412 sats\nOrder ABC2345"
    nameless = the_card(MOMENTS["nameless"], "id").text.split("\n\n")[0]
    assert nameless == "Rp500.000 → BCA ••••7890\nYang dibayar: 29.412 sat\nPesanan ABC2345"


def test_an_order_that_can_be_paid_says_until_when_in_its_readers_zone() -> None:
    seen = the_card(MOMENTS["IDLE"])
    assert seen.text.endswith("Waiting for your payment, until 11:05 WIB.")
    assert '<tg-time unix="' in seen.screen.text


def test_a_lapsed_order_offers_a_new_quote_and_a_paid_one_never_does() -> None:
    assert labels(MOMENTS["expired"]) == ["New quote, same recipient", "Refresh"]
    paid_late = replace(MOMENTS["expired"], step=Step.PAID, paid_at=NOW)
    assert labels(paid_late) == ["Refresh", "Talk to a person"]
    assert "New quote" not in "".join(labels(MOMENTS["failed paid"]))


def test_a_failed_order_leads_to_a_person_where_there_is_one() -> None:
    assert labels(MOMENTS["failed paid"]) == ["Talk to a person"]
    assert labels(MOMENTS["failed paid"], help_offered=False) == []


def test_an_expired_order_is_never_said_to_be_unpaid() -> None:
    for moment in ("expired", "failed expired"):
        assert "not paid" not in the_card(MOMENTS[moment]).text.lower()
        assert "Should a payment still come in" in the_card(MOMENTS[moment]).text


def test_an_e_wallet_is_not_called_a_bank() -> None:
    sent = an_order(replace(MOMENTS["IDLE"].method, kind="ewallet"), state="COMPLETED", step=Step.SENT)
    sent = replace(sent, phase=Phase.DONE, paid_at=NOW, ended_at=NOW)
    assert "sent to the e-wallet" in the_card(sent).text
    assert "bank" not in the_card(sent).text
    assert labels(sent) == ["Send again", "Receipt"]

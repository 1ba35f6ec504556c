"""The list of all orders, and one order's page: what is there to see, and what can be done."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bot.actions.history import HistoryPage
from bot.actions.ports import OrderEvent
from bot.chat.screens import history, order_page
from bot.domain.order import Order, Phase
from bot.domain.timeline import Step
from tests.unit.every_screen import GOPAY, JAKARTA, NOW, TRANSLATIONS, Seen, a_deposit, an_order, at_each_moment

EN, ID = TRANSLATIONS.get("en"), TRANSLATIONS.get("id")
MOMENTS = dict(at_each_moment())
HELD = OrderEvent(reference="ABC2345", at=NOW, phase=Phase.HELD, state="")


def listed(page: HistoryPage, locale: str = "en") -> Seen:
    return Seen("history", history.screen(TRANSLATIONS.get(locale), page, NOW, JAKARTA))


def page_of(order: Order, events: Sequence[OrderEvent] = (), *, help_offered: bool = True, locale: str = "en") -> Seen:
    t = TRANSLATIONS.get(locale)
    return Seen("page", order_page.screen(t, order, events, NOW, JAKARTA, help_offered=help_offered))


def buttons(seen: Seen) -> dict[str, str | None]:
    return {button.label: button.data for button in seen.buttons}


def ended(**changes: Any) -> Order:
    known: dict[str, Any] = {
        "state": "COMPLETED",
        "step": Step.SENT,
        "phase": Phase.DONE,
        "paid_at": NOW,
        "ended_at": NOW,
    }
    return an_order(**{**known, **changes})


def test_each_order_is_listed_with_its_mark_its_day_and_where_it_stands() -> None:
    orders = (
        an_order(),
        ended(reference="DEF2345", created_at=NOW - timedelta(days=1)),
        an_order(GOPAY, reference="GHK2345", expires_at=NOW, created_at=NOW - timedelta(days=365)),
    )
    seen = listed(HistoryPage(orders, "", None, None, 0, 3))
    assert seen.text == (
        "Your orders\n\n"
        "⏳ Rp500,000 → BCA ••••7890\nABC2345 · today · Waiting for payment\n\n"
        "✅ Rp500,000 → BCA ••••7890\nDEF2345 · 16 Aug · Sent\n\n"
        "⌛ Rp500,000 → GoPay ••••7890\nGHK2345 · 17 Aug 2025 · Invoice expired"
    )
    assert buttons(seen) == {
        "ABC2345": "o:ABC2345:page",
        "DEF2345": "o:DEF2345:page",
        "GHK2345": "o:GHK2345:page",
        "Send rupiah": "new",
    }
    assert "ABC2345 · hari ini · Menunggu pembayaran" in listed(HistoryPage(orders, "", None, None, 0, 3), "id").text


def test_the_neighbouring_pages_are_one_tap_away_and_only_where_there_are_some() -> None:
    order = (an_order(),)
    middle = buttons(listed(HistoryPage(order, "ABC2345", "", "XYZ2345", 6, 13)))
    assert middle == {
        "ABC2345": "o:ABC2345:page",
        "\u2039 Newer": "h:",
        "7\u20137 of 13": "h:ABC2345",
        "Older \u203a": "h:XYZ2345",
        "Send rupiah": "new",
    }
    assert {"1\u20131 of 2", "Older \u203a"} < buttons(listed(HistoryPage(order, "", None, "XYZ2345", 0, 2))).keys()
    assert "\u2039 Newer" not in buttons(listed(HistoryPage(order, "", None, "XYZ2345", 0, 2)))


def test_who_has_ordered_nothing_is_told_so_and_offered_to() -> None:
    seen = listed(HistoryPage((), "", None, None, 0, 0))
    assert (seen.text, buttons(seen)) == ("You haven't ordered anything yet.", {"Send rupiah": "new"})


def test_a_page_says_who_was_paid_what_it_cost_and_both_references() -> None:
    seen = page_of(ended(service_id="cmq1a2b3c"))
    assert seen.text.split("\n\n")[:2] == [
        "✅ Sent\nRp500,000 → BCA ••••7890\nBUDI & <i>SANTOSO</i>",
        "Paid: 29,412 sats · Lightning\nRate: 1 BTC = Rp1,700,000,000\nOrder: ABC2345\nAt the service: cmq1a2b3c",
    ]
    assert "<code>ABC2345</code>" in seen.screen.text
    assert "<code>cmq1a2b3c</code>" in seen.screen.text
    assert "1234567890" not in seen.screen.text


@pytest.mark.parametrize(
    ("order", "said"),
    [
        (an_order(), "Price: 29,412 sats · Lightning\nRate: "),
        (a_deposit("btcb"), "Price: 29,412 sats · BTCB on BNB Chain\nRate: "),
        (MOMENTS["refused"], "Reviewed: about 29,410 sats · Lightning\nOrder: "),
        (an_order(phase=Phase.UNSHOWN, bolt11=None, sats=1, idr=1), "Reviewed: about 29,410 sats · Lightning\nOrder: "),
    ],
    ids=["to be paid", "a deposit", "never made", "not what was agreed"],
)
def test_a_price_is_only_called_so_if_it_was_locked_and_shown(order: Order, said: str) -> None:
    assert said in page_of(order).text


@pytest.mark.parametrize(
    ("moment", "said"),
    [
        ("unknown", "We are looking whether this order was made. Nothing is to be paid yet."),
        ("unresolved", "We couldn't find out whether it was made."),
        ("held", "Nothing is to be paid unless you agree to the new price."),
        ("offer over", "That price is no longer on offer."),
        ("refused", "The service couldn't be reached or turned it away."),
        ("unshown", "It wasn't carried out, and nothing is to be paid for it."),
        ("IDLE", "Waiting for your payment, until 11:05 WIB."),
        ("expired", "The invoice has expired: please don't pay it any more."),
        ("no longer followed", "No payment was seen in time, so this order isn't followed any more."),
        ("failed paid", "The transfer failed after your payment came in."),
        ("COMPLETED", "The rupiah have been sent to the bank."),
    ],
)
def test_a_page_says_what_the_state_means(moment: str, said: str) -> None:
    assert said in page_of(MOMENTS[moment]).text


def test_a_page_says_what_was_unusual() -> None:
    assert "after the invoice had expired. It was seen all the same." in page_of(ended(expiry_told=True)).text
    assert "after the invoice had expired" not in page_of(ended()).text
    moved = "The price moved after your review: from 29,410 sats for Rp500,000 to 29,412 sats for Rp500,000."
    assert moved in page_of(ended(), [HELD]).text
    assert "price moved" not in page_of(ended()).text
    refused = replace(MOMENTS["refused"], refusal="<b>closed</b> & gone ")
    assert "said:\n<b>closed</b> & gone\nNothing is to be paid." in page_of(refused).text


@pytest.mark.parametrize(
    ("moment", "labels"),
    [
        ("unknown", ["Talk to a person", "All orders", "Refresh"]),
        ("unresolved", ["Answer", "Talk to a person", "All orders", "Refresh"]),
        ("held", ["Answer", "Talk to a person", "All orders", "Refresh"]),
        ("offer over", ["Answer", "Send again", "Talk to a person", "All orders", "Refresh"]),
        ("IDLE", ["Show the card", "Talk to a person", "All orders", "Refresh"]),
        ("LN_SWAP_PENDING", ["Show the card", "Send again", "Talk to a person", "All orders", "Refresh"]),
        ("expired", ["Show the card", "Send again", "Talk to a person", "All orders", "Refresh"]),
        ("refused", ["Send again", "Talk to a person", "All orders"]),
        ("unshown", ["Send again", "Talk to a person", "All orders"]),
        ("no longer followed", ["Send again", "Talk to a person", "All orders"]),
        ("failed paid", ["Send again", "Talk to a person", "All orders"]),
        ("failed expired", ["Send again", "Talk to a person", "All orders"]),
    ],
)
def test_a_page_offers_what_makes_sense_there(moment: str, labels: list[str]) -> None:
    assert [button.label for button in page_of(MOMENTS[moment]).buttons] == labels


def test_an_order_that_was_sent_leads_to_its_receipt_and_to_sending_again() -> None:
    assert buttons(page_of(ended())) == {
        "Send again": "o:ABC2345:resend",
        "Receipt": "o:ABC2345:receipt",
        "Talk to a person": "o:ABC2345:help",
        "All orders": "o:ABC2345:list",
    }


def test_help_is_offered_only_where_there_is_somebody() -> None:
    assert "Talk to a person" not in buttons(page_of(MOMENTS["failed paid"], help_offered=False))


def test_an_order_whose_recipient_is_forgotten_keeps_the_rest_and_says_why_it_cant_be_sent_again() -> None:
    seen = page_of(ended(number="", holder=None))
    assert seen.text.startswith("✅ Sent\nRp500,000 → BCA\n\nPaid: 29,412 sats")
    assert seen.text.endswith("Its recipient has been deleted, so it can't be sent again from here.")
    assert list(buttons(seen)) == ["Receipt", "Talk to a person", "All orders"]

"""The list of all orders, and the page of an order with its buttons."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bot.infra.telegram.ui.reader import Reader
from bot.orders.history import HistoryPage
from bot.orders.order import Order, OrderEvent, Phase
from bot.orders.screens import order_page
from bot.orders.screens.order_lists import show_history
from bot.settlement.model import OrderStep
from tests.orders.builders import a_deposit_order, an_open_order, orders_in_each_state
from tests.screens import JAKARTA, NOW, ScreenCase
from tests.settlement.builders import LISTED_GOPAY
from tests.texts import TRANSLATIONS, label, says, text

EN, ID = TRANSLATIONS.get("en"), TRANSLATIONS.get("id")
MOMENTS = dict(orders_in_each_state())
HELD = OrderEvent(reference="ABC2345", at=NOW, phase=Phase.NEEDS_CONFIRMATION, state="")


def listed(page: HistoryPage, locale: str = "en") -> ScreenCase:
    return ScreenCase("history", show_history(Reader(TRANSLATIONS.get(locale), JAKARTA, NOW), page))


def page_of(
    order: Order, events: Sequence[OrderEvent] = (), *, help_offered: bool = True, locale: str = "en"
) -> ScreenCase:
    t = TRANSLATIONS.get(locale)
    return ScreenCase("page", order_page.screen(Reader(t, JAKARTA, NOW), order, events, help_offered=help_offered))


def buttons(seen: ScreenCase) -> dict[str, str | None]:
    return {button.label: button.data for button in seen.buttons}


def ended(**changes: Any) -> Order:
    known: dict[str, Any] = {
        "state": "COMPLETED",
        "step": OrderStep.SENT,
        "phase": Phase.DONE,
        "paid_at": NOW,
        "ended_at": NOW,
    }
    return an_open_order(**{**known, **changes})


def test_each_order_is_listed_with_its_mark_its_day_and_where_it_stands() -> None:
    orders = (
        an_open_order(),
        ended(reference="DEF2345", created_at=NOW - timedelta(days=1)),
        an_open_order(LISTED_GOPAY, reference="GHK2345", expires_at=NOW, created_at=NOW - timedelta(days=365)),
    )
    seen = listed(HistoryPage(orders, "", None, None, 0, 3))
    bank = {"amount": "Rp500,000", "destination": "BCA ••••7890"}
    wallet = {"amount": "Rp500,000", "destination": "GoPay ••••7890"}
    today, waiting, was_sent, over = map(
        text, ("infra.time.today", "orders.status.waiting", "orders.status.sent", "orders.status.expired")
    )
    entries = (
        text("orders.history.entry", mark="⏳", **bank, reference="ABC2345", day=today, state=waiting),
        text("orders.history.entry", mark="✅", **bank, reference="DEF2345", day="16 Aug", state=was_sent),
        text("orders.history.entry", mark="⌛", **wallet, reference="GHK2345", day="17 Aug 2025", state=over),
    )
    assert seen.text == "\n\n".join((text("orders.history.title"), "\n".join(entries)))
    assert buttons(seen) == {
        f"⏳ Rp500,000 → BCA ••••7890 · {today}": "o:ABC2345:page",
        "✅ Rp500,000 → BCA ••••7890 · 16 Aug": "o:DEF2345:page",
        "⌛ Rp500,000 → GoPay ••••7890 · 17 Aug 2025": "o:GHK2345:page",
        label("users.button.send"): "new",
    }
    in_indonesian = listed(HistoryPage(orders, "", None, None, 0, 3), "id").text
    today, waiting = text("infra.time.today", "id"), text("orders.status.waiting", "id")
    assert says(in_indonesian, "orders.history.entry", "id", reference="ABC2345", day=today, state=waiting)


def test_the_neighbouring_pages_are_one_tap_away_and_only_where_there_are_some() -> None:
    order = (an_open_order(),)
    middle = buttons(listed(HistoryPage(order, "ABC2345", "", "XYZ2345", 6, 13)))
    assert middle == {
        f"⏳ Rp500,000 → BCA ••••7890 · {text('infra.time.today')}": "o:ABC2345:page",
        label("orders.history.newer"): "h:",
        label("orders.history.here", first=7, last=7, total=13): "h:ABC2345",
        label("orders.history.older"): "h:XYZ2345",
        label("users.button.send"): "new",
    }
    newest = buttons(listed(HistoryPage(order, "", None, "XYZ2345", 0, 2)))
    assert list(newest)[1:-1] == [label("orders.history.here", first=1, last=1, total=2), label("orders.history.older")]


def test_who_has_ordered_nothing_is_told_so_and_offered_to() -> None:
    seen = listed(HistoryPage((), "", None, None, 0, 0))
    assert (seen.text, buttons(seen)) == (text("orders.history.none"), {label("users.button.send"): "new"})


def test_a_page_says_who_was_paid_what_it_cost_and_both_references() -> None:
    seen = page_of(ended(service_id="cmq1a2b3c"))
    assert seen.text.split("\n\n")[:2] == [
        text(
            "orders.order_page.heading_named",
            mark="✅",
            state=text("orders.status.sent"),
            amount="Rp500,000",
            destination="BCA ••••7890",
            holder="BUDI & <i>SANTOSO</i>",
        ),
        "\n".join(
            (
                text("orders.price.paid", price="29,412 sats · Lightning"),
                text("orders.order_page.rate", rate="Rp1,700,000,000"),
                text("orders.order_page.reference", reference="ABC2345"),
                text("orders.order_page.service_id", id="cmq1a2b3c"),
            )
        ),
    ]
    assert "<code>ABC2345</code>" in seen.screen.text
    assert "<code>cmq1a2b3c</code>" in seen.screen.text
    assert "1234567890" not in seen.screen.text


@pytest.mark.parametrize(
    ("order", "kind", "price"),
    [
        (an_open_order(), "price", "29,412 sats · Lightning"),
        (a_deposit_order("btcb"), "price", "0.00029412 BTCB on BNB Chain"),
        (MOMENTS["refused"], "reviewed", "29,410 sats · Lightning"),
        (an_open_order(phase=Phase.ABANDONED, bolt11=None, sats=1, idr=1), "reviewed", "29,410 sats · Lightning"),
    ],
    ids=["to be paid", "a deposit", "never made", "not what was agreed"],
)
def test_a_price_is_only_called_so_if_it_was_locked_and_shown(order: Order, kind: str, price: str) -> None:
    figures = page_of(order).text.split("\n\n")[1].split("\n")
    assert figures[0] == text(f"orders.price.{kind}", price=price)
    rate = text("orders.order_page.rate", rate="Rp1,700,000,000")
    assert (rate in figures) is (kind == "price")


@pytest.mark.parametrize(
    ("moment", "key"),
    [
        ("unknown", "orders.order_page.checking"),
        ("unresolved", "orders.order_page.unresolved"),
        ("held", "orders.order_page.needs_confirmation"),
        ("offer over", "orders.order_page.offer_over"),
        ("refused", "orders.order_page.refused"),
        ("abandoned", "orders.order_page.closed"),
        ("IDLE", "orders.status_message.pay_before"),
        ("expired", "orders.status_message.expired"),
        ("no longer followed", "orders.order_page.given_up"),
        ("failed paid", "orders.status_message.failed_paid"),
        ("COMPLETED", "orders.status_message.sent_bank"),
    ],
)
def test_a_page_says_what_the_state_means(moment: str, key: str) -> None:
    means = text(key) if key != "orders.status_message.pay_before" else ""
    if not means:
        means = f"{text(key, at='11:05 WIB')}\n{text('orders.status_message.may_not_pay')}"
    assert page_of(MOMENTS[moment]).text.endswith(f"\n\n{means}")


def test_a_page_says_what_was_unusual() -> None:
    assert says(page_of(ended(expiry_notified=True)).text, "orders.order_page.late")
    assert not says(page_of(ended()).text, "orders.order_page.late")
    reviewed, locked = {"reviewed": "29,410 sats", "reviewed_idr": "Rp500,000"}, {"locked": "29,412 sats"}
    assert says(
        page_of(ended(), [HELD]).text, "orders.order_page.price_moved", **reviewed, **locked, locked_idr="Rp500,000"
    )
    assert not says(page_of(ended()).text, "orders.order_page.price_moved")
    only_whose = ended(expected_sats=29_412, expected_idr=500_000)
    assert not says(page_of(only_whose, [HELD]).text, "orders.order_page.price_moved"), "asked whose order it is"
    refused = replace(MOMENTS["refused"], refusal="<b>closed</b> & gone ")
    quoted = label("orders.refusal.quoted", reason="<b>closed</b> & gone")
    assert says(page_of(refused).text, "orders.order_page.refused_because", reason=quoted)


@pytest.mark.parametrize(
    ("moment", "names"),
    [
        ("unknown", ["help", "history", "refresh"]),
        ("unresolved", ["decide", "help", "history", "refresh"]),
        ("held", ["decide", "help", "history", "refresh"]),
        ("offer over", ["requote", "help", "history", "refresh"]),
        ("IDLE", ["show_status", "help", "history", "refresh"]),
        ("LN_SWAP_PENDING", ["show_status", "resend", "help", "history", "refresh"]),
        ("expired", ["show_status", "resend", "help", "history", "refresh"]),
        ("refused", ["resend", "help", "history"]),
        ("abandoned", ["resend", "help", "history"]),
        ("no longer followed", ["resend", "help", "history", "refresh"]),
        ("failed paid", ["resend", "help", "history"]),
        ("failed expired", ["resend", "help", "history", "refresh"]),
    ],
)
def test_a_page_offers_what_makes_sense_there(moment: str, names: list[str]) -> None:
    assert [button.label for button in page_of(MOMENTS[moment]).buttons] == [
        label(f"orders.button.{name}") for name in names
    ]


def test_an_order_that_was_sent_leads_to_its_receipt_and_to_sending_again() -> None:
    assert buttons(page_of(ended())) == {
        label("orders.button.resend"): "o:ABC2345:resend",
        label("orders.button.receipt"): "o:ABC2345:receipt",
        label("orders.button.help"): "o:ABC2345:help",
        label("orders.button.history"): "o:ABC2345:list",
    }


def test_help_is_offered_only_where_there_is_somebody() -> None:
    assert label("orders.button.help") not in buttons(page_of(MOMENTS["failed paid"], help_offered=False))


def test_an_order_whose_recipient_is_forgotten_keeps_the_rest_and_says_why_it_cant_be_sent_again() -> None:
    seen = page_of(ended(number="", holder=None))
    heading, figures, *_ = seen.text.split("\n\n")
    state = text("orders.status.sent")
    assert heading == text("orders.order_page.heading", mark="✅", state=state, amount="Rp500,000", destination="BCA")
    assert says(figures, "orders.price.paid", price="29,412 sats · Lightning")
    assert seen.text.endswith(text("orders.order_page.forgotten"))
    assert list(buttons(seen)) == [
        label("orders.button.receipt"),
        label("orders.button.help"),
        label("orders.button.history"),
    ]

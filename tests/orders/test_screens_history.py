"""The list of all orders, and the page of an order with its buttons."""

from collections.abc import Sequence
from typing import Any

import pytest

from bot.infra.telegram.ui.reader import Reader
from bot.orders.order import Order, OrderEvent, Phase
from bot.orders.screens import order_page
from bot.settlement.model import OrderStep
from tests.orders.builders import an_open_order, orders_in_each_state
from tests.screens import JAKARTA, NOW, ScreenCase
from tests.texts import TRANSLATIONS, label, text

EN, ID = TRANSLATIONS.get("en"), TRANSLATIONS.get("id")
MOMENTS = dict(orders_in_each_state())


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

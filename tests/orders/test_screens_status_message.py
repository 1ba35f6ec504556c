"""The status message shows all steps of an order."""

import re
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.infra.i18n import LOCALES
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Screen
from bot.orders.evidence import Evidence
from bot.orders.notifications import OrderNotification
from bot.orders.order import Order
from bot.orders.screens import order_messages, order_page
from bot.orders.screens.payment import build_payment
from tests.orders.builders import an_open_order, every_event_of, orders_in_each_state
from tests.screens import JAKARTA, NOW, ScreenCase
from tests.texts import TRANSLATIONS, says, text

MOMENTS = dict(orders_in_each_state())
WAYS = {
    "IDLE": "✅ created|⏳ payment|▫️ converting|▫️ sending|▫️ sent",
    "LN_INVOICE_PAID": "✅ created|✅ paid|▫️ converting|▫️ sending|▫️ sent",
    "LN_SWAP_PENDING": "✅ created|✅ paid|⏳ converting|▫️ sending|▫️ sent",
    "P2PM_ORDER_PLACED": "✅ created|✅ paid|✅ converting|⏳ sending|▫️ sent",
    "COMPLETED": "✅ created|✅ paid|✅ converting|✅ sending|✅ sent",
    "expired": "✅ created|⌛ expired",
    "failed unpaid": "✅ created|❌ failed",
    "failed expired": "✅ created|⌛ expired",
    "failed paid": "✅ created|✅ paid|✅ converting|❌ sending",
    "failed paid between two looks": "✅ created|✅ paid|❌ failed",
    "never heard of": "✅ created|⏳ payment|▫️ converting|▫️ sending|▫️ sent",
}
"""Return the steps with their emoji. `created` stands for the text of `orders.step.created`."""

PRICES = {
    "IDLE": "orders.status_message.price_to_pay",
    "nameless": "orders.status_message.price_to_pay",
    "LN_INVOICE_PAID": "orders.status_message.price_paid",
    "overdue": "orders.status_message.price_paid",
    "COMPLETED": "orders.status_message.price_paid",
    "failed paid": "orders.status_message.price_paid",
    "failed paid between two looks": "orders.status_message.price_paid",
    "failed unpaid": "orders.status_message.price_failed",
    "failed unknown": "orders.status_message.price_failed",
    "failed expired": "",
    "expired": "",
    "no longer followed": "",
}
"""The label of the price, or "" if the order must no longer be paid."""


READER = Reader(TRANSLATIONS.get("en"), JAKARTA, NOW)


def status_text(order: Order, locale: str = "en", *, help_offered: bool = True) -> ScreenCase:
    screen = order_messages.show_status(
        Reader(TRANSLATIONS.get(locale), JAKARTA, NOW), order, help_offered=help_offered
    )
    return ScreenCase("card", screen)


def labels(order: Order, *, help_offered: bool = True) -> list[str]:
    return [button.label for button in status_text(order, help_offered=help_offered).buttons]


@pytest.mark.parametrize(("moment", "way"), WAYS.items())
def test_each_moment_of_an_order_has_its_picture(moment: str, way: str) -> None:
    steps = [step.split() for step in way.split("|")]
    paragraphs = [part.split("\n") for part in status_text(MOMENTS[moment]).text.split("\n\n")]
    assert [f"{mark} {text(f'orders.step.{name}')}" for mark, name in steps] in paragraphs


def test_the_message_to_pay_with_has_the_locked_rupiah_and_not_the_reviewed_ones() -> None:
    caption = build_payment(READER, an_open_order(expected_idr=500_000, idr=501_700), None).caption
    assert ("Rp501,700" in caption, "Rp500,000" in caption) == (True, False)


def heading(order: Order, locale: str = "en") -> list[str]:
    """Return the lines above the steps."""
    return status_text(order, locale).text.split("\n\n")[0].split("\n")


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize(("moment", "said"), PRICES.items())
def test_only_what_can_be_paid_now_says_what_to_pay(moment: str, said: str, locale: str) -> None:
    shown = heading(MOMENTS[moment], locale)
    every = (
        "orders.status_message.price_to_pay",
        "orders.status_message.price_paid",
        "orders.status_message.price_failed",
    )
    assert [key for key in every if any(says(line, key, locale) for line in shown)] == said.split()


@pytest.mark.parametrize("locale", LOCALES)
def test_all_times_of_an_order_have_one_form(locale: str) -> None:
    """With a format of its own, an app would show 10:57 AM beside the 17:57 WIB of a receipt or a timeline."""
    reader = Reader(TRANSLATIONS.get(locale), JAKARTA, NOW)
    clock = r"\b\d\d[:.]\d\d WIB"
    shown = {
        name: ScreenCase(name, screen)
        for name, screen in {
            "pay": Screen(build_payment(reader, MOMENTS["IDLE"], None).caption),
            "status": order_messages.show_status(reader, MOMENTS["IDLE"], help_offered=True),
            "paid": order_messages.show_status(reader, MOMENTS["LN_INVOICE_PAID"], help_offered=True),
            "failed": order_messages.show_notification(
                OrderNotification.FAILED, reader, MOMENTS["failed paid"], help_offered=True
            ),
            "page": order_page.screen(reader, MOMENTS["IDLE"], every_event_of(MOMENTS["IDLE"]), help_offered=True),
        }.items()
    }
    assert [name for name, seen in shown.items() if not re.search(clock, seen.text)] == []
    assert [name for name, seen in shown.items() if re.search("<tg-time[^>]*format", seen.screen.text)] == []


@pytest.mark.parametrize(
    ("moment", "paid", "end"),
    [
        ("COMPLETED", timedelta(seconds=16), "sent 16 seconds after your payment"),
        ("COMPLETED", timedelta(milliseconds=300), "sent 1 second after your payment"),
        ("COMPLETED", timedelta(minutes=7), "sent 7 minutes after your payment"),
        ("COMPLETED", timedelta(seconds=-1), "Sent"),  # its clock is wrong
        ("COMPLETED", None, "Sent"),
        ("failed paid", timedelta(seconds=16), "Failed, payment received"),
    ],
)
def test_one_line_without_buttons_is_left_of_an_order_that_has_ended(
    moment: str, paid: timedelta | None, end: str
) -> None:
    """The seconds are between the service's own times. Our clock saw both later."""
    named = {"completed_at": NOW} | ({"invoice_paid_at": NOW - paid} if paid is not None else {})
    order = replace(MOMENTS[moment], evidence=tuple(Evidence(name, at, NOW) for name, at in named.items()))
    seen = ScreenCase("", order_messages.show_ended(READER, order))
    mark = "✅" if moment == "COMPLETED" else "❌"
    assert seen.text == f"{mark} ABC2345 · Rp500,000 → BCA ••••7890 · {end}"
    assert seen.screen.keyboard == ()

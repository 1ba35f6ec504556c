"""Messages say what happened, whether money left the wallet, and what the user can do. Outdated ones aren't sent."""

from dataclasses import replace

import pytest

from bot.infra.i18n import LOCALES
from bot.infra.telegram.ui.reader import Reader
from bot.orders.notifications import OrderNotification
from bot.orders.order import Order, still_applies
from bot.orders.screens import order_messages
from bot.settlement.model import OrderStep
from tests.orders.builders import ORDER_LINE, an_open_order, orders_in_each_state
from tests.screens import JAKARTA, NOW, ScreenCase
from tests.texts import TRANSLATIONS, label, starts, text

MOMENTS = dict(orders_in_each_state())


def message_screen(
    notice: OrderNotification, order: Order, locale: str = "en", *, help_offered: bool = True
) -> ScreenCase:
    t = TRANSLATIONS.get(locale)
    return ScreenCase(
        notice, order_messages.show_notification(notice, Reader(t, JAKARTA, NOW), order, help_offered=help_offered)
    )


def labels(seen: ScreenCase) -> list[str]:
    return [button.label for button in seen.buttons]


def test_a_refusal_quotes_the_service_as_text_and_says_that_nothing_is_to_be_paid() -> None:
    seen = message_screen(OrderNotification.REFUSED, replace(MOMENTS["refused"], refusal="<b>too</b> much & more"))
    quoted = label("orders.refusal.quoted", reason="<b>too</b> much & more")
    assert seen.text == text("orders.notification.refused_because", line=ORDER_LINE, reason=quoted)
    assert labels(seen) == [label("orders.button.back_to_review")]
    assert message_screen(OrderNotification.REFUSED, MOMENTS["refused"]).text == text(
        "orders.notification.refused", line=ORDER_LINE
    )


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize(
    ("said", "about"),
    [
        ("recipientDetails for a bank must be the account number: digits only", "number"),
        ("partnerBankCode and partnerBankName are not a pair of the payout methods list", "destination"),
        ("the payout partner's daily cap of IDR 5000000 would be exceeded", "cap"),
        ("idrAmount must not be over 2000000, the most that OVO takes at once", "amount"),
    ],
)
def test_a_known_reason_of_a_refusal_is_said_in_the_readers_language(said: str, about: str, locale: str) -> None:
    seen = message_screen(OrderNotification.REFUSED, replace(MOMENTS["refused"], refusal=said), locale)
    assert text(f"orders.refusal.{about}", locale) in seen.text
    assert said not in seen.text


@pytest.mark.parametrize(
    ("moment", "locale", "key", "facts"),
    [
        ("failed paid", "en", "orders.notification.failed_paid", {"paid": "29,412 sats", "at": "10:05 WIB"}),
        ("failed paid", "id", "orders.notification.failed_paid", {"paid": "29.412 sats", "at": "10.05 WIB"}),
        (
            "failed paid between two looks",
            "en",
            "orders.notification.failed_paid",
            {"paid": "29,412 sats", "at": "10:05 WIB"},
        ),
        ("failed unpaid", "en", "orders.notification.failed_unpaid", {}),
        ("failed unpaid", "id", "orders.notification.failed_unpaid", {}),
    ],
)
def test_a_failure_says_whether_money_left_the_wallet(
    moment: str, locale: str, key: str, facts: dict[str, str]
) -> None:
    seen = message_screen(OrderNotification.FAILED, MOMENTS[moment], locale)
    assert starts(seen.text, key, locale, **facts)
    assert labels(seen)[-1] == label("orders.button.help", locale)
    without_staff = labels(message_screen(OrderNotification.FAILED, MOMENTS[moment], locale, help_offered=False))
    assert label("orders.button.help", locale) not in without_staff


@pytest.mark.parametrize("staff_notified", [False, True])
@pytest.mark.parametrize("locale", LOCALES)
def test_a_failed_payout_links_the_operators_policy_if_there_is_one(locale: str, *, staff_notified: bool) -> None:
    reader, policy = Reader(TRANSLATIONS.get(locale), JAKARTA, NOW), "https://kirim.example/failed?a=1&b"

    def shown(kind: OrderNotification, moment: str, url: str) -> str:
        return order_messages.show_notification(
            kind, reader, MOMENTS[moment], help_offered=True, staff_notified=staff_notified, policy_url=url
        ).text

    for moment in ("failed paid", "failed unknown"):
        assert shown(OrderNotification.FAILED, moment, policy).endswith(
            f"\n\n{reader.t('orders.policy.failed', url=policy)}"
        )
        assert "href" not in shown(OrderNotification.FAILED, moment, "")
    assert "href" not in shown(OrderNotification.FAILED, "failed unpaid", policy), "there is no payment"
    assert "href" not in shown(OrderNotification.OVERDUE, "overdue", policy), "it may still be sent"


def test_what_has_been_overtaken_is_not_told_any_more() -> None:
    found, paid = an_open_order(), an_open_order(step=OrderStep.PAID, paid_at=NOW)
    assert not still_applies(OrderNotification.CHECKING, found)
    assert not still_applies(OrderNotification.UNRESOLVED, found)
    assert not still_applies(OrderNotification.PRICE_MOVED, found)
    assert not still_applies(OrderNotification.EXPIRED, paid)
    assert not still_applies(OrderNotification.CONVERTING, replace(paid, step=OrderStep.SENDING))
    assert not still_applies(OrderNotification.SENDING, replace(paid, step=OrderStep.SENDING, state="FAILED"))
    assert still_applies(OrderNotification.CONVERTING, replace(paid, step=OrderStep.CONVERTING))
    assert still_applies(OrderNotification.SENDING, replace(paid, step=OrderStep.SENDING))
    assert still_applies(OrderNotification.CHECKING, MOMENTS["unknown"])
    assert still_applies(OrderNotification.UNRESOLVED, MOMENTS["unresolved"])
    assert still_applies(OrderNotification.PRICE_MOVED, MOMENTS["held"])
    assert still_applies(OrderNotification.EXPIRED, MOMENTS["expired"])

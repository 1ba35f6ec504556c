"""An order that only the service knows is shown masked, whatever its record has, and is marked as not the bot's."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from bot.infra.i18n import LOCALES
from bot.infra.telegram.ui.reader import Reader
from bot.settlement.errors import KeyRefused, NoAnswer, OrderNotFound, SlowDown
from bot.settlement.model import STEP_OF_STATE, ServiceRecord
from bot.support.model import Reveal
from bot.support.screens import reveals as reveal_screens
from bot.support.screens.lookups import explain_failure, show_evidence, show_service_order
from bot.support.service_orders import ServiceOrder
from tests.orders.builders import an_order
from tests.screens import HOSTILE_NAMES, JAKARTA, NOW, ScreenCase, check_screen
from tests.settlement.builders import a_report
from tests.texts import TRANSLATIONS, label, says, text

SERVICE_ID = "cm7k2jt8x0000qz01abcd1234"
NUMBER, HOLDER = "8620123456", "SARI DEWI"


def reader(locale: str = "en") -> Reader:
    return Reader(TRANSLATIONS.get(locale), JAKARTA, NOW)


def an_order_of_an_agent(**changes: Any) -> ServiceOrder:
    """Return an agents' order that was paid and sent."""
    values: dict[str, Any] = {
        "service_id": SERVICE_ID,
        "state": "COMPLETED",
        "sats": 29_412,
        "idr": 500_000,
        "btc_idr": Decimal(1_700_000_000),
        "channel": "lightning",
        "bank_code": "014",
        "bank_name": "BANK CENTRAL ASIA",
        "recipient": NUMBER,
        "holder": HOLDER,
        "created_at": NOW - timedelta(minutes=9),
        "paid_at": NOW - timedelta(minutes=8),
        "updated_at": NOW - timedelta(minutes=5),
        "completed_at": NOW - timedelta(minutes=5),
        "record": ServiceRecord(partner_redeem_id="redeem_5f2c", merchant_name="<b>WARUNG SARI</b>"),
    }
    return ServiceOrder(service_id=SERVICE_ID, report=a_report(**{**values, **changes}), read_at=NOW)


@pytest.mark.parametrize("locale", LOCALES)
def test_it_is_marked_and_masked_with_what_support_needs(locale: str) -> None:
    case = ScreenCase("order", show_service_order(reader(locale), an_order_of_an_agent()), (SERVICE_ID, "redeem_5f2c"))
    check_screen(case)
    assert says(case.text, "support.service_order.not_ours", locale)
    assert text("orders.status.sent", locale) in case.text
    assert "COMPLETED" in case.text
    assert "BCA ••••3456" in case.text
    assert NUMBER not in str(case.screen)
    assert "SARI" not in str(case.screen)
    labels = [button.label for button in case.buttons]
    assert labels == [
        label("support.reveal.button", locale),
        label("support.evidence.button", locale),
        label("orders.button.refresh", locale),
    ]


@pytest.mark.parametrize("state", [*STEP_OF_STATE, "FAILED", "SOMETHING_NEW", "<b>" + "X" * 5_000])
def test_every_state_is_named_also_one_that_nobody_documented(state: str) -> None:
    for channel in ("lightning", "btcb", None, "<i>dogecoin</i>" * 100):
        for paid_at in (None, NOW):
            order = an_order_of_an_agent(state=state, channel=channel, paid_at=paid_at)
            check_screen(ScreenCase(state, show_service_order(reader(), order), (state[:20],)))


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("name", [*HOSTILE_NAMES, "😀" * 4096, "\u202e" + "x" * 100_000])
def test_whatever_the_record_has_can_be_sent(name: str, locale: str) -> None:
    record = ServiceRecord(partner_redeem_id=name[:256] or None, merchant_name=name[:256] or None)
    order = an_order_of_an_agent(bank_code=name, bank_name=name, recipient=name, holder=name, record=record)
    reveal = Reveal(id="0" * 16, reference=order.reference, staff_id=3001, message_id=7, at=NOW, until=NOW)
    t = TRANSLATIONS.get(locale)
    for screen in (
        show_service_order(reader(locale), order),
        show_evidence(reader(locale), order),
        reveal_screens.ask_reason(t, order),
        reveal_screens.show_recipient(t, reveal, order, None),
        reveal_screens.show_masked(t, reveal, order),
    ):
        check_screen(ScreenCase("hostile", screen, (SERVICE_ID,)))


def test_an_empty_record_is_shown_without_a_reveal() -> None:
    bare = ServiceOrder(service_id=SERVICE_ID, report=a_report(service_id=SERVICE_ID, state="IDLE"), read_at=NOW)
    case = ScreenCase("bare", show_service_order(reader(), bare), (SERVICE_ID,))
    check_screen(case)
    assert [button.label for button in case.buttons] == [label("orders.button.refresh")]


@pytest.mark.parametrize("locale", LOCALES)
def test_what_may_be_ours_leads_to_our_order(locale: str) -> None:
    lost = replace(an_order_of_an_agent(), lost=(an_order(),))
    case = ScreenCase("lost", show_service_order(reader(locale), lost), ("R2345AB",))
    check_screen(case)
    assert says(case.text, "support.service_order.lost", locale)
    assert not says(case.text, "support.service_order.not_ours", locale)
    assert "lu:order:R2345AB" in [button.data for button in case.buttons]
    forgotten = replace(lost, lost=(an_order(number="", holder=None),))
    case = ScreenCase("forgotten", show_service_order(reader(locale), forgotten))
    check_screen(case)
    assert says(case.text, "support.service_order.forgotten", locale)
    assert label("support.reveal.button", locale) not in [button.label for button in case.buttons]
    assert "3456" not in case.text


@pytest.mark.parametrize("locale", LOCALES)
def test_the_evidence_has_masked_names_and_leads_back(locale: str) -> None:
    case = ScreenCase("evidence", show_evidence(reader(locale), an_order_of_an_agent()), ("redeem_5f2c",))
    check_screen(case)
    assert "WARUNG" not in str(case.screen)
    assert f"lu:order:@{SERVICE_ID}" in [button.data for button in case.buttons]


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize(
    ("failure", "key"),
    [
        (OrderNotFound(), "support.service_order.not_found"),
        (SlowDown(retry_after=3), "support.service_order.wait"),
        (SlowDown(retry_after=1e300), "support.service_order.wait"),
        (SlowDown(), "support.service_order.too_many"),
        (KeyRefused(), "support.service_order.key_refused"),
        (NoAnswer(), "support.service_order.down"),
    ],
)
def test_each_failure_is_said_in_words_and_can_be_tried_again(failure: Any, key: str, locale: str) -> None:
    case = ScreenCase("failure", explain_failure(TRANSLATIONS.get(locale), SERVICE_ID, failure))
    check_screen(case)
    assert says(case.text, key, locale)
    assert [button.data for button in case.buttons] == [f"lu:order:@{SERVICE_ID}"]


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("recipient", ["******3456", "0812xxxx3456", "…3456", "****"])
def test_what_the_service_masks_itself_cannot_be_revealed(recipient: str, locale: str) -> None:
    case = ScreenCase("masked", show_service_order(reader(locale), an_order_of_an_agent(recipient=recipient)))
    check_screen(case)
    assert text("support.service_order.masked", locale) in case.text
    assert label("support.reveal.button", locale) not in [button.label for button in case.buttons]

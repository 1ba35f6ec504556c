"""The screens of `/privacy` match the settings, fit into a message, and show no number in full."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bot.checkout import user_data as checkout_data
from bot.checkout.user_data import StoredDrafts
from bot.infra.i18n import LOCALES
from bot.infra.telegram.ui.callbacks import read_button
from bot.orders import user_data as orders_data
from bot.orders.order import Order, OrderEvent, Phase
from bot.orders.receipts.codes import Receipt
from bot.orders.screens.privacy import OpenOrders
from bot.rates.model import Subscription
from bot.rates.user_data import StoredRateMessages
from bot.recipients import user_data as recipients_data
from bot.recipients.model import SavedRecipient
from bot.recipients.user_data import StoredRecipients
from bot.settlement.model import PayoutMethod
from bot.settlement.steps import OrderStep
from bot.support.ticket import Ticket
from bot.support.user_data import StoredTickets
from bot.users.buttons import DeletionButton, PrivacyButton
from bot.users.model import User
from bot.users.privacy import DeletionBlockers, Overview, make_file
from bot.users.provider import UNNAMED, Provider
from bot.users.screens import privacy
from bot.users.user_data import MAX_LISTED
from tests.architecture.every_screen import screens_of_modules
from tests.checkout.builders import a_draft_at_review
from tests.examples import some
from tests.orders.builders import ORDER_LINE, an_open_order, orders_in_each_state, what_is_stored
from tests.screens import HOSTILE_NAMES, JAKARTA, NOW, Outside, ScreenCase, check_screen
from tests.settlement.builders import LISTED_BCA
from tests.texts import TRANSLATIONS, says, starts, text

NUMBER = "7731004455"


def a_recipient(method: PayoutMethod, typed: str) -> SavedRecipient:
    return SavedRecipient(
        id="r", user_id=1, method=method, number=NUMBER, label=typed, holder=typed, created_at=NOW, last_used_at=NOW
    )


def the_order(method: PayoutMethod, typed: str) -> Order:
    return an_open_order(method, number=NUMBER, holder=typed, refusal=typed * 10)


def stored(method: PayoutMethod = LISTED_BCA, typed: str = "Ibu", times: int = 1, **about: Any) -> Overview:
    """Return an overview of a user's data, with `times` as many recipients and orders."""
    return overview((the_order(method, typed),) * times, method, typed, times, **about)


def overview(
    orders: tuple[Order, ...], method: PayoutMethod = LISTED_BCA, typed: str = "Ibu", times: int = 1, **about: Any
) -> Overview:
    return Overview(
        User(id=2**52, created_at=NOW, **about),
        (
            StoredRecipients((a_recipient(method, typed),) * min(times, MAX_LISTED), times),
            what_is_stored(orders),
            StoredDrafts(1),
            StoredRateMessages(None, ()),
            StoredTickets((), 0),
        ),
    )


def exported(typed: str, **about: Any) -> bytes:
    order = the_order(LISTED_BCA, typed)
    event = OrderEvent(reference=order.reference, at=NOW, phase=Phase.DONE, state="COMPLETED")
    receipt = Receipt(reference=order.reference, code="CODE-7", code_hash="ab", created_at=NOW)
    sections = {
        "recipients": [recipients_data.export_recipient(a_recipient(LISTED_BCA, typed))],
        "orders": [orders_data.export_order(order, (event,), receipt)],
        "drafts": [checkout_data.export_draft(a_draft_at_review(LISTED_BCA, number=NUMBER, holder=typed))],
    }
    return make_file(User(id=2**52, created_at=NOW, **about), sections, NOW)


def waiting_for(*orders: Order) -> DeletionBlockers:
    return DeletionBlockers((OpenOrders(orders),))


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("name", some([*HOSTILE_NAMES, "🙈" * 4096, "BCA"]))
def test_no_screen_shows_a_number_in_full(locale: str, name: str) -> None:
    outside = Outside(TRANSLATIONS.get(locale), PayoutMethod("x", name, "bank", None), name)
    for seen in screens_of_modules(outside, privacy):
        assert "34567890" not in seen.text, seen.name


@pytest.mark.parametrize(("moment", "key"), [("held", "open_held"), ("offer over", "open_offer_over")])
def test_an_order_waits_for_an_answer_only_while_its_offer_stands(moment: str, key: str) -> None:
    waits = waiting_for(dict(orders_in_each_state())[moment])
    shown = ScreenCase("waiting", privacy.explain_waiting(TRANSLATIONS.get("en"), waits, NOW))
    assert says(shown.text, f"orders.privacy.{key}")


@pytest.mark.parametrize("locale", LOCALES)
def test_every_button_is_one_that_is_answered(locale: str) -> None:
    for seen in screens_of_modules(Outside(TRANSLATIONS.get(locale), LISTED_BCA), privacy):
        for button in seen.buttons:
            assert type(read_button(button.data or "")) in {PrivacyButton, DeletionButton}, button


@pytest.mark.parametrize("locale", LOCALES)
def test_the_confirmation_names_orders_whose_payout_failed(locale: str) -> None:
    failed = replace(an_open_order(), state="FAILED", phase=Phase.DONE, paid_at=NOW)
    waits = waiting_for(*[order for _, order in orders_in_each_state()])
    shown = privacy.ask_confirmation(TRANSLATIONS.get(locale), overview((failed,) * 20), waits, NOW)
    check_screen(ScreenCase("asked, with trouble", shown, (failed.reference,)))


def test_the_confirmation_bears_its_user_and_its_moment() -> None:
    shown = ScreenCase("asked", privacy.ask_confirmation(TRANSLATIONS.get("en"), stored(), DeletionBlockers(), NOW))
    kind, action, user, asked_at = (shown.buttons[0].data or "").split(":")
    assert (kind, action, int(user)) == ("pv", "yes", 2**52)
    assert privacy.parse_asked_at(asked_at) == NOW


def test_who_has_come_within_the_same_second_may_go() -> None:
    come = NOW.replace(microsecond=1)
    assert come < privacy.parse_asked_at(privacy.format_asked_at(come.replace(microsecond=2)))


@pytest.mark.parametrize(
    ("order", "reason"),
    [
        (an_open_order(phase=Phase.OPEN), "payable"),
        (an_open_order(phase=Phase.OPEN, expires_at=NOW), "expired"),
        (an_open_order(phase=Phase.OPEN, paid_at=NOW, step=OrderStep.PAID), "paid"),
        (an_open_order(phase=Phase.UNKNOWN), "unknown"),
        (an_open_order(phase=Phase.UNRESOLVED), "unknown"),
        (an_open_order(phase=Phase.NEEDS_CONFIRMATION), "held"),
    ],
)
def test_what_is_open_is_named_with_its_reason(order: Any, reason: str) -> None:
    shown = ScreenCase("waiting", privacy.explain_waiting(TRANSLATIONS.get("en"), waiting_for(order), NOW))
    assert f"• {ORDER_LINE}\n{text(f'orders.privacy.open_{reason}')}" in shown.text


@pytest.mark.parametrize("username", ["emma_w", None])
def test_a_public_name_that_is_kept_is_shown(username: str | None) -> None:
    shown = ScreenCase("seen", privacy.show_summary(TRANSLATIONS.get("en"), stored(username=username), JAKARTA)).text
    assert starts(shown, "users.privacy.profile", since="17 Aug 2026", zone="Asia/Jakarta")
    assert says(shown, "users.privacy.public_name") is bool(username)
    assert says(shown, "users.privacy.public_name", name="@emma_w") is bool(username)


def test_what_is_set_up_follows_what_is_stored() -> None:
    ticket, alert = Ticket(reference="T-22222", user_id=1, created_at=NOW), Subscription(user_id=1, subscribed_at=NOW)
    parts = (StoredRateMessages(alert, ()), StoredTickets((ticket,), 1))
    shown = privacy.show_summary(TRANSLATIONS.get("en"), Overview(User(id=1, created_at=NOW), parts), JAKARTA)
    daily = text("rates.subscription.none")
    assert shown.text.split("\n\n")[1:] == [
        TRANSLATIONS.get("en").plural("support.privacy.tickets", 1),
        text("rates.privacy.rate_news", daily=daily, alerts=0),
    ]


def test_without_retention_nothing_is_said_of_days() -> None:
    shown = ScreenCase("kept", privacy.show_privacy(TRANSLATIONS.get("en"), 0, is_deletion_requested=False))
    kept = {"how_long": text("users.privacy.until_deleted"), "tickets": text("users.privacy.until_deleted")}
    assert shown.text == text("users.privacy.text", orders=text("users.privacy.orders_until_deleted"), **kept)


@pytest.mark.parametrize("locale", LOCALES)
def test_the_page_says_who_keeps_the_data_and_links_the_policy(locale: str) -> None:
    t = TRANSLATIONS.get(locale)
    run_by = Provider(name="A & B", terms_url="https://kirim.example/t?a=1&b", privacy_url="https://kirim.example/p")
    links = (
        f'<a href="https://kirim.example/t?a=1&amp;b">{text("users.provider.terms", locale)}</a>',
        f'<a href="https://kirim.example/p">{text("users.provider.privacy", locale)}</a>',
    )
    shown = privacy.show_privacy(t, 0, run_by, is_deletion_requested=False)
    assert shown.text.split("\n\n")[-1] == " · ".join((t("users.provider.name", name="A & B"), *links))
    check_screen(ScreenCase("who runs it", shown))


@pytest.mark.parametrize(
    ("run_by", "last"),
    [
        (UNNAMED, None),
        (Provider(name="Kirim"), text("users.provider.name", name="Kirim")),
        (Provider(terms_url="https://kirim.example"), text("users.provider.terms")),
        (Provider(privacy_url="https://kirim.example"), text("users.provider.privacy")),
    ],
)
def test_what_is_not_set_of_who_runs_it_leaves_no_gap(run_by: Provider, last: str | None) -> None:
    before = ScreenCase("kept", privacy.show_privacy(TRANSLATIONS.get("en"), 0, is_deletion_requested=False)).text
    shown = ScreenCase(
        "kept", privacy.show_privacy(TRANSLATIONS.get("en"), 0, run_by, is_deletion_requested=False)
    ).text
    assert shown == (before if last is None else f"{before}\n\n{last}")


def test_the_file_holds_everything_in_full_and_is_json_whatever_was_typed() -> None:
    import json  # noqa: PLC0415  needed here alone

    for typed in ("Ibu", "\ud800", "\x00", '"}', "🏦", "\u202e"):
        content = json.loads(exported(typed, phrase="MANGO LAUT", locale="id", username="emma_w"))
        assert content["profile"]["username"] == "emma_w"
        assert content["profile"]["phrase"] == "MANGO LAUT"
        assert content["recipients"][0] == content["recipients"][0] | {"number": NUMBER, "name_given": typed}
        (order,) = content["orders"]
        assert (order["number"], order["receipt_code"]) == (NUMBER, "CODE-7")
        assert order["timeline"] == [{"at": NOW.isoformat(), "phase": "done", "state": "COMPLETED", "note": None}]
        assert content["drafts"][0]["number"] == NUMBER
        assert order["created_at"] == (NOW - timedelta(minutes=1)).isoformat()

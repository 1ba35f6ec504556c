"""Support sees how far a customer has come with an order, and repeats nothing that they typed."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bot.checkout.draft import DraftStatus, OrderDraft, Step, refuse
from bot.core.errors import Rejection, Remark
from bot.core.money import Amount
from bot.infra.i18n import LOCALES
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Screen
from bot.settlement.model import PayoutMethod
from bot.support.cases import Case
from bot.support.lookup_model import OrderCounts, UserOverview
from bot.support.screens.case import format_draft
from bot.support.screens.lookups import show_user
from bot.support.screens.staff import show_card
from tests.checkout.builders import a_draft_at_review
from tests.screens import HOSTILE_NAMES, JAKARTA, NOW, ScreenCase, check_screen
from tests.support.builders import an_unanswered_ticket
from tests.texts import TRANSLATIONS, text

NUMBER, HOLDER = "1234567890", "BUDI SANTOSO"


def a_draft(**changes: Any) -> OrderDraft:
    values: dict[str, Any] = {"number": NUMBER, "holder": HOLDER, "expires_at": NOW + timedelta(minutes=20)}
    return a_draft_at_review(**{**values, **changes})


def shown(draft: OrderDraft, locale: str = "en") -> str:
    case = ScreenCase("draft", Screen(format_draft(Reader(TRANSLATIONS.get(locale), JAKARTA, NOW), draft)))
    check_screen(case)
    return case.text


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("step", Step)
def test_step_bank_masked_number_and_amount_are_shown(step: Step, locale: str) -> None:
    said = shown(a_draft(step=step), locale)
    t = TRANSLATIONS.get(locale)
    assert text(f"support.draft.step.{step}", locale) in said
    assert t.rupiah(500_000) in said
    assert "BCA ••••7890" in said
    assert NUMBER not in said
    assert HOLDER not in said


def test_a_draft_is_open_until_its_time_is_over() -> None:
    t = TRANSLATIONS.get("en")
    at = t.clock(NOW - timedelta(minutes=10), JAKARTA)
    assert text("support.draft.open", at=at) in shown(a_draft())
    paused = text("support.draft.paused", at=at)
    assert paused in shown(a_draft(status=DraftStatus.EXPIRED))
    at = t.clock(NOW - timedelta(minutes=30), JAKARTA)
    assert text("support.draft.paused", at=at) in shown(a_draft(expires_at=NOW)), "the bot hasn't closed it yet"


def test_a_number_that_waits_for_a_confirmation_is_masked() -> None:
    said = shown(a_draft(step=Step.NUMBER, number=None, doubtful_number=NUMBER))
    assert text("support.draft.doubtful", number="••••7890") in said
    assert NUMBER not in said
    said = shown(a_draft(step=Step.NUMBER, number=None, doubtful_number=NUMBER[:-1]))
    assert text("recipients.number.unusual_length", method="BCA", expected=10, actual=9) in said, "why it is asked"


@pytest.mark.parametrize("locale", LOCALES)
def test_the_last_refusal_is_in_the_agents_language_without_typed_words(locale: str) -> None:
    rejection = Rejection("orders.amount.above_cap", cap=250_000_000, name=HOLDER)
    refusal = refuse(Step.AMOUNT, rejection, NOW - timedelta(minutes=1))
    said = shown(a_draft(step=Step.AMOUNT, amount=None, refusal=refusal), locale)
    t = TRANSLATIONS.get(locale)
    assert text("orders.amount.above_cap", locale, cap=250_000_000, name="…") in said
    assert t.rupiah(250_000_000) in said
    assert HOLDER not in said
    again = refuse(Step.REVIEW, Rejection("orders.limits.hour", count=3, again=NOW + timedelta(minutes=5)), NOW)
    clock = t.clock(NOW + timedelta(minutes=5), JAKARTA)
    assert text("orders.limits.hour", locale, count=3, again=clock) in shown(a_draft(refusal=again), locale)


@pytest.mark.parametrize("locale", LOCALES)
def test_why_the_bot_asked_back_is_shown_without_typed_words(locale: str) -> None:
    doubt = refuse(Step.AMOUNT, Remark("checkout.amount.which", {"text": HOLDER}), NOW)
    said = shown(a_draft(step=Step.AMOUNT, amount=None, refusal=doubt), locale)
    assert text("checkout.amount.which", locale, text="…") in said
    assert HOLDER not in said


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_a_ticket_and_a_customers_page_with_a_draft_can_be_sent(name: str, locale: str) -> None:
    reader = Reader(TRANSLATIONS.get(locale), JAKARTA, NOW)
    refusal = refuse(Step.DESTINATION, Rejection("checkout.destination.unknown", query=name), NOW)
    method = PayoutMethod("014", name, "bank", None)
    draft = a_draft(method=method, amount=Amount("SAT", 21_000), channel="btcb", refusal=refusal)
    ticket = an_unanswered_ticket(NOW, order_reference="")
    case = Case(user_id=1001, user=None, tickets=(ticket,), draft=draft)
    card = show_card(reader, ticket, case)
    overview = UserOverview(user_id=1001, user=None, counts=OrderCounts(), orders=(), tickets=(), draft=draft)
    for screen in (card, show_user(reader, overview)):
        check_screen(ScreenCase("with a draft", screen, ("••••7890",)))
        assert NUMBER not in screen.text
    without = replace(case, draft=None)
    assert "••••7890" not in show_card(reader, ticket, without).text

"""News say what happened, whether money left the wallet, and what can be done; and nothing that has been overtaken."""

from dataclasses import replace

import pytest

from bot.chat.notices import HOLDS
from bot.chat.screens import outcome
from bot.domain.order import Notice, Order
from bot.domain.timeline import Step
from tests.unit.every_screen import JAKARTA, NOW, TRANSLATIONS, Seen, an_order, at_each_moment

MOMENTS = dict(at_each_moment())


def told(notice: Notice, order: Order, locale: str = "en", *, help_offered: bool = True) -> Seen:
    t = TRANSLATIONS.get(locale)
    return Seen(notice, outcome.screen(notice, t, order, NOW, JAKARTA, help_offered=help_offered))


def labels(seen: Seen) -> list[str]:
    return [button.label for button in seen.buttons]


def test_a_moved_price_is_a_question_with_both_prices() -> None:
    seen = told(Notice.PRICE_MOVED, MOMENTS["held"])
    assert "Reviewed: 29,410 sats for Rp500,000\nNow: 29,412 sats for Rp500,000" in seen.text
    assert labels(seen) == ["Pay at the new price", "No, thank you"]


def test_an_offer_that_is_over_can_not_be_accepted_any_more() -> None:
    seen = told(Notice.PRICE_MOVED, MOMENTS["offer over"])
    assert "no longer on offer" in seen.text
    assert labels(seen) == ["New quote, same recipient"]


def test_a_refusal_quotes_the_service_as_text_and_says_that_nothing_is_to_be_paid() -> None:
    seen = told(Notice.REFUSED, replace(MOMENTS["refused"], refusal="<b>too</b> much & more"))
    assert "says:\n<b>too</b> much & more\nNothing is to be paid." in seen.text
    assert labels(seen) == ["Check and try again"]
    assert "Nothing is to be paid." in told(Notice.REFUSED, MOMENTS["refused"]).text


def test_an_unknown_outcome_asks_for_patience_and_the_decision_is_the_persons() -> None:
    checking = told(Notice.CHECKING, MOMENTS["unknown"])
    assert "Please don't order again meanwhile; nothing is to be paid yet." in checking.text
    assert labels(checking) == []
    unresolved = told(Notice.UNRESOLVED, MOMENTS["unresolved"])
    assert "A new order is only made if you say so." in unresolved.text
    assert labels(unresolved) == ["Try again", "Never mind"]


@pytest.mark.parametrize(
    ("moment", "locale", "said"),
    [
        ("failed paid", "en", "The money did leave your wallet"),
        ("failed paid", "id", "Uang sudah keluar dari dompet"),
        ("failed paid between two looks", "en", "The money did leave your wallet"),
        ("failed unpaid", "en", "as far as we know no money left your wallet"),
        ("failed unpaid", "id", "sejauh yang kami tahu tidak ada uang yang keluar"),
    ],
)
def test_a_failure_says_whether_money_left_the_wallet(moment: str, locale: str, said: str) -> None:
    seen = told(Notice.FAILED, MOMENTS[moment], locale)
    assert said in seen.text
    assert labels(seen)[-1] in {"Talk to a person", "Bicara dengan petugas"}
    without_staff = labels(told(Notice.FAILED, MOMENTS[moment], locale, help_offered=False))
    assert "Talk to a person" not in without_staff


def test_sent_names_the_place_and_never_says_that_the_money_has_arrived() -> None:
    bank = replace(MOMENTS["COMPLETED"], paid_at=NOW)
    wallet = replace(bank, method=replace(bank.method, kind="ewallet"))
    assert "sent to the bank" in told(Notice.SENT, bank).text
    assert "sent to the e-wallet" in told(Notice.SENT, wallet).text
    assert "arrived" not in told(Notice.SENT, bank).text


def test_what_has_been_overtaken_is_not_told_any_more() -> None:
    found, paid = an_order(), an_order(step=Step.PAID, paid_at=NOW)
    assert not HOLDS[Notice.CHECKING](found)
    assert not HOLDS[Notice.UNRESOLVED](found)
    assert not HOLDS[Notice.PRICE_MOVED](found)
    assert not HOLDS[Notice.EXPIRED](paid)
    assert not HOLDS[Notice.CONVERTING](replace(paid, step=Step.SENDING))
    assert not HOLDS[Notice.SENDING](replace(paid, step=Step.SENDING, state="FAILED"))
    assert HOLDS[Notice.CONVERTING](replace(paid, step=Step.CONVERTING))
    assert HOLDS[Notice.SENDING](replace(paid, step=Step.SENDING))
    assert HOLDS[Notice.CHECKING](MOMENTS["unknown"])
    assert HOLDS[Notice.UNRESOLVED](MOMENTS["unresolved"])
    assert HOLDS[Notice.PRICE_MOVED](MOMENTS["held"])
    assert HOLDS[Notice.EXPIRED](MOMENTS["expired"])


@pytest.mark.parametrize("moment", MOMENTS)
def test_whatever_an_order_is_in_it_can_be_looked_at(moment: str) -> None:
    for locale in ("en", "id"):
        shown = outcome.state(TRANSLATIONS.get(locale), MOMENTS[moment], NOW, JAKARTA, help_offered=True)
        assert "ABC2345" in Seen(moment, shown).text

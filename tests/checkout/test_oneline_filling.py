"""Tests of drafts filled from one line: they ask for missing or ambiguous answers and keep all others."""

from datetime import UTC, datetime

import pytest

from bot.checkout.answers import apply_line, confirm_number, find_rejection, take_destination, waiting_number
from bot.checkout.draft import OrderDraft, Step, new_draft
from bot.checkout.parser import read_line
from bot.core.money import Amount
from bot.settlement.model import PayoutMethod

BCA = PayoutMethod("014", "BANK CENTRAL ASIA", "bank", 100_000_000)
MANDIRI = PayoutMethod("008", "BANK MANDIRI", "bank", 100_000_000)
GOPAY = PayoutMethod("gopay", "GOPAY", "ewallet", 20_000_000)
HSBC = PayoutMethod("087", "BANK HSBC INDONESIA", "bank", 100_000_000)
METHODS = [BCA, MANDIRI, HSBC, GOPAY]
EMPTY = new_draft(chat_id=1, user_id=2, now=datetime(2026, 11, 21, 9, 0, tzinfo=UTC))
HALF_A_MILLION = Amount("IDR", 500_000)


def filled(text: str, draft: OrderDraft = EMPTY) -> OrderDraft:
    return apply_line(draft, read_line(text, METHODS))


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("", Step.DESTINATION),
        ("500rb", Step.DESTINATION),
        ("500rb 1234567890 budi", Step.DESTINATION),
        ("500rb bca mandiri 1234567890 budi", Step.DESTINATION),
        ("500rb bca", Step.NUMBER),
        ("500rb bca 123456 budi", Step.NUMBER),
        ("500rb gopay 1234567890 budi", Step.NUMBER),
        ("500rb bca 1234567890 9876543210 budi", Step.NUMBER),
        ("500rb bca 1234567890", Step.HOLDER),
        ("bca 1234567890 budi", Step.AMOUNT),
        ("1.500 bca 1234567890 budi", Step.AMOUNT),
        ("500rb 50rb bca 1234567890 budi", Step.AMOUNT),
        ("-50rb bca 1234567890 budi", Step.AMOUNT),
    ],
)
def test_only_what_is_missing_or_doubtful_is_asked(text: str, step: Step) -> None:
    assert filled(text).step is step


def test_the_yes_takes_the_number_and_keeps_the_holder_who_was_named_with_it() -> None:
    draft = confirm_number(filled("500rb bca 123456 Budi"), "123456")
    assert (draft.number, draft.doubtful_number, draft.holder, draft.step) == ("123456", None, "Budi", Step.REVIEW)
    assert waiting_number(draft) is None


@pytest.mark.parametrize("text", ["500rb 1234567890 Budi", "500rb bca mandiri 1234567890 Budi"])
def test_a_number_waits_for_its_destination_and_is_taken_with_it(text: str) -> None:
    draft = filled(text)
    assert (draft.number, draft.doubtful_number, waiting_number(draft)) == (None, "1234567890", None)
    chosen = take_destination(draft, BCA)
    assert (chosen.method, chosen.number, chosen.doubtful_number) == (BCA, "1234567890", None)
    assert (chosen.holder, chosen.amount, chosen.step) == ("Budi", HALF_A_MILLION, Step.REVIEW)


def test_a_number_that_is_unusual_at_the_chosen_destination_is_asked_about() -> None:
    draft = take_destination(filled("500rb 1234567890 Budi"), MANDIRI)
    assert (draft.number, draft.doubtful_number, draft.step, draft.holder) == (None, "1234567890", Step.NUMBER, "Budi")
    assert take_destination(draft, BCA).number == "1234567890"


def test_a_number_that_the_destination_cannot_have_is_dropped_with_a_reason() -> None:
    draft = filled("500rb 1234567890 Budi")
    reason = find_rejection(draft, GOPAY)
    assert reason is not None
    assert reason.key == "recipients.number.not_mobile"
    chosen = take_destination(draft, GOPAY)
    assert (chosen.number, chosen.doubtful_number, chosen.step) == (None, None, Step.NUMBER)
    assert find_rejection(draft, BCA) is None


@pytest.mark.parametrize(
    "text", ["500rb hp 081234567890 Budi", "500rb No. WA: 0812-3456-7890 Budi", "500rb telp 62812 3456 7890 Budi"]
)
def test_a_phones_number_goes_on_to_an_ewallet_and_to_no_bank(text: str) -> None:
    draft = filled(text)
    assert take_destination(draft, GOPAY).number == "081234567890"
    for bank in (HSBC, BCA):
        reason = find_rejection(draft, bank)
        assert reason is not None
        assert reason.key == "recipients.number.phone_at_bank"
        chosen = take_destination(draft, bank)
        assert (chosen.number, chosen.doubtful_number, chosen.step) == (None, None, Step.NUMBER)
    assert filled("hp 081234567890", filled("500rb hsbc")).number is None


@pytest.mark.parametrize(
    "text", ["500rb 081234567890 Budi", "500rb 0812-3456-7890 Budi", "500rb rek 6281234567890 Budi"]
)
def test_a_number_that_a_phone_may_have_goes_to_a_bank_only_after_a_yes(text: str) -> None:
    draft = take_destination(filled(text), HSBC)
    waiting = waiting_number(draft)
    assert (draft.number, draft.step) == (None, Step.NUMBER)
    assert waiting is not None
    assert waiting.remark is not None
    assert waiting.remark.key == "recipients.number.like_mobile"
    assert confirm_number(draft, waiting.number).number == waiting.number
    assert waiting_number(filled(text.replace("500rb", "500rb hsbc"))) == waiting
    assert take_destination(filled("500rb 81234567890 Budi"), HSBC).number == "81234567890"

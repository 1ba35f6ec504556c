"""Tests of lines that name a saved recipient, and of the drafts that they fill."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.checkout import one_line as lines
from bot.checkout.draft import OrderDraft, RequestTerms, Step, new_draft
from bot.checkout.one_line import LineReading
from bot.core.money import Amount
from bot.recipients.model import SavedRecipient
from bot.settlement.model import PayoutMethod

NOW = datetime(2026, 11, 21, tzinfo=UTC)
BCA = PayoutMethod("014", "BANK CENTRAL ASIA", "bank", 100_000_000)
MANDIRI = PayoutMethod("008", "BANK MANDIRI", "bank")
DANA = PayoutMethod("dana", "DANA", "ewallet")
METHODS = (BCA, MANDIRI, DANA)
HALF_A_MILLION = Amount("IDR", 500_000)


def somebody(label: str | None, **changes: Any) -> SavedRecipient:
    known: dict[str, Any] = {
        "id": f"id of {label}",
        "user_id": 1,
        "method": BCA,
        "number": "1234567890",
        "holder": "Siti Aminah",
        "label": label,
        "created_at": NOW,
        "last_used_at": NOW,
    }
    return SavedRecipient(**{**known, **changes})


IBU, IBU_KOS, KOS, DANA_DARURAT = (somebody(label) for label in ("Ibu ❤️", "Ibu Kos", "Kos 88", "Dana"))
UNNAMED = somebody(None, holder="Budi Santoso", number="2222222222")
KNOWN = (IBU, IBU_KOS, KOS, DANA_DARURAT, UNNAMED)


def read(text: str, known: tuple[SavedRecipient, ...] = KNOWN) -> LineReading:
    return lines.read_order_line(text, METHODS, known)


def filled(
    text: str, methods: tuple[PayoutMethod, ...] = METHODS, known: tuple[SavedRecipient, ...] = KNOWN
) -> OrderDraft:
    draft = new_draft(chat_id=1, user_id=1, now=NOW)
    return lines.fill_draft(draft, lines.read_order_line(text, methods, known), methods, known)


@pytest.mark.parametrize(
    ("text", "user"),
    [
        ("500rb ibu", IBU),
        ("IBU 500 ribu", IBU),
        ("tolong kirim Rp500.000 ke ibu ya", IBU),
        ("Ibu:\n500rb", IBU),
        ("500rb ibu kos", IBU_KOS),
        ("500rb kos 88", KOS),
        ("kos 88, 500rb", KOS),
        ("budi santoso 500rb", UNNAMED),
    ],
)
def test_a_recipients_whole_name_stands_for_them(text: str, user: SavedRecipient) -> None:
    assert read(text).recipient == user
    draft = filled(text)
    assert (draft.step, draft.amount) == (Step.REVIEW, HALF_A_MILLION)
    assert (draft.method, draft.number, draft.holder) == (user.method, user.number, user.holder)
    assert lines.may_be_order(text, KNOWN)
    assert lines.is_order(text, METHODS, KNOWN)


def test_beside_a_number_it_is_a_holders_name_and_nobody_is_guessed() -> None:
    reading = read("500rb mandiri 1234567890123 budi santoso")
    assert reading.recipients == ()
    draft = filled("500rb mandiri 1234567890123 budi santoso")
    assert (draft.method, draft.number, draft.holder) == (MANDIRI, "1234567890123", "budi santoso")


@pytest.mark.parametrize(("text", "people"), [("500rb ib", (IBU, IBU_KOS)), ("500rb budi", (UNNAMED,))])
def test_the_beginning_of_a_name_is_offered_and_never_taken(text: str, people: tuple[SavedRecipient, ...]) -> None:
    reading = read(text)
    assert (reading.recipient, reading.recipients, reading.has_choice) == (None, people, True)
    assert (filled(text).step, filled(text).holder) == (Step.DESTINATION, None)
    assert lines.is_order(text, METHODS, KNOWN)


def test_a_name_alone_is_no_order_by_itself_but_a_recipient_after_the_command() -> None:
    for name in ("ibu", "budi santoso"):
        assert not lines.is_order(name, METHODS, KNOWN)
        assert not lines.is_part_of_order(name, METHODS, KNOWN)
    assert (filled("ibu").step, filled("ibu").number) == (Step.AMOUNT, IBU.number)


def test_who_leaves_the_name_out_is_not_asked_and_an_earlier_one_is_reused() -> None:
    assert (filled("500rb bca 9999999999").step, filled("500rb bca 9999999999").holder) == (Step.REVIEW, None)
    assert filled("500rb bca 2222222222").holder == "Budi Santoso"
    assert filled("500rb bca 2222222222 Wati").holder == "Wati"
    assert filled("500rb bca").step is Step.NUMBER


@given(st.text(max_size=400), st.lists(st.text(min_size=1, max_size=40), max_size=4))
def test_whatever_is_written_is_read_without_a_fault(text: str, labels: list[str]) -> None:
    known = tuple(somebody(label) for label in labels)
    reading = read(text, known)
    assert reading.recipient is None or reading.recipient in known
    draft = lines.fill_draft(new_draft(chat_id=1, user_id=1, now=NOW), reading, METHODS, known)
    assert draft.step in Step
    lines.is_order(text, METHODS, known)
    lines.is_part_of_order(text, METHODS, known)


@pytest.mark.parametrize(
    ("text", "reference"),
    [
        ("85rb meja 12", "meja 12"),
        ("meja 12, Rp85.000", "meja 12"),
        ("85 ribu meja 5A (bungkus)", "meja 5A (bungkus)"),
        ("85k table 12", "table 12"),
        ("85rb nota #2231", "nota #2231"),
        ("85rb Budi", "Budi"),
        ("85rb bca 1234567890 Sari Dewi meja 12", "meja 12"),
        ("85rb bca 1234567890 Sari Dewi", ""),
        ("85rb ya", ""),
        ("85rb", ""),
    ],
)
def test_the_other_words_of_a_request_are_its_reference(text: str, reference: str) -> None:
    reading = lines.for_request(read(text, ()), text)
    draft = replace(new_draft(chat_id=1, user_id=1, now=NOW), terms=RequestTerms())
    draft = lines.fill_draft(draft, reading, METHODS, ())
    assert (reading.reference, reading.line.leftover) == (reference, ())
    assert draft.amount == Amount("IDR", 85_000)
    known = RequestTerms(note=reference, note_asked=True, is_reusable=False) if reference else RequestTerms()
    assert draft.terms == known


ORDERS = [
    "kirim 250 ribu ke mama di gopay 081234567890",
    "500k bca 1234567890 for rent",
    "500rb bca 1234567890 untuk bayar kontrakan",
    "500rb bca 123",
    "500rb bca",
    "send 250k to mom on dana 081234567890",
    "kirim 500rb",
    "send 500k to mom",
    "kirim lima ratus ribu ke bca",
    "1.500 bca 1234567890",
    "$20 bca 1234567890",
    "kirim 20 usdt",
    "kirim duit ke ibu",
    "kirim ke bca",
]
PARTS = ["500rb", "500 ribu ya", "bca", "Dana", "500rb wati", "ibu 500rb", "500rb buat ibu"]
TALK = [
    "minta tolong 500rb",
    "20 usd",
    "kirim",
    "50",
    "123456",
    "makan siang 50rb",
    "kirim resi ke ibu",
    "uang 500rb ke bca 1234567890 ga masuk",
    "500rb ke bca 1234567890 lama banget",
    "my 500k to bca 1234567890 has not arrived",
    "sudah bayar 500rb ke bca",
    "500rb bca buat apa",
    "berapa kalau kirim 500rb",
    "jangan kirim 500rb ke bca 1234567890",
    "500rb ke bca 1234567890?",
    "refund 500rb bca 1234567890",
    "saya kemarin kirim 500rb ke bca 1234567890",
    "one two three four five 500rb bca 1234567890",
]


@pytest.mark.parametrize("text", ORDERS)
def test_a_plain_line_begins_an_order_though_parts_of_it_are_missing(text: str) -> None:
    assert lines.may_be_order(text, ())
    assert lines.is_order(text, METHODS, ())


@pytest.mark.parametrize("text", PARTS)
def test_an_amount_or_a_bank_alone_is_only_a_part_of_an_order(text: str) -> None:
    assert lines.is_part_of_order(text, METHODS, ())
    assert not lines.is_order(text, METHODS, ())


@pytest.mark.parametrize("text", TALK)
def test_talk_about_money_begins_no_order(text: str) -> None:
    assert not (lines.may_be_order(text, ()) and lines.is_order(text, METHODS, ()))
    assert not lines.is_part_of_order(text, METHODS, ())


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("500rb bca 123", Step.AMOUNT),
        ("1.500 1234567890", Step.AMOUNT),
        ("kirim $20", Step.AMOUNT),
        ("1.500 ibu", Step.AMOUNT),
    ],
)
def test_a_sum_in_doubt_is_asked_about_first_because_no_draft_keeps_it(text: str, step: Step) -> None:
    assert (filled(text).step, filled(text).amount) == (step, None)


AT: dict[Step, dict[str, Any]] = {
    Step.NUMBER: {"method": BCA},
    Step.HOLDER: {"method": BCA, "number": "1112223334"},
    Step.AMOUNT: {"method": BCA, "number": "1112223334", "holder_asked": True},
    Step.REVIEW: {"method": BCA, "number": "1112223334", "holder_asked": True, "amount": HALF_A_MILLION},
}


def answered(step: Step, text: str) -> OrderDraft | None:
    """Return the draft after this text, or None if the step itself reads it."""
    draft = replace(new_draft(chat_id=1, user_id=1, now=NOW), step=step, **AT[step])
    reading = lines.read_answer(draft, text, METHODS, KNOWN)
    return None if reading is None else lines.fill_draft(draft, reading, METHODS, KNOWN)


@pytest.mark.parametrize(
    ("step", "text", "changes"),
    [
        (Step.NUMBER, "1234567890 a.n. Wati", {"number": "1234567890", "holder": "Wati"}),
        (Step.NUMBER, "750rb", {"amount": Amount("IDR", 750_000), "number": None, "step": Step.NUMBER}),
        (Step.NUMBER, "dana 081234567890", {"method": DANA, "number": "081234567890"}),
        (Step.HOLDER, "750rb", {"amount": Amount("IDR", 750_000), "holder": None, "step": Step.HOLDER}),
        (Step.HOLDER, "Wati 750rb", {"amount": Amount("IDR", 750_000), "holder": "Wati", "step": Step.REVIEW}),
        (Step.HOLDER, "1.500", {"amount": None, "holder": None, "step": Step.AMOUNT}),
        (Step.AMOUNT, "dana 081234567890 750rb", {"method": DANA, "amount": Amount("IDR", 750_000)}),
        (Step.AMOUNT, "tolong kirim 750rb aja", {"amount": Amount("IDR", 750_000), "number": "1112223334"}),
        (Step.REVIEW, "750rb", {"amount": Amount("IDR", 750_000), "number": "1112223334", "step": Step.REVIEW}),
        (Step.REVIEW, "1.500", {"amount": HALF_A_MILLION, "step": Step.AMOUNT}),
        (Step.REVIEW, "9876543210", {"amount": HALF_A_MILLION, "number": "9876543210", "step": Step.REVIEW}),
        (Step.REVIEW, "$20", {"amount": HALF_A_MILLION, "step": Step.AMOUNT}),
    ],
)
def test_what_is_typed_in_place_of_an_answer_does_what_it_says(step: Step, text: str, changes: dict[str, Any]) -> None:
    draft = answered(step, text)
    assert draft is not None
    assert {name: getattr(draft, name) for name in changes} == changes


@pytest.mark.parametrize(
    ("text", "amount", "step"),
    [
        ("sejuta", Amount("IDR", 1_000_000), Step.REVIEW),
        ("seratus ribu saja", Amount("IDR", 100_000), Step.REVIEW),
        ("setengah juta (500rb)", HALF_A_MILLION, Step.REVIEW),
        ("sejuta setengah", HALF_A_MILLION, Step.AMOUNT),
        ("lima nol juta", HALF_A_MILLION, Step.AMOUNT),
    ],
)
def test_a_sum_at_the_review_is_read_as_at_the_question(text: str, amount: Amount, step: Step) -> None:
    draft = answered(Step.REVIEW, text)
    assert draft is not None
    assert (draft.amount, draft.step) == (amount, step)


@pytest.mark.parametrize(
    ("step", "text"),
    [
        (Step.NUMBER, "1234567890"),
        (Step.NUMBER, "0812 3456 7890"),
        (Step.NUMBER, "12ab"),
        (Step.HOLDER, "Wati"),
        (Step.HOLDER, "Toko 88"),
        (Step.HOLDER, "Lima"),
        (Step.HOLDER, "Dana"),
        (Step.HOLDER, "1234567890"),
        (Step.AMOUNT, "500rb"),
        (Step.AMOUNT, "1.500"),
        (Step.AMOUNT, "1000000000"),
        (Step.AMOUNT, "lots of money"),
        (Step.AMOUNT, "Budi"),
        (Step.REVIEW, "yes"),
        (Step.REVIEW, "ok"),
        (Step.REVIEW, "kenapa 750rb"),
        (Step.REVIEW, "750rb?"),
        (Step.REVIEW, "Budi"),
    ],
)
def test_an_answer_is_left_to_the_step_that_asked(step: Step, text: str) -> None:
    assert answered(step, text) is None

"""Account numbers, mobile numbers and holders' names as people paste them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.errors import Rejection, Remark
from bot.recipients.holders import MAX_HOLDER_LENGTH, clean_holder
from bot.recipients.numbers import CleanNumber, clean_contact, clean_number
from bot.settlement.model import PayoutMethod

BCA = PayoutMethod("014", "BANK CENTRAL ASIA", "bank", 100_000_000)
HSBC = PayoutMethod("087", "BANK HSBC INDONESIA", "bank")
GOPAY = PayoutMethod("1011", "GOPAY", "ewallet", 20_000_000)


def reason(method: PayoutMethod, text: str) -> tuple[str, dict[str, object]]:
    with pytest.raises(Rejection) as refused:
        clean_number(method, text)
    return refused.value.key, dict(refused.value.arguments)


@pytest.mark.parametrize(
    "text",
    [
        "1234567890",
        "123-456 7890",
        " 123.456.7890 ",
        "123\u00a0456\u202f7890",
        "123\u2013456\u20147890",
        "\u200e1234567890\u202c",
        "\uff11\uff12\uff13\uff14\uff15\uff16\uff17\uff18\uff19\uff10",
        "\u0661\u0662\u0663\u0664\u0665\u0666\u0667\u0668\u0669\u0660",
    ],
)
def test_an_account_number_is_cleaned_to_its_digits(text: str) -> None:
    assert clean_number(BCA, text) == CleanNumber("1234567890")


def test_an_unusual_length_is_a_question_that_says_what_is_usual() -> None:
    question = Remark("recipients.number.unusual_length", {"method": "BCA", "expected": 10, "actual": 9})
    assert clean_number(BCA, "123456789") == CleanNumber("123456789", question)


def test_where_no_length_is_known_only_what_the_service_calls_untypical_is_a_question() -> None:
    assert clean_number(HSBC, "1234567890123456").remark is None
    question = Remark("recipients.number.rare_length", {"shortest": 10, "longest": 16, "actual": 9})
    assert clean_number(HSBC, "123456789").remark == question


@pytest.mark.parametrize(
    "text",
    [
        "081234567890",
        "0812-3456-7890",
        "62812 3456 7890",
        "+62 812-3456-7890",
        "+62-812-3456-7890",
        "812 3456 7890",
        "+62 0812 3456 7890",
        "+62 (0)812 3456 7890",
        "0062 812 3456 7890",
        "\u202a+62 812\u20113456\u20117890\u202c",
        "\uff10\uff18\uff11\uff12\uff13\uff14\uff15\uff16\uff17\uff18\uff19\uff10",
        "\u0660\u0668\u0661\u0662\u0663\u0664\u0665\u0666\u0667\u0668\u0669\u0660",
    ],
)
def test_a_mobile_number_becomes_one_local_form(text: str) -> None:
    assert clean_number(GOPAY, text) == CleanNumber("081234567890")


@pytest.mark.parametrize(
    ("text", "key", "arguments"),
    [
        ("021 555 1234", "recipients.number.landline", {}),
        ("+62 21 555 1234", "recipients.number.landline", {}),
        ("+60 12 345 6789", "recipients.number.foreign", {"code": "+60"}),
        ("0060 12 345 6789", "recipients.number.foreign", {"code": "+60"}),
        ("+1 415 555 2671", "recipients.number.foreign", {"code": "+1"}),
        ("1234567890", "recipients.number.not_mobile", {}),
        ("0800 123 4567", "recipients.number.not_mobile", {}),
        ("+999 123 456 789", "recipients.number.not_mobile", {}),
        ("0812ABC4567", "recipients.number.not_digits", {}),
        ("081234567890 / 081345678901", "recipients.number.not_digits", {}),
        ("081234567", "recipients.number.too_short", {"shortest": 10, "actual": 9}),
        ("0812345678901234", "recipients.number.too_long", {"longest": 15, "actual": 16}),
        ("gopay", "recipients.number.missing", {}),
    ],
)
def test_what_no_ewallet_takes_is_refused_with_its_reason(text: str, key: str, arguments: dict[str, object]) -> None:
    assert reason(GOPAY, text) == (key, arguments)


@pytest.mark.parametrize(
    "typed", ["123456789\u2074", "123456789\u2080", "\u2460234567890", "12345\u248867890", "1\u33e02345"]
)
def test_only_a_digit_becomes_a_digit_of_a_number(typed: str) -> None:
    assert reason(BCA, typed) == ("recipients.number.not_digits", {})
    assert reason(GOPAY, f"0812{typed}") == ("recipients.number.not_digits", {})
    assert reason(BCA, "\u2460\u2461\u2462\u2463\u2464\u2465") == ("recipients.number.missing", {})


@pytest.mark.parametrize(
    "text",
    [
        *("tel:+62812-3456-7890", "tel:081234567890", "No. HP: 0812 3456 7890", "WA 081234567890"),
        *("https://wa.me/6281234567890", "wa.me/6281234567890?text=halo", "whatsapp://send?phone=+6281234567890"),
        *(
            "https://api.whatsapp.com/send?phone=6281234567890&text=hi",
            "https://web.whatsapp.com/send/?phone=%2B6281234567890",
        ),
    ],
)
def test_a_labelled_mobile_number_or_a_link_with_one_is_read(text: str) -> None:
    assert clean_number(GOPAY, text) == CleanNumber("081234567890")


def test_a_link_with_another_countrys_number_or_two_links_are_refused() -> None:
    assert reason(GOPAY, "https://wa.me/60123456789") == ("recipients.number.foreign", {"code": "+60"})
    assert reason(GOPAY, "wa.me/6281234567890 wa.me/6281234567891") == ("recipients.number.not_digits", {})
    assert reason(GOPAY, "https://example.com/6281234567890") == ("recipients.number.not_digits", {})


@pytest.mark.parametrize("text", ["No. Rek 1234567890", "no rek: 123-456-7890", "norek1234567890", "A/C 1234567890"])
def test_a_labelled_account_number_is_read(text: str) -> None:
    assert clean_number(BCA, text) == CleanNumber("1234567890")


@given(method=st.sampled_from([BCA, HSBC, GOPAY]), text=st.text(max_size=100))
def test_any_text_is_either_digits_or_refused(method: PayoutMethod, text: str) -> None:
    try:
        cleaned = clean_number(method, text)
    except Rejection as refused:
        assert refused.key.startswith("recipients.number.")  # noqa: PT017  most texts are refused, some are numbers
        return
    assert cleaned.number.isascii()
    assert cleaned.number.isdecimal()


def test_a_rejection_never_carries_what_was_typed() -> None:
    with pytest.raises(Rejection) as refused:
        clean_number(GOPAY, "+60 12 345 6789")
    assert "345" not in f"{refused.value!r} {refused.value} {dict(refused.value.arguments)}"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("  Sari   Dewi ", "Sari Dewi"),
        ("Sari\u00a0Dewi\u200b", "Sari Dewi"),
        ("\uff33\uff21\uff32\uff29", "SARI"),
        ("PT. Maju & Jaya (Persero)", "PT. Maju & Jaya (Persero)"),
        ("Nur'aini D/O Ali-Hasan", "Nur'aini D/O Ali-Hasan"),
        ("Jose\u0301", "José"),
        ("Sa\u3164ri\ufe0f De\u034fwi", "Sari Dewi"),
        ("นายสมชัย ใจดี", "นายสมชัย ใจดี"),
        ("क्षितिज शर्मा", "क्षितिज शर्मा"),
        ("مُحَمَّد", "مُحَمَّد"),
        ("Nguyễn Thị Hồng", "Nguyễn Thị Hồng"),
        ("Toko 88", "Toko 88"),
        ("Warung 1000 Rasa", "Warung 1000 Rasa"),
        ("", None),
        ("  \u200b ", None),
        ("\u3164\u3164", None),
        ("\u115f\uffa0\u1160", None),
        ("\u034f\ufe0f\U000e0100", None),
    ],
)
def test_a_holders_name_is_one_tidy_line(text: str, name: str | None) -> None:
    assert clean_holder(text) == name


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("Sari\nDewi", "recipients.holder.one_line"),
        ("Sari\x00Dewi", "recipients.holder.one_line"),
        ("S" * (MAX_HOLDER_LENGTH + 1), "recipients.holder.too_long"),
        ("1234567890", "recipients.holder.not_a_name"),
        ("\U0001f496\U0001f496", "recipients.holder.not_a_name"),
        ("-", "recipients.holder.not_a_name"),
        ("a\u3164", "recipients.holder.not_a_name"),
        ("\u02bb\u02bc", "recipients.holder.not_a_name"),
        ("\u0301\u0302", "recipients.holder.not_a_name"),
        ("Budi 12345", "recipients.holder.not_a_name"),
        ("Budi 1234567890", "recipients.holder.not_a_name"),
        ("Z\u0337\u0353\u0311\u0308ab", "recipients.holder.symbols"),
        ("Bu\u20ddsan", "recipients.holder.symbols"),
        ("\u0301Budi", "recipients.holder.symbols"),
        ("Budi \u0301 Santo", "recipients.holder.symbols"),
        ("Budi1\u0301", "recipients.holder.symbols"),
        ("Sari \U0001f496", "recipients.holder.symbols"),
        ("<b>Sari</b>", "recipients.holder.symbols"),
    ],
)
def test_what_no_bank_prints_is_no_holders_name(text: str, key: str) -> None:
    with pytest.raises(Rejection) as refused:
        clean_holder(text)
    assert refused.value.key == key


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("", "recipients.number.contact_without"),
        ("Siti", "recipients.number.contact_without"),
        ("+4915112345678", "recipients.number.foreign"),
        ("4915112345678", "recipients.number.foreign"),
        ("15551234567", "recipients.number.foreign"),
        ("819012345678", "recipients.number.contact_unclear"),
        ("8613812345678", "recipients.number.contact_unclear"),
        ("+62215551234", "recipients.number.landline"),
        ("021 5551234", "recipients.number.landline"),
        ("123", "recipients.number.not_mobile"),
    ],
)
def test_a_contacts_number_of_another_country_or_none_is_rejected(text: str, key: str) -> None:
    """A number without a plus is one with its country's code, as Telegram sends those of its users."""
    with pytest.raises(Rejection) as raised:
        clean_contact(text)
    assert raised.value.key == key

"""Typed amounts: the table of forms, the questions with their readings, and what is refused."""

# ruff: noqa: RUF001  digits of other scripts are tested

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.errors import Rejection
from bot.core.money import MAX_RUPIAH, MAX_SATS, Ambiguous, Amount, parse_amount
from bot.core.money.typed import ASKED, FORMS, Form
from bot.infra.i18n import LOCALES, Translations
from tests.checkout.order_lines import sums

TRANSLATIONS = Translations.load(strict=True)
HANDBOOK = Path(__file__).parents[2] / "docs" / "senders.md"


def examples(forms: tuple[Form, ...]) -> Iterator[tuple[str, int]]:
    """Yield each example of a table with what it comes to."""
    for form in forms:
        for each in form.examples.split(" · "):
            text, _, value = each.partition(" = ")
            yield text, int(value)


def read(text: str) -> int | list[int]:
    """Return the value of which the reader is sure, or the readings that it offers."""
    found = parse_amount(text)
    return [each.value for each in found.readings] if isinstance(found, Ambiguous) else found.value


@pytest.mark.parametrize(("text", "value"), list(examples(FORMS)))
def test_each_form_of_the_table_is_sure(text: str, value: int) -> None:
    assert read(text) == value
    for around in (f"  {text} ", f"{text}.", f"\U0001f4b8 {text} \U0001f64f", f"({text})", f"nominal: {text} saja ya"):
        assert read(around) == value
    assert read(text.upper()) == value


@pytest.mark.parametrize(("text", "value"), list(examples(ASKED)))
def test_each_asked_form_offers_its_likeliest_reading_first(text: str, value: int) -> None:
    readings = read(text)
    assert isinstance(readings, list)
    assert readings[0] == value


def test_the_handbook_shows_the_table_of_forms() -> None:
    handbook = HANDBOOK.read_text(encoding="utf-8")
    for form in FORMS:
        shown = ", ".join(f"`{each.partition(' = ')[0]}`" for each in form.examples.split(" · "))
        assert f"| {form.name} | {shown} |" in handbook
    for form in ASKED:
        assert form.examples.partition(" = ")[0] in handbook


SURE = {
    **dict.fromkeys(
        ("150K", "150,000", "150000", "１５０ｒｂ", "١٥٠rb", "150 k", "125+25rb"[:0] + "150\xa0rb"), 150000
    ),
    **dict.fromkeys(("1.5jt", "1,5 juta", "1.500.000,00", "1,500,000.00", "Rp. 1.500.000,-.", "1jt500rb"), 1_500_000),
    **dict.fromkeys(("Rp 50.000,=", "Rp.50.000", "50000.-", "50rb!", "IDR 50000", "Rp50 000"), 50_000),
    **dict.fromkeys(("Rp.500rb", "•500rb", "`500rb`", "separuh juta", "0,5 juta", "gopek ribu", "½jt"), 500_000),
    **dict.fromkeys(("setengah juta (500rb)", "setengah jt = 500rb", "500rb: Rp500.000", "500rb\n500rb"), 500_000),
    **dict.fromkeys(("Rp. 5jt", "Rp 5jt", "rp5jt", "gotiau"), 5_000_000),
    **dict.fromkeys(("dua puluh setengah juta", "20,5jt"), 20_500_000),
    "2️⃣0️⃣rb": 20_000,
    "seratusduapuluhlimaribu": 125_000,
    "25,000 SATS": 25_000,
    "25rb satoshi": 25_000,
    "₿0.00025": 25_000,
    "٠٫٠٠٠٥ btc": 50_000,
    "1,5k sats": 1_500,
}


@pytest.mark.parametrize(("text", "value"), SURE.items())
def test_other_spellings_of_a_form_are_sure(text: str, value: int) -> None:
    assert read(text) == value


QUESTIONS = {
    # Two rules that met were once joined to a sure sum.
    "stgh juta 500rb": [500_000],
    "satu setengah juta 500rb": [1_500_000, 500_000, 2_000_000],
    "lima nol juta": [50_000_000, 5_000_000],
    "1 nol juta": [10_000_000, 1_000_000],
    "500rb & 500rb": [1_000_000, 500_000],
    "200rb dan 200rb": [400_000, 200_000],
    "15k5": [15_500, 15_005],
    "40ribu5": [40_500, 40_005],
    "2jt5": [2_500_000, 2_005_000, 2_000_005],
    " , 5 jt": [500_000, 5_000_000],
    "Rp . 5 jt": [500_000, 5_000_000],
    # A mark before the first digit can begin a fraction, in any script.
    **{
        key: [500000, 5000000]
        for key in (".5jt", ",5 juta", "Rp .5jt", "Rp.5jt", "·5jt", "•5jt", "'5jt", "٫٥jt", "，5jt")
    },
    ".500rb": [500_000],
    ".1,5jt": [1_500_000],
    # Marks that mean something else in the other language, and short forms.
    "1,500": [1_500_000, 1_500],
    "50.00": [50_000, 5_000],
    "50": [50_000, 50_000_000],
    "500": [500_000],
    "lima puluh": [50_000, 50_000_000],
    "150000.000": [150_000_000, 150_000],
    "150.000 ribu": [150_000_000, 150_000],
    "37000k": [37_000_000, 37_000],
    "1, 5jt": [1_500_000, 1_000, 1_000_000, 5_000_000],
    "5 00rb": [500_000],
    # Doubled and lost words.
    "lima lima ratus ribu": [500_000, 5_000, 5_000_000, 505_000],
    "dua ratus ribu ribu": [200_000],
    "50rb-100rb": [50_000, 100_000, 150_000],
}


@pytest.mark.parametrize(("text", "values"), QUESTIONS.items())
def test_what_has_no_form_is_a_question_with_its_readings(text: str, values: list[int]) -> None:
    readings = read(text)
    assert isinstance(readings, list)
    assert readings[: len(values)] == values or readings[-len(values) :] == values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1m sats", [1_000_000, 1_000_000_000]),
        ("₿1", [100_000_000]),
        ("1.000 btc", [100_000_000_000, 100_000_000]),
        ("25000.000 sats", [25_000_000, 25_000]),
        (".5 btc", [50_000_000, 500_000_000]),
        ("sats 25000, 25rb", [25_000]),
    ],
)
def test_sats_and_bitcoin_are_asked_about_as_well(text: str, values: list[int]) -> None:
    readings = read(text)
    assert isinstance(readings, list)
    assert set(values) <= set(readings)


REFUSED = {
    "core.amount.unreadable": [
        "", "   ", "abc", "Rp", "🙏", "1.5.5", "081234567890", "1e5", "0x10", "10²", "⑤rb", "juta", "sats", "x" * 4096,
        "ribu juta", "~500rb", "+-1,5jt", "jam 10 250 000", "500rb x 3", "500rb/orang", "fee 5rb", "nan", "infinity",
        "500rb bca 1234567890", "Budi 500rb",
    ],
    "core.amount.not_positive": [
        "0", "Rp0", "0 sats", "nol", "minus 1", "-50000", "\u221250rb", "Rp -50.000",
        "-Rp50.000",
    ],
    "core.amount.fraction": ["1.500.000,50", "Rp 50.000,75", "1500.5"],
    "core.amount.fraction_sats": ["1.5 sats", "0,000000001 btc"],
    "core.amount.too_large": ["10 triliun", "9" * 40, "2000000000000"],
    "core.amount.too_large_sats": ["1001 btc", "9" * 20 + " sats"],
}  # fmt: skip


@pytest.mark.parametrize(("text", "key"), [(text, key) for key, texts in REFUSED.items() for text in texts])
def test_what_is_no_sum_is_refused_with_its_reason(text: str, key: str) -> None:
    with pytest.raises(Rejection) as refused:
        parse_amount(text)
    assert refused.value.key == key


def test_a_refusal_for_size_says_what_would_be_fine() -> None:
    with pytest.raises(Rejection) as refused:
        parse_amount("10 triliun")
    assert refused.value.arguments == {"maximum": MAX_RUPIAH}


FOREIGN = (
    *("50rb usd", "500.000 won", "10.000 ringgit", "5000 yen", "50.000 sgd", "10 USDT", "$50", "50$", "US$ 50", "50 €"),
    *("￥5000", "5000￥", "﷼ 500", "₨500", "50.000 ₫", "RM50", "50rm", "500.000 đồng", "5000円", "50rbusd", "usd50rb"),
    *("💲50", "50 PLN", "10 bucks", "50 us dollars", "dua puluh dolar", "sejuta dong", "Rp50.000 usd", "0.001 cbbtc"),
    *("setengah dolar", "sejuta setengah ringgit", ".5 usd", "50 msats", "500 rubel", "50-usd", "50/usd", "(50 usd)"),
)


@pytest.mark.parametrize("text", FOREIGN)
def test_other_money_is_never_taken_for_rupiah_or_bitcoin(text: str) -> None:
    try:
        assert isinstance(parse_amount(text), Ambiguous)
    except Rejection as refused:
        assert refused.key.startswith("core.amount.")  # noqa: PT017  a question may follow instead


MONEY_LIKE = st.text(alphabet="0123456789.,' -rpjtkbmusa₿½٠=()+&", min_size=1, max_size=24)


@given(MONEY_LIKE | st.text(max_size=400))
def test_any_text_is_a_sum_or_distinct_readings_or_refused(text: str) -> None:
    try:
        result = parse_amount(text)
    except Rejection as refused:
        assert refused.key.startswith("core.amount.")  # noqa: PT017  most texts are refused, some are sums
        return
    readings = result.readings if isinstance(result, Ambiguous) else (result,)
    assert len(set(readings)) == len(readings) > 0
    assert all(0 < each.value <= (MAX_RUPIAH if each.currency == "IDR" else MAX_SATS) for each in readings)


def test_of_a_sum_that_is_typed_in_any_way_no_other_is_made() -> None:
    for amount, text, is_slipped in sums(20261121, 1_000):
        try:
            found = parse_amount(text)
        except Rejection:
            assert is_slipped, text
            continue
        assert found == amount or (isinstance(found, Ambiguous) and (amount in found.readings or is_slipped)), text


@given(value=st.integers(min_value=10_000, max_value=MAX_RUPIAH), locale=st.sampled_from(list(LOCALES)))
def test_a_sum_that_we_write_is_read_back_as_the_same_sum(value: int, locale: str) -> None:
    t = TRANSLATIONS.get(locale)
    assert parse_amount(t.rupiah(value)) == Amount("IDR", value)
    if value <= MAX_SATS:
        assert parse_amount(t.sats(value)) == Amount("SAT", value)

"""Typed amounts: read exactly, asked about if they have two meanings, rejected if they have none."""

# ruff: noqa: RUF001  digits of other scripts are tested

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.errors import Rejection
from bot.core.money import MAX_RUPIAH, MAX_SATS, Ambiguous, Amount, parse_amount
from bot.core.money.foreign import has_foreign_sign
from bot.infra.i18n import LOCALES, Translations
from tests.checkout.order_lines import sums

TRANSLATIONS = Translations.load(strict=True)

SURE_RUPIAH = {
    150_000: ["150rb", "150 ribu", "150k", "150K", "Rp150.000", "150.000", "150,000", "150000", "１５０ｒｂ", "١٥٠rb"],
    1_500_000: ["1,5jt", "1.5jt", "1,5 juta", "Rp 1.500.000", "1.500.000,00", "1,500,000.00", "1'500'000", "1 500 000"],
    50_000: [
        "Rp50.000,-",
        "Rp 50.000,=",
        "IDR 50000",
        "50.000 rupiah",
        "Rp.50.000",
        "gocap",
        "goban",
        "50000.-",
        "50rb!",
    ],
    1_000_000: ["sejuta", "1 juta", "Rp 1jt", "satu juta", "one million", "cetiau", "SEJUTA"],
    500_000: [
        "Rp.500rb",
        "Rp.500.000",
        "•500rb",
        "`500rb`",
        "separuh juta",
        "setengah juta",
        "0,5 juta",
        "lima ratus ribu",
        "500 ribu",
        "5 ratus ribu",
        "half million",
        "gopek ribu",
    ],
    20_500_000: ["dua puluh setengah juta"],
    5_000_000: ["Rp. 5jt", "Rp 5jt", "rp5jt"],
    2_500_000: ["dua setengah juta", "2 juta 500 ribu", "dua juta lima ratus ribu", "2,5jt", "2500rb"],
    125_000: ["seratus dua puluh lima ribu", "seratusduapuluhlimaribu", "125\u00a0rb", "125\u202frb", "💸 125rb 🙏"],
    11_000: ["sebelas ribu", "11rb"],
    15_000: ["lima belas ribu", "fifteen thousand", "15 k"],
    20_000: ["noban", "dua puluh ribu", "twenty thousand", "2️⃣0️⃣rb"],
    1_500: ["1500", "1.500,00", "1,500.00", "seribu lima ratus", "1 500"],
    10_000: ["ceban", "10.000", "10,000"],
    1_000_000_000: ["1 miliar", "1 milyar", "semiliar", "1bn"],
}

SURE_SATS = {
    25_000: ["25000 sats", "25k sat", "25.000 sats", "25,000 SATS", "25rb satoshi", "₿0.00025", "₿25000", "sats 25000"],
    50_000: ["0.0005 btc", "0,0005 btc", "0.0005 BTC", "٠٫٠٠٠٥ btc", "0.00050000 bitcoin"],
    1_500: ["1.500 sats", "1,5k sats"],
    50: ["50 sats"],
    150_000_000: ["1.5 btc", "1,5 BTC", "1.500 btc"],
}

ASKED = {
    "1.500": [1_500, 1_500_000],
    "1,500": [1_500, 1_500_000],
    "Rp 1.500": [1_500, 1_500_000],
    "1m": [1_000_000, 1_000_000_000],
    "1,5 M": [1_500_000, 1_500_000_000],
    "50.00": [5_000, 50_000],
    "50,00": [5_000, 50_000],
    "1.5": [1_500, 1_500_000],
    "1,5": [1_500, 1_500_000],
    "50": [50_000, 50_000_000],
    "lima puluh": [50_000, 50_000_000],
    "500": [500_000],
    "cepek": [100_000],
    "1.500,000": [1_500, 1_500_000],
    "150000.000": [150_000, 150_000_000],
    "150000,000": [150_000, 150_000_000],
    "1.500.000,000": [1_500_000, 1_500_000_000],
    "1500.500": [1_500_500],
    "5000.0000": [5_000, 50_000_000],
    "1500.000 ribu": [1_500_000, 1_500_000_000],
    "761,1700k": [761_170],
    "1.500 ribu": [1_500, 1_500_000],
    "150.000 ribu": [150_000, 150_000_000],
    "2 juta 500": [2_000_500, 2_500_000],
    "5000m": [5_000_000_000],
    ".5jt": [500_000, 5_000_000],
    ",5 juta": [500_000, 5_000_000],
    "Rp .5jt": [500_000, 5_000_000],
    "Rp.5jt": [500_000, 5_000_000],
    "rp,5 juta": [500_000, 5_000_000],
    "·5jt": [500_000, 5_000_000],
    "•5jt": [500_000, 5_000_000],
    "'5jt": [500_000, 5_000_000],
    "´5jt": [500_000, 5_000_000],
    "٫٥jt": [500_000, 5_000_000],
    "．５jt": [500_000, 5_000_000],
    "，5jt": [500_000, 5_000_000],
    "。5jt": [500_000, 5_000_000],
    "٬5jt": [500_000, 5_000_000],
    "‧5jt": [500_000, 5_000_000],
    "'\u200b5jt": [500_000, 5_000_000],
    ".75 juta": [750_000, 75_000_000],
    ".500rb": [500, 500_000],
    ".1,5jt": [1_500_000],
    "sejuta setengah": [1_500_000],
    "1jt setengah": [1_500_000],
    "dua juta setengah": [2_500_000],
    "1 million half": [1_500_000],
    "sejuta separuh": [1_500_000],
    "sejuta seperempat": [1_250_000],
    "dua juta tiga perempat": [2_750_000],
    "500rb setengah": [500_500],
    "dua juta lima setengah": [2_005_500],
    "satu juta setengah ribu": [1_000_500, 1_500_000],
    "seratus setengah ribu": [100_500, 150_000],
    "seperempat juta": [250_000],
    "three quarters million": [750_000],
    "satu setengah": [1_500, 1_500_000],
}

REFUSED = {
    "core.amount.unreadable": [
        "", "   ", "abc", "Rp", "🙏", "1.5.5", "1.500.00", "1,50,000", "081234567890", "1e5", "1_000", "0x10", "½ juta",
        "10²", "⑤rb", "50rb-100rb", "rp 50 sats", "juta", "dua m", "ribu juta", "sats", "1 juta 2 juta", "9" * 65,
        "x" * 4096, "(1,5jt)", "nominal:1,5jt", "0,5jt;", "+-1,5jt", "~500rb", "1:5jt", "1, 5jt", "jam 10 250 000",
        "500rb x 3", "500rb/orang", "fee 5rb", "dua lima", "nan", "infinity", "1/2 juta", "seratus ratus",
    ],
    "core.amount.not_positive": [
        "0", "Rp0", "0 sats", "nol", "minus 1", "-50000", "\u221250rb", "Rp -50.000", "-Rp50.000",
    ],
    "core.amount.fraction": ["1.500.000,50", "Rp 50.000,75", "1500.5", "1,2345 ribu"],
    "core.amount.fraction_sats": ["1.5 sats", "0,000000001 btc"],
    "core.amount.too_large": ["10 triliun", "9" * 40, "2000000000000"],
    "core.amount.too_large_sats": ["1001 btc", "9" * 20 + " sats"],
}  # fmt: skip


@pytest.mark.parametrize(("text", "value"), [(text, value) for value, texts in SURE_RUPIAH.items() for text in texts])
def test_a_clear_sum_of_rupiah_is_read_exactly(text: str, value: int) -> None:
    assert parse_amount(text) == Amount("IDR", value)


@pytest.mark.parametrize(("text", "value"), [(text, value) for value, texts in SURE_SATS.items() for text in texts])
def test_a_clear_sum_of_sats_is_read_exactly(text: str, value: int) -> None:
    assert parse_amount(text) == Amount("SAT", value)


@pytest.mark.parametrize(("text", "values"), ASKED.items())
def test_what_could_mean_two_sums_is_asked_back(text: str, values: list[int]) -> None:
    assert parse_amount(text) == Ambiguous(tuple(Amount("IDR", value) for value in values))


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1m sats", [1_000_000, 1_000_000_000]),
        ("50.00 sats", [50, 5_000]),
        ("₿1", [1, 100_000_000]),
        ("1.000 btc", [100_000_000, 100_000_000_000]),
        ("1.500,000 sats", [1_500, 1_500_000]),
        ("25000.000 sats", [25_000, 25_000_000]),
        (".5 btc", [50_000_000, 500_000_000]),
        (",0005 btc", [50_000]),
        ("btc.5", [50_000_000, 500_000_000]),
        (".5k sats", [500, 5_000]),
    ],
)
def test_sats_and_bitcoin_that_could_mean_two_sums_are_asked_back(text: str, values: list[int]) -> None:
    assert parse_amount(text) == Ambiguous(tuple(Amount("SAT", value) for value in values))


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


def test_each_currency_sign_but_bitcoins_is_foreign() -> None:
    signs = {chr(code) for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) == "Sc"}
    assert {sign for sign in signs if not has_foreign_sign(sign)} == {"₿"}


@given(st.text(max_size=4096))
def test_no_text_at_all_breaks_the_reading(text: str) -> None:
    try:
        result = parse_amount(text)
    except Rejection as refused:
        assert refused.key.startswith("core.amount.")  # noqa: PT017  most texts are refused, some are sums
        return
    readings = result.readings if isinstance(result, Ambiguous) else (result,)
    assert readings
    assert all(0 < each.value <= (MAX_RUPIAH if each.currency == "IDR" else MAX_SATS) for each in readings)


def test_of_a_sum_that_is_typed_in_any_way_no_other_is_made() -> None:
    for amount, text, is_slipped in sums(20261121, 2_000):
        try:
            read = parse_amount(text)
        except Rejection:
            assert is_slipped, text
            continue
        assert read == amount or (isinstance(read, Ambiguous) and (amount in read.readings or is_slipped)), text


MONEY_LIKE = st.text(alphabet="0123456789.,' -rpjtkbmusa₿½٠", min_size=1, max_size=24)


@given(MONEY_LIKE)
def test_what_is_asked_back_has_distinct_readings_in_order(text: str) -> None:
    try:
        result = parse_amount(text)
    except Rejection:
        return
    if isinstance(result, Ambiguous):
        values = [each.value for each in result.readings]
        assert values == sorted(set(values))


@given(value=st.integers(min_value=10_000, max_value=MAX_RUPIAH), locale=st.sampled_from(list(LOCALES)))
def test_a_sum_that_we_write_is_read_back_as_the_same_sum(value: int, locale: str) -> None:
    t = TRANSLATIONS.get(locale)
    assert parse_amount(t.rupiah(value)) == Amount("IDR", value)
    if value <= MAX_SATS:
        assert parse_amount(t.sats(value)) == Amount("SAT", value)


@given(st.integers(min_value=1, max_value=999_999))
def test_thousands_in_any_notation_are_the_same_sum(thousands: int) -> None:
    expected = parse_amount(str(thousands * 1000))
    assert all(parse_amount(f"{thousands}{unit}") == expected for unit in ("rb", " ribu", "k", "000", ",0 rb"))

"""Tests of sums in a line: a leading decimal mark, half of what, and money that we don't send."""

# ruff: noqa: RUF001  other scripts are typed, too

import pytest

from bot.checkout.parser import OneLine, looks_like_order, read_line
from bot.checkout.parser.vocabulary import (
    ASIDE_LABELS,
    COUNTED,
    EVERYDAY_WORDS,
    FILLERS,
    GENERIC,
    KNOWN_NAMES,
    LEADS_TO_NAME,
    MONTHS,
    TALK,
    TITLES,
)
from bot.core.money import Amount
from bot.core.money.foreign import FOREIGN
from bot.core.money.vocabulary import CURRENCIES
from bot.recipients.banks import find_known
from tests.checkout.order_lines import METHODS


def read(text: str) -> OneLine:
    return read_line(text, METHODS)


def offered(line: OneLine) -> list[int]:
    return [each.value for each in line.amount_readings]


HALF_OR_FIVE = (
    *(
        ".5jt",
        ",5 juta",
        "Rp .5jt",
        "Rp.5jt",
        "Rp,5jt",
        "·5jt",
        "•5jt",
        "'5jt",
        "´5jt",
        "`5jt",
        "’5jt",
        "‧5jt",
        "・5jt",
    ),
    *(
        "٫5jt",
        "٬5jt",
        "。5jt",
        "、5jt",
        "،5jt",
        "．5jt",
        "，5jt",
        "٫٥jt",
        ".５jt",
        "(.5jt)",
        "nominal:.5jt",
        "/.5jt",
        ".*5jt*",
    ),
    *("nominal,5jt", ",,5jt", "...5jt", "…5jt", "\u200b.5jt", ".\u200b5jt", "*.5jt*", "=.5jt"),
)


@pytest.mark.parametrize("said", HALF_OR_FIVE)
def test_a_mark_before_the_first_digit_is_never_dropped(said: str) -> None:
    for text in (f"{said} bca 1234567890 Budi", f"bca 1234567890 Budi {said}", f"bca 1234567890 a.n. Budi\n{said}"):
        line = read(text)
        assert (line.amount, offered(line), line.number) == (None, [500_000, 5_000_000], "1234567890"), text


@pytest.mark.parametrize(
    ("said", "values"),
    [
        (".75 juta", [750_000, 75_000_000]),
        (".5 btc", [50_000_000, 500_000_000]),
        (".500000", [500_000]),
        (",50", [50_000, 500_000, 50_000_000]),
        (".500 000", [500_000]),
        (".1,5jt", [1_500_000]),
    ],
)
def test_the_question_offers_the_fraction_and_the_sum_without_its_mark(said: str, values: list[int]) -> None:
    line = read(f"{said} bca 1234567890 Budi")
    assert (line.amount, offered(line)) == (None, values)


@pytest.mark.parametrize(
    ("text", "idr"),
    [
        ("Rp. 5jt bca 1234567890 Budi", 5_000_000),
        ("Rp.500.000 bca 1234567890 Budi", 500_000),
        ("Rp.500rb bca 1234567890 Budi", 500_000),
        ("•500rb •bca •1234567890 •Budi", 500_000),
        ("• 5jt • bca • 1234567890 • Budi", 5_000_000),
        ("'500rb' bca 1234567890 Budi", 500_000),
        ("`5 jt` bca 1234567890 Budi", 5_000_000),
        ("bca,1234567890,5jt,Budi", 5_000_000),
        ("bca, 1234567890, 5jt, Budi", 5_000_000),
        ("bca .1234567890 5jt Budi", 5_000_000),
        ("setengah juta bca 1234567890 Budi", 500_000),
        ("satu setengah juta bca 1234567890 Budi", 1_500_000),
        ("bca 123 456 7890 setengah juta Budi", 500_000),
        ("500rb bca 1234567890 a.n. Budi", 500_000),
    ],
)
def test_an_ordinary_sum_stays_sure(text: str, idr: int) -> None:
    line = read(text)
    assert (line.number, line.amount, line.holder) == ("1234567890", Amount("IDR", idr), "Budi")
    assert line.leftover == ()


@pytest.mark.parametrize(
    ("said", "values"),
    [
        ("sejuta setengah", [1_500_000]),
        ("1jt setengah", [1_500_000]),
        ("dua juta setengah", [2_500_000]),
        ("1jt half", [1_500_000]),
        ("sejuta separuh", [1_500_000]),
        ("sejuta seperempat", [1_250_000]),
        ("dua juta tiga perempat", [2_750_000]),
        ("seperempat juta", [250_000]),
        ("three quarters million", [750_000]),
        ("sejuta, seperempat", [1_000_000]),
        ("sejuta rupiah seperempat", [1_000_000]),
        ("sejuta setengahnya", [1_000_000]),
        ("sejuta ¼", [1_000_000]),
        ("sejuta 1/4", [1_000_000]),
        ("rpsejuta separuhnyarp", [1_000_000]),
        ("satu koma lima juta", [5_000_000]),
    ],
)
def test_a_fraction_beside_a_sum_makes_it_a_question(said: str, values: list[int]) -> None:
    line = read(f"{said} bca 1234567890 a.n. Budi")
    assert (line.amount, offered(line), line.holder) == (None, values, "Budi")


@pytest.mark.parametrize(
    "said",
    [
        *("one and a half million", "half a million", "a quarter million", "se perempat juta", "sepertiga juta"),
        *("dua dan setengah juta", "1 1/2 juta", "1½jt", "setengah dari sejuta", "½jt", "25rbu one fifth"),
    ],
)
def test_a_fraction_that_we_cannot_read_leaves_no_sure_sum_and_is_no_name(said: str) -> None:
    for text in (f"{said} bca 1234567890 a.n. Budi", f"bca 1234567890 a.n. Budi {said}"):
        line = read(text)
        assert line.amount is None, text
        assert line.holder in {None, "Budi"}, text


def test_a_count_before_a_half_or_the_end_of_a_number_in_pieces_is_a_question() -> None:
    for text in ("mandiri 7769 9204 1622 9 setengah juta", "gopay 0812 3456 78 2 setengah juta"):
        line = read(text)
        assert (line.number, line.doubtful_number, line.amount) == (None, None, None)


OTHER_MONEY = (
    *("50rb usd", "500.000 won", "10.000 ringgit", "5000 yen", "50.000 sgd", "10 USDT", "10 usdt", "50 dolar", "$50"),
    *(
        "50$",
        "$ 500.000",
        "500.000 $",
        "500.000 €",
        "₫500.000",
        "₨ 500.000",
        "500.000 ﷼",
        "RM50",
        "RM 50.000",
        "50.000 rm",
    ),
    *("USD 50", "usd:50rb", "50rb/usd", "50rb-usd", "50rb (usd)", "500.000,- usd", "50rb, usd", "usd50rb", "50rbusd"),
    *(
        "sejutarand",
        "RSSERIBU",
        "💲50rb",
        "500rb 元",
        "500.000đ",
        "50 us dollars",
        "50 dolar Singapura",
        "hk dollars 500",
    ),
    *("dua puluh dolar", "sejuta setengah usd", ".5 usd", "usd .5", "Rp50.000 usd", "0,001 cbbtc", "500 PLN", "50 TRY"),
    *("10 bucks", "500.000 Won", "won 500.000", "500.000 dong", "5000 riyal", "100 baht", "50 EUR", "1jt msats"),
    *("usd 5000000", "5000000usd", "500.000\nusd", "500.000\u00a0USD", "500.000\u200busd", "５０ｕｓｄ", "50 złoty"),
)


@pytest.mark.parametrize("said", OTHER_MONEY)
def test_money_that_we_do_not_send_is_never_taken_for_rupiah_and_is_no_name(said: str) -> None:
    for text in (f"{said} bca 1234567890 a.n. Budi", f"Budi bca 1234567890 {said}", f"bca 1234567890 {said} Budi"):
        line = read(text)
        assert line.amount is None, text
        assert {line.holder, line.doubtful_holder} <= {None, "Budi"}, text


def test_a_line_with_other_money_begins_an_order_and_the_sum_is_asked() -> None:
    assert looks_like_order("10 USDT Budi bca 1234567890", METHODS)
    line = read("10 USDT Budi bca 1234567890")
    assert (line.number, line.amount, line.holder, line.leftover) == ("1234567890", None, "Budi", ())


@pytest.mark.parametrize(
    ("text", "holder"),
    [
        ("500rb bca 1234567890 Won Bin", "Won Bin"),
        ("500rb bca 1234567890 a.n. Mark", "Mark"),
        ("500rb Mark bca 1234567890", "Mark"),
        ("Rp500.000 Lira bca 1234567890", "Lira"),
        ("a.n. Dinar 500rb bca 1234567890", "Dinar"),
        ("500rb bca 1234567890 a.n. Euro Jaya", "Euro Jaya"),
        ("500rb, Won, bca, 1234567890", "Won"),
        ("bca 1234 5678 90 Mark 500rb", "Mark"),
        ("bca 1234567890 500rb Kwon", "Kwon"),
        ("bca 1234567890 500rb A M Fatwa", "A M Fatwa"),
        ("bca 1234567890 an m ali 500rb", "m ali"),
        ("bca 1234567890 500rb A K Anwar", "A K Anwar"),
    ],
)
def test_people_who_are_called_like_a_currency_or_a_scale_keep_their_names(text: str, holder: str) -> None:
    line = read(text)
    assert (line.number, line.amount) == ("1234567890", Amount("IDR", 500_000))
    assert holder in {line.holder, line.doubtful_holder}


@pytest.mark.parametrize("text", ["tolong kirim dong 500rb ke bca 1234567890", "500rb ke bca 1234567890 dong"])
def test_a_polite_word_is_a_currency_only_behind_a_sum(text: str) -> None:
    assert read(text).amount == Amount("IDR", 500_000)
    assert offered(read("500rb dong bca 1234567890")) == [500_000]


def test_btn_stays_a_bank() -> None:
    line = read("500rb BTN 1234567890123456")
    assert line.method is not None
    assert (line.method.code, line.amount) == ("200", Amount("IDR", 500_000))


def test_no_currency_is_also_a_bank_a_common_name_or_another_word_of_a_line() -> None:
    banks = {alias for each in METHODS if (known := find_known(each.code, each.name)) for alias in known.all_names}
    assert not FOREIGN & {bank.casefold() for bank in banks}
    assert not FOREIGN & (KNOWN_NAMES | FILLERS)
    assert not FOREIGN & (GENERIC | LEADS_TO_NAME | COUNTED | ASIDE_LABELS | MONTHS | TITLES | TALK | EVERYDAY_WORDS)
    assert not FOREIGN & CURRENCIES.keys()

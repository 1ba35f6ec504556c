"""Tests with random lines and sums: no wrong part is accepted without a question, and questions are rare.

`make bench` reads a million lines. A line that is read wrong becomes a case in `test_oneline_questions`.
"""

import pytest

from bot.checkout.parser import looks_like_order, read_line
from bot.core.money import Amount
from tests.checkout.amount_lines import read_sums, sum_lines
from tests.checkout.order_lines import METHODS, Case, Tally, cases, read_all, slipped, wrong_parts
from tests.examples import examples

SEED = 20261121
LINES = 8_000
SLIPPED = 4_000
SUMS = 8_000


def lines_of(tally: Tally) -> str:
    """Return the first wrong readings, for the message of a failed test."""
    return "\n".join(f"{part}: {case!r}\n    {line!r}" for case, part, line in tally.wrong[:5])


def test_nothing_wrong_is_taken_from_lines_with_a_known_truth() -> None:
    tally = read_all(cases(SEED, examples(LINES)))
    assert not tally.wrong, lines_of(tally)
    assert tally.lines["whole understood"] > 0.6 * tally.lines["whole asked"]
    assert tally.lines["ordinary understood"] > 4 * tally.lines["ordinary asked"]


def test_nothing_wrong_is_taken_from_lines_in_which_a_mark_has_slipped_among_the_figures() -> None:
    tally = read_all(slipped(SEED, examples(SLIPPED)))
    assert not tally.wrong, lines_of(tally)


def test_no_sum_is_taken_for_another_and_each_question_offers_the_right_one() -> None:
    tally = read_sums(sum_lines(SEED, examples(SUMS)))
    assert not tally.wrong, "\n".join(tally.wrong[:5])
    assert tally.outcomes["usual: sure"] > 2 * tally.outcomes["usual: asked"]
    for kind in ("sign", "foreign", "added", "zeros", "mark and space"):
        assert tally.outcomes[f"{kind}: sure"] == 0


@pytest.mark.parametrize(
    ("case", "wrong"),
    [
        (Case("500rb bca 1234567890 Budi", "014", "1234567890", Amount("IDR", 500_000), "Budi"), []),
        (Case("500rb bca 1234567890 Budi", "014", "1234567890", Amount("IDR", 5_000_000), "Budi"), ["amount"]),
        (Case("500rb bca 1234567890 Budi", "014", "1234567890", None, "Budi"), ["amount"]),
        (Case("500rb bca 1234567890 Budi", "008", "1234567891", None, None), ["method", "number", "amount", "holder"]),
        (Case("ovo 821821125 50rb", "ovo", "0821821125", Amount("IDR", 50_000), None), []),
        (Case("ovo 821821125 50rb", "ovo", "0821821126", Amount("IDR", 50_000), None), ["number"]),
    ],
)
def test_a_wrong_reading_is_noticed(case: Case, wrong: list[str]) -> None:
    assert wrong_parts(case, read_line(case.text, METHODS)) == wrong


# What people type who type nothing unusual: all of it is understood, and nothing is asked.
ORDINARY = {
    "500rb bca 1234567890 Budi": ("014", "1234567890", 500_000, "Budi"),
    "bca 1234567890 Budi Santoso 500rb": ("014", "1234567890", 500_000, "Budi Santoso"),
    "BCA 1234567890 a.n. Budi Santoso 500.000": ("014", "1234567890", 500_000, "Budi Santoso"),
    "BCA 1234567890 an BUDI SANTOSO Rp500.000": ("014", "1234567890", 500_000, "BUDI SANTOSO"),
    "bca 1234567890 atas nama siti aminah 1,5jt": ("014", "1234567890", 1_500_000, "siti aminah"),
    "BCA\nNo rek: 1234567890\nNama: Siti\nNominal: Rp 1.500.000": ("014", "1234567890", 1_500_000, "Siti"),
    "Bank: BCA\nNo. Rekening: 123 456 7890\nAtas nama: Budi\nJumlah: 750rb": ("014", "1234567890", 750_000, "Budi"),
    "transfer ke bca 1234567890 a/n budi 2 juta": ("014", "1234567890", 2_000_000, "budi"),
    "tolong transfer 250rb ke BCA 1234567890 atas nama Dewi ya, makasih": ("014", "1234567890", 250_000, "Dewi"),
    "kirim 100rb ke gopay 081234567890": ("gopay", "081234567890", 100_000, None),
    "gopay 0812-3456-7890 50k": ("gopay", "081234567890", 50_000, None),
    "gopay 0812 3456 7890 50rb Rina": ("gopay", "081234567890", 50_000, "Rina"),
    "gopay +62 812 3456 7890 50rb": ("gopay", "081234567890", 50_000, None),
    "GoPay (0812) 3456 7890 Rp50.000,-": ("gopay", "081234567890", 50_000, None),
    "ovo 6281234567890 75.000": ("ovo", "081234567890", 75_000, None),
    "OVO 081234567890 150000": ("ovo", "081234567890", 150_000, None),
    "dana 081234567890 25rb": ("dana", "081234567890", 25_000, None),
    "dana Budi 081234567890 25rb": ("dana", "081234567890", 25_000, "Budi"),
    "shopeepay 081234567890 100000 wati": ("shopeepay", "081234567890", 100_000, "wati"),
    "mandiri 1234567890123 1jt": ("008", "1234567890123", 1_000_000, None),
    "mandiri 123-00-1234567-8 Rp1.000.000,00 Andi": ("008", "1230012345678", 1_000_000, "Andi"),
    "bri 0123-01-012345-50-1 350rb Slamet Riyadi": ("002", "012301012345501", 350_000, "Slamet Riyadi"),
    "BRI 012301012345501 sejuta": ("002", "012301012345501", 1_000_000, None),
    "bni 1234567890 200k Made": ("009", "1234567890", 200_000, "Made"),
    "bsi 1234567890 setengah juta": ("451", "1234567890", 500_000, None),
    "cimb niaga 1234567890123 1.250.000 Kevin": ("022", "1234567890123", 1_250_000, "Kevin"),
    "bank jago 123456789012 300rb": ("542", "123456789012", 300_000, None),
    "seabank 123456789012 99.500": ("535", "123456789012", 99_500, None),
    "jenius 12345678901 2,5 juta": ("213", "12345678901", 2_500_000, None),
    "500rb, bca, 1234567890, Budi": ("014", "1234567890", 500_000, "Budi"),
    "bca;1234567890;500rb;Budi": ("014", "1234567890", 500_000, "Budi"),
    "bca/1234567890/500000/Budi": ("014", "1234567890", 500_000, "Budi"),
    "bca,1234567890,500000,Budi": ("014", "1234567890", 500_000, "Budi"),
    "bca | 1234567890 | 500rb | Budi": ("014", "1234567890", 500_000, "Budi"),
    "bca - 1234567890 - Budi - 500rb": ("014", "1234567890", 500_000, "Budi"),
    "500rb\nbca\n1234567890\nBudi": ("014", "1234567890", 500_000, "Budi"),
    "bca 014 1234567890 500rb": ("014", "1234567890", 500_000, None),
    "bca (014) 1234567890 (Budi) 500rb": ("014", "1234567890", 500_000, "Budi"),
    "bni 46 1234567890 500rb Budi": ("009", "1234567890", 500_000, "Budi"),
    "Budi 1234567890 bca (1,5jt)": ("014", "1234567890", 1_500_000, "Budi"),
    "bca 1234567890 nominal:1,5jt Budi": ("014", "1234567890", 1_500_000, "Budi"),
    "bca 1234567890 dua juta lima ratus ribu": ("014", "1234567890", 2_500_000, None),
    "bca 1234567890 2jt 500rb": ("014", "1234567890", 2_500_000, None),
    "bca 1234567890 500rb Pak Budi": ("014", "1234567890", 500_000, "Pak Budi"),
    "bca 1234567890 500rb \U0001f64f": ("014", "1234567890", 500_000, None),
    "send 500k to bca 1234567890 Budi please": ("014", "1234567890", 500_000, "Budi"),
    "500.000 IDR bca 1234567890": ("014", "1234567890", 500_000, None),
    "Rp 500 000 bca 1234567890": ("014", "1234567890", 500_000, None),
    "bca 1234567890 total 1250500": ("014", "1234567890", 1_250_500, None),
    "bca 1234567890 150rb Budi": ("014", "1234567890", 150_000, "Budi"),
    "150rb bca 1234567890 Budi": ("014", "1234567890", 150_000, "Budi"),
    "send 250k to mandiri 1234567890123 Andi": ("008", "1234567890123", 250_000, "Andi"),
    "Please send Rp 1,500,000 to BCA 1234567890 a/n Siti Aminah": ("014", "1234567890", 1_500_000, "Siti Aminah"),
    "pay 75000 to gopay 081234567890": ("gopay", "081234567890", 75_000, None),
    "transfer 2 juta ke bni 1234567890 atas nama Dewi Lestari": ("009", "1234567890", 2_000_000, "Dewi Lestari"),
    "send 100.000 to ovo 0812-3456-7890, thanks": ("ovo", "081234567890", 100_000, None),
    "BCA account 1234567890 name Budi Santoso amount 500000": ("014", "1234567890", 500_000, "Budi Santoso"),
    "bank: bri, account no: 012301012345501, amount: 350,000, name: Agus": ("002", "012301012345501", 350_000, "Agus"),
    "shopeepay 081234567890 Rp75.000": ("shopeepay", "081234567890", 75_000, None),
    "kirim dana 081234567890 100rb a/n Rina": ("dana", "081234567890", 100_000, "Rina"),
    "kirim ke rek bca 1234567890 sebesar 1,2 juta atas nama Pak Joko": (
        "014",
        "1234567890",
        1_200_000,
        "Pak Joko",
    ),
    "rek bca 1234567890 an Siti Aminah 300 ribu": ("014", "1234567890", 300_000, "Siti Aminah"),
    "no rek 1234567890 bca Budi 400rb": ("014", "1234567890", 400_000, "Budi"),
    "norek: 1234567890\nbank: bca\nan: Budi\nnominal: 400.000": ("014", "1234567890", 400_000, "Budi"),
    "no hp 081234567890 gopay 20rb": ("gopay", "081234567890", 20_000, None),
    "linkaja 081234567890 50.000 Andi": ("linkaja", "081234567890", 50_000, "Andi"),
    "topup ovo 081234567890 100rb": ("ovo", "081234567890", 100_000, None),
    "permata 1234567890 Rp 2.750.000 Maria": ("013", "1234567890", 2_750_000, "Maria"),
    "danamon 1234567890 3jt Eko": ("011", "1234567890", 3_000_000, "Eko"),
    "bank mandiri 1234567890123 lima ratus ribu rupiah Yanti": ("008", "1234567890123", 500_000, "Yanti"),
    "1,5 juta ke bca 1234567890 budi santoso": ("014", "1234567890", 1_500_000, "budi santoso"),
    "bca 1234 5678 90 500rb Budi": ("014", "1234567890", 500_000, "Budi"),
    "Bca 1234567890 Rp500rb Budi": ("014", "1234567890", 500_000, "Budi"),
    "bca rek1234567890 an budi 150rb": ("014", "1234567890", 150_000, "budi"),
    "bca no.rek 1234567890 150rb Budi": ("014", "1234567890", 150_000, "Budi"),
    "BCA 1234567890 Budi Rp500.000,00": ("014", "1234567890", 500_000, "Budi"),
}


@pytest.mark.parametrize("text", ORDINARY)
def test_who_types_an_ordinary_form_is_asked_nothing(text: str) -> None:
    code, number, idr, holder = ORDINARY[text]
    line = read_line(text, METHODS)
    assert line.method is not None
    assert (line.method.code, line.number, line.amount, line.holder) == (code, number, Amount("IDR", idr), holder)
    assert (line.leftover, line.rejections, line.doubtful_holder) == ((), (), None)
    assert looks_like_order(text, METHODS)


@pytest.mark.parametrize(
    ("text", "sats"),
    [
        ("50000 sats bca 1234567890 Budi", 50_000),
        ("0.001 btc to bca 1234567890 Budi", 100_000),
        ("25k sats bca 1234567890 Budi", 25_000),
        ("send 21,000 sats to bca 1234567890, name Budi", 21_000),
    ],
)
def test_who_sends_bitcoin_in_an_ordinary_form_is_asked_nothing(text: str, sats: int) -> None:
    line = read_line(text, METHODS)
    assert (line.number, line.amount, line.holder) == ("1234567890", Amount("SAT", sats), "Budi")
    assert (line.leftover, line.rejections, line.doubtful_holder) == ((), (), None)

"""Tests that ambiguous parts of a line are asked: a cut sum, a joined number, a stray word. All were once misread."""

import time

import pytest

from bot.checkout.parser import OneLine, looks_like_order, read_line
from bot.core.money import Amount
from bot.recipients.banks import display_name
from tests.checkout.order_lines import METHODS


def read(text: str) -> OneLine:
    return read_line(text, METHODS)


def accepted_parts(line: OneLine) -> tuple[str | None, str | None, int | None, str | None]:
    """Return the parts that are accepted without a question."""
    method = display_name(line.method) if line.method else None
    return method, line.number, line.amount.value if line.amount else None, line.holder


@pytest.mark.parametrize(
    ("text", "idr"),
    [
        ("bca 1234567890 (1,5jt) Budi", 1_500_000),
        ("bca 1234567890 nominal:1,5jt Budi", 1_500_000),
        ("bca 1234567890 0,5jt; Budi", 500_000),
        ("bca,1234567890,1,5jt,Budi", 1_500_000),
        ("bca/1234567890/1,5jt/Budi", 1_500_000),
        ("[bca] {1234567890} (Rp1.500.000,00) Budi", 1_500_000),
    ],
)
def test_a_sum_with_a_comma_stays_whole_beside_brackets_and_marks(text: str, idr: int) -> None:
    assert accepted_parts(read(text)) == ("BCA", "1234567890", idr, "Budi")
    assert read(text).leftover == ()


@pytest.mark.parametrize(
    "text",
    [
        "bca 1234567890 +-1,5jt Budi",
        "bca 1234567890 +/-1,5jt Budi",
        "bca 1234567890 ~1,5jt Budi",
        "bca 1234567890 <1,5jt Budi",
        "bca 1234567890 ~ 1,5jt Budi",
        "bca 1234567890 kurang 1,5jt Budi",
        "bca 1234567890 1,5jt lebih, Budi",
        "bca 1234567890 @1,5jt Budi",
        "bca 1234567890 1,5jt/orang Budi",
        "bca 1234567890 1,5jt per bulan, Budi",
        "bca 1234567890 dua x 1,5jt Budi",
        "bca 1234567890 fee 1,5jt Budi",
        "bca 1234567890 bukan 1,5jt Budi",
        "bca 1234567890 -Rp1.500.000 Budi",
        "bca 1234567890 1, 5jt Budi",
        "bca 1234567890 1:5jt Budi",
        "bca 1234567890 1(5jt) Budi",
        "bca 1234567890 1/5jt/2 Budi",
        "bca 1234567890 1,5jt-an Budi",
        "bca 1234567890 3*5jt Budi",
        "bca 1234567890 1,5jt + 2.500 Budi",
        "bca 1234567890 500rb Budi jam 10 250 000",
        "bca 1234567890 Budi jam 10 250 000",
        "bca 1234567890 Budi 10 250 000",
        "bni 46 250 000 1234567890",
        "bca 1234567890 150000.000 Budi",
        "bca 1234567890 1.500,000 sats Budi",
        "bca 1234567890 500rb 2 Budi",
        "bca 1234567890 500rb x3 Budi",
    ],
)
def test_a_sum_in_doubt_is_asked(text: str) -> None:
    assert read(text).amount is None
    assert not looks_like_order(text, METHODS) or read(text).amount_readings


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("bca 1234567890 ~1,5jt Budi", [1_500_000]),
        ("bca 1234567890 +-1,5jt Budi", [1_500_000]),
        ("bca 1234567890 fee 5rb", [5_000]),
        ("bca 1234567890 150000.000 Budi", [150_000, 150_000_000]),
    ],
)
def test_the_question_offers_what_was_typed(text: str, values: list[int]) -> None:
    assert read(text).amount_readings == tuple(Amount("IDR", value) for value in values)


@pytest.mark.parametrize(
    "text",
    [
        "ovo 821821125 014 50rb",
        "ovo 821821125 014 1234",
        "ovo 0821 821 125 014 50rb",
        "hsbc 123 456 7890 12 50rb",
        "hsbc 12345(67890) 50rb",
        "hsbc 12345:67890 50rb",
        "jenius 50.000-100.000",
        "bca 50000-75000",
        "bca 1.250.500.750 Budi",
        "bca rp 1234567890 Budi",
        "bca kode 1234567890 50rb",
        "bca trx1234567890 50rb",
        "bca dari 1234567890 50rb",
        "hsbc Budi hp 081234567890 50rb",
        "hsbc 1234 5678 12 mei 2026 50rb",
        "hsbc jam 10 1234 5678 90 50rb",
        "bca #1234567890 50rb",
    ],
)
def test_a_number_in_doubt_is_not_taken(text: str) -> None:
    line = read(text)
    assert (line.number, line.doubtful_number) == (None, None)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("bca kode 123456 1234567890 50rb", "1234567890"),
        ("bca 1234567890 hp 081234567890 50rb", "1234567890"),
        ("bca 1234567890 ref 9876543210 50rb", "1234567890"),
        ("bca 1234567890 #9876543210 50rb", "1234567890"),
        ("bca 12-05-2026 1234567890 50rb", "1234567890"),
        ("bni 46 1234567890 50rb", "1234567890"),
        ("bca 014 123 456 7890 50rb", "1234567890"),
        ("mandiri 123-00-1234567-8 50rb", "1230012345678"),
    ],
)
def test_figures_with_a_label_of_their_own_are_no_part_of_the_number(text: str, number: str) -> None:
    line = read(text)
    assert (line.number, line.amount) == (number, Amount("IDR", 50_000))


STRAY = "fee tgl jam bpd atau kos listrik semen segera ditransfer secepatnya admin sebagian ongkir besok cabang"


@pytest.mark.parametrize("word", STRAY.split())
def test_a_stray_word_is_nobodys_name(word: str) -> None:
    for text in (f"500rb bca 1234567890 {word}", f"500rb bca 1234567890 {word} Budi", f"{word} bca 1234567890 500rb"):
        assert read(text).holder in {None, "Budi"}
        assert word in read(text).leftover


@pytest.mark.parametrize(
    ("text", "holder"),
    [
        ("500rb bca 1234567890 Budi jam 10", "Budi"),
        ("500rb bca 1234567890 Budi tgl 5 mei 2026", "Budi"),
        ("500rb bca 1234567890 a.n.Budi", "Budi"),
        ("500rb bca 1234567890 an.Budi Santoso", "Budi Santoso"),
        ("500rb bca 1234567890 a n Budi", "Budi"),
        ("500rb bca 1234567890 (a/n Budi)", "Budi"),
        ("500rb bca 1234567890 a.n. Toko Budi Jaya", "Toko Budi Jaya"),
        ("500rb bca 1234567890 a.n. Budi fee 5rb", "Budi"),
        ("500rb bca 1234567890 D Santoso", "D Santoso"),
        ("500rb bca 1234567890 a.n. Budi dr ibu", "Budi"),
        ("500rb bca 1234567890 a.n. dr Budi", "dr Budi"),
        ("500rb bca 1234567890 _a.n.Putri Ayu_", "Putri Ayu"),
        ("500rb bca an. Ahmad Dahlan _a/c 1234567890_", "Ahmad Dahlan"),
        ("500rb bca 1234567890 semennya Budi", None),
        ("500rb bca 1234567890 sayur Budi", None),
        ("500rb bca 1234567890 Budi2", None),
        ("500rb bca 1234567890 l00rb", None),
        ("500rb bca 1234567890 Budi dua", None),
    ],
)
def test_a_name_is_taken_without_the_words_beside_it_or_not_at_all(text: str, holder: str | None) -> None:
    assert read(text).holder == holder


@pytest.mark.parametrize(
    "text",
    [
        "500rb 1234567890 ok",
        "500rb 1234567890 line Budi",
        "500rb 1234567890 bisnis Budi",
        "500rb 1234567890 jakarta",
        "500rb 1234567890 hari raya",
        "500rb 1234567890 Victoria",
        "500rb 1234567890 panen",
        "500rb 1234567890 dari bca",
        "500rb 1234567890 jangan bca",
    ],
)
def test_a_word_that_may_mean_no_destination_is_none_by_itself(text: str) -> None:
    assert read(text).method is None


# Lines that the generator (`tests/checkout/order_lines.py`) has found. A wrong part was read without asking.
WRONG_NUMBERS = [
    "hsbc 069 181 207 224 896 hp 08959443107",
    "wa 0878866885 12 50rb",
    "08215729056, 175 056 7887 kamar 12 50rb",
    "hsbc dari ovo, hp 081350817814 50rb",
    "jenius dari rek 1234567890 43352583540; 38 100 500 014",
    "ovo hp 08533146267 wa 852788860 50rb",
    "bank mega 50462 38156 61533 5 2026 50rb",
    "seabank a/c 18973 63913 89 12 600 500",
    "no rek 7987 66916 431 39/2000 ribu/HSBC",
    "aladin, AGUS SALIM,7,12,8397 3840 0996 4414",
    "shopeepay dari bca / 821576479 123456 50rb",
    "hsbc 964-28-42084-5[6( 50rb",
    "hsbc 49/159 5598180442 50rb",
    "hsbc 4\n4649649131885 x 50rb",
    'hsbc 6764.8282."00 - 81.315 50rb',
    "aladin 703/38(59871705183 50rb",
    "aladin 242 783 907 1\n7<4 50rb",
    "jenius norek: 308\n0-6636-574 008 50rb",
    "mandiri 23800000 12345|6",
    "no rek 7627 63+78 52:8 0, hp 089510263540 50rb",
    "gopay 0812345678 90 50rb",
    "gopay 08123456789 5 50rb",
    "seabank rekening 8892.15644.72 / hp 081234567890 / 588.613.559.376",
    "hp 081198198371 : sebesar 0,592jt, token rek 2036928060",
    "hp 082212345678 50rb 6860 3783 49!60 3",
    "hp 085314518717 total 500rb;; 926566\n1243",
    "jumlah IDR1700123 rek36274 15 62889 867; HSBC",
    "hp 08788666108 / hsbc 642340 - 385 - 124. ato Rek:0205615381860 50rb",
    "bca 1234567890 atau 98765 50rb",
    "no hp +6282137641555 - pesanan *807-089-176-89* 50rb",
    "509.999,- HP: ;0852401127, ke bca",
    "aladin 1000999 008 Ni Luh Putu Ayu",
    "hsbc ref /9876543210 50rb",
    "hsbc resi JX{1234567890; 50rb",
    "hsbc 41,6 juta no. 346.870.689.5;57.093.7",
    "hsbc total 2001 235 178 50rb",
    "hsbc 087 - 9682.3 - 090.4949.2614",
    "Rp27.123 no. 91221.57 - 462 hp 087783309336",
    "sebesar 6040 - 00 sats 76449/80268190656 hsbc",
    "hp o8:7778603522; 31,1jt",
    "hsbc no. 2739 6958 2233 I95 50rb",
    "dana 50rb 3 bulan 0895 8665 979 / no hp 81311340909",
    "berita 21 - 0288137080387 50rb",
    "permata 9 300 999 9416 *7343 00",
    "200 918 273 545 01,8900k,hsbc,Budi",
    "hsbc 7/1\n5.50, 9, 3457. / Rek:7309114180",
    "hsbc rekening 707.280.467.5!\n49.684",
    "hsbc 60416462391 / rek9854192<6~165 50rb",
    "hsbc 8658 69 28800 56 Rp seribu lebih",
    "aladin no rek 117 834 4418 9 Rp : ,2 thousand",
    "aladin 4641 7726 5334 182 Rp,2milyar",
    "mandri a/c 03342 275 452 47 dua pertiga jta",
    "mandiri 7769 9204 1622 9 setengah juta",
]


@pytest.mark.parametrize("text", WRONG_NUMBERS)
def test_a_number_that_was_once_wrong_is_asked(text: str) -> None:
    line = read(text)
    assert line.number is None
    assert line.doubtful_number is None or line.number_remark is not None


@pytest.mark.parametrize(
    "text",
    [
        "per orang, bca 1234567890 500rb",
        "bca 1234567890 977.000 pesanan. 3 bulan",
        "bca 1234567890 500rb tgl 2 pcs",
        "seabank rekening 588.613.559.376",
        "ovo hp +62 877 1152 761,1700k",
        "bri 1936.1738.47;67.777",
        "bca 1234567890 nominal 1jt 5:00rb",
        "bca 1234567890 Rp1 950 0:00",
        "bca 1234567890 218000 s'ats",
        "bca 1234567890 801000 sa ts",
        "bca 1234567890 19900:k",
        "bca 1234567890 45200 - k",
        "bca 1234567890 30700 r[ibu",
        "bca 1234567890 500rb x_3",
        "bca 1234567890 rek 500000",
        "gopay,km 5,26 jt,wa 628777474787",
        "+per orang, bca 1234567890 500rb",
        "bca 1234567890 invoice biaya\n5rb",
        "bca 1234567890 Rp 362.999,- kurang",
        "bca/1234567890/cicilan/± Rp44 300 999",
        "bca 1234567890 nominal ~\n37.800.000",
        "bca 1234567890 Budi/± Rp44.300.999",
        "bca 1234567890 Rp 36 800 O00",
        "bca 1234567890 IDR 16,500,I23",
        "bca 1234567890 nominal:l,25jt",
        "bca 1234567890 Rp I 800 000",
        "bca 1234567890 rpI 92000",
        "bca 1234567890 B,600,500",
        "bca 1234567890, 1jt S00rb",
        "tujuan bca,1234567890,+- 44500rb,titipan",
        "amount=36000;k  rizky febian 1234567890 bca",
        "bca 1234567890 nominal Rp4S 900 000",
        "bca 1234567890 IDR.S4 900 000",
        "bca 1234567890 RpS 900 000",
        "bca 1234567890 [ljt 500rb]",
        "bca 1234567890 1jt SOrb",
        "bca 1234567890 maks Rp /999.000",
        "bca 1234567890 fee Rp /999.000",
        "maks, bca 1234567890 Budi 500rb",
        "bca 1234567890 paling banyak 500rb",
        "bca 1234567890 500rb ~",
        "bca 1234567890 500rb \u00b1 Budi",
        "bca 1234567890 Budi 500 rb an",
        "bca 1234567890 500 rb an, Budi",
        "hsbc rekening 707.280.467.5!\n49.684",
        "sejumlah: 37000 k mengirim penerima Putri Ayu\u00a0DANAMON",
        "bca 1234567890 37000 k mengirim",
        "sejumlah 37000 k bca 1234567890",
        "nominal 37000 j bca 1234567890",
        "689545442638 : ke Bank Jago, - pembayaran; sebesar 31,700,000\u00a0tgl : 3 bulan",
        "bca 1234567890 500rb tgl 3 bulan",
        "seabank 082341899172 535 separuhmilyar",
        "bca 8528399719 1 000: RIAL",
        "dana 0853 6076 1788 50 000 .₨",
        "bca 1234567890 500.000,- dong",
        "bca 1234567890 '75milyar sat; `Budi`",
    ],
)
def test_a_sum_that_was_once_wrong_is_asked(text: str) -> None:
    assert read(text).amount is None


@pytest.mark.parametrize(
    "text",
    [
        "bca 1234567890 7 M Ali",
        "gopay 083836881151 RINA, Marlina 2300rb",
        "bca 1234567890 500rb kolam",
        "bca 1234567890 500rb bunga",
        "bca 1234567890 500rb 50 porsi",
        "bca 1234567890 500rb 25 April Santoso",
        "500rb mega Siti Mega 123456789012345",
        "bca 1234567890 500rb Budi dr Siti Aminah",
        "bca 1234567890 500rb dr Andi",
        "bca 1234567890 nama: Rizky Febian mei 202)6 500rb",
        "bca 1234567890 2400rb/hari fajar nugroho",
        'bca 1234567890 3200.5"k CUT NYAK',
        "linkaja 081234567890 / 500 - k Budi",
        "bca 1234567890 500rb an. Eko H-)1",
        "bca 1234567890 500rb penerima Slamet Riyadi mei 202*6",
        "linkaja 087830360029 dua puluh seperempat k hari santoso",
        "cimb 6330276569745 three 1/3 k maria goretti",
        "spay 085351149179 ¢three k. Yanti",
        "bca 6766334015 3 STGH OF A K H. Sulaiman",
    ],
)
def test_a_name_that_was_once_wrong_is_not_taken(text: str) -> None:
    assert read(text).holder is None


@pytest.mark.parametrize(
    "text",
    [
        "500rb bca atau mandiri 1234567890",
        "500rb DANA or gopay 081234567890",
        "500rb bni 46 atau mega 1234567890",
        "500rb bri (0/02) atau jago 123456789012",
        "500rb ato bca 1234567890",
    ],
)
def test_of_two_destinations_with_an_or_between_none_is_taken(text: str) -> None:
    assert read(text).method is None


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("bca hp 081198198371 sebesar 592rb, token rek 2036928060", "2036928060"),
        ("bca rek1234567890 50rb", "1234567890"),
        ("bca Rek.*1234567890* 50rb", "1234567890"),
        ("bca No.1234567890 50rb", "1234567890"),
        ("hsbc no.hp 0812345678 rek 9876543210 50rb", "9876543210"),
        ("bca 1234567890 dari rek 9876543210 50rb", "1234567890"),
        ("bca rek 014 1234567890 50rb", "1234567890"),
    ],
)
def test_the_number_that_a_word_leads_to_is_taken(text: str, number: str) -> None:
    assert read(text).number == number


@pytest.mark.parametrize("word", ["Damar", "Wisnu", "Tiara", "Jamil", "perdana", "kapital", "bpd rek 50", "Harto"])
def test_a_word_that_is_nearly_a_banks_name_is_no_destination(word: str) -> None:
    assert read(f"500rb 123456789012 {word}").method is None


def test_unknown_words_that_may_be_a_name_are_asked_about() -> None:
    line = read("500rb bca 1234567890 Zxcvb Qwerty")
    assert (line.holder, line.doubtful_holder, line.leftover) == (None, "Zxcvb Qwerty", ())
    assert looks_like_order("500rb bca 1234567890 Zxcvb Qwerty", METHODS)


HEAVY = [
    "a.n." * 1000,
    "1:5jt " * 700,
    "jam 10 " * 580,
    "1,5jt/" * 40,
    "(" * 140 + "1,5jt" + ")" * 140,
    "12;34|" * 45,
    "1/2/3/4/5/6/7/8/9/" * 14,
    "0812 3456 7890 12 " * 14,
    "+-~<>" * 55,
    "Rp1 000 " * 35,
    "bca bni bri mandiri 1 " * 12,
    "kode no bank 12 " * 16,
    "\U0001f64f1" * 140,
    "an.a/n.u/" * 32,
    "x3@5%" * 55,
]


@pytest.mark.parametrize("text", HEAVY, ids=range(len(HEAVY)))
def test_heavy_texts_stay_light_work(text: str) -> None:
    read("warm up")
    began = time.process_time()
    for end in (300, 4096):
        read(text[:end])
        looks_like_order(text[:end], METHODS)
    assert time.process_time() - began < 0.5

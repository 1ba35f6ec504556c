"""Lines that the reader asks about: digits that belong to nothing, words that change a sum, half a name.

Most were once read wrong: the generators (`order_lines`, `amount_lines`) or a person found them.
"""

import cProfile
from contextlib import suppress

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
from bot.core.errors import Rejection
from bot.core.money import Amount, parse_amount
from bot.core.money.foreign import FOREIGN
from bot.core.money.tokens import CURRENCIES
from bot.recipients.banks import find_known
from bot.settlement.model import PayoutMethod
from tests.checkout.order_lines import METHODS


def read(text: str) -> OneLine:
    return read_line(text, METHODS)


SUMS = [
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
    "per orang, bca 1234567890 500rb",
    "bca 1234567890 977.000 pesanan. 3 bulan",
    "bca 1234567890 500rb tgl 2 pcs",
    "seabank rekening 588.613.559.376",
    "ovo hp +62 877 1152 761,1700k",
    "bri 1936.1738.47;67.777",
    "bca 1234567890 nominal 1jt 5:00rb",
    "shopeepay 08218037652 sebesar 19 juta 8:00 joko",
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
    "bca/1234567890/cicilan/\xb1 Rp44 300 999",
    "bca 1234567890 nominal ~\n37.800.000",
    "bca 1234567890 Budi/\xb1 Rp44.300.999",
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
    "bca 1234567890 500rb \xb1 Budi",
    "bca 1234567890 Budi 500 rb an",
    "bca 1234567890 500 rb an, Budi",
    "hsbc rekening 707.280.467.5!\n49.684",
    "sejumlah: 37000 k mengirim penerima Putri Ayu\xa0DANAMON",
    "bca 1234567890 37000 k mengirim",
    "sejumlah 37000 k bca 1234567890",
    "nominal 37000 j bca 1234567890",
    "500000 M bca 1234567890",
    "konfirmasi | transfer ke go-pay 5 sats 37721",
    "via bank jago : sebesar Rp14 200( 5:00",
    "transfer ke link aja : sejumlah: 91\u200b'1 ribu",
    "nomor [6287824597032] : sejumlah: 1jt8:00 Teuku Umar via Ovo",
    "500000\nK\nbca 1234567890",
    "689545442638 : ke Bank Jago, - pembayaran; sebesar 31,700,000\xa0tgl : 3 bulan",
    "bca 1234567890 500rb tgl 3 bulan",
    "seabank 082341899172 535 separuhmilyar",
    "bca 8528399719 1 000: RIAL",
    "dana 0853 6076 1788 50 000 .\u20a8",
    "bca 1234567890 500.000,- dong",
    "bca 1234567890 '75milyar sat; `Budi`",
    "bca 1234567890 sebesar 2800,Sk",
    "bca 1234567890 nominal:rp62900O",
    "bca 1234567890 2/4k",
    "bca 1234567890 Rp 36 500 1:23",
    "bca 1234567890 (seratu s enam puluh ribu)",
    "bca 1234567890 [rp 93800/o]",
    "bca 1234567890 9290Bsats",
    "mega no. 4951.5338.31/37.602",
    "aladin 264 000 346}340368937331",
    "1700k dikali 3 wib. bank bni or cimb  1010506931\nA/N: Siti Aminah",
    "total sats 67\n00000 : cicilan - penerima bambang sutrisno",
    "a.n.Dewi Lestari hp:+62 811 1094 3365 juta OVO",
    "atas nama BAMBANG SUTRISNO no rek 04627 6642 0 JUTA DELAPAN RATUS RIBU ke BNI",
    "nominal 1150 R IBU. tujuan permata; 0250340720",
]


@pytest.mark.parametrize("text", SUMS)
def test_a_sum_beside_what_may_change_it_is_asked_about(text: str) -> None:
    assert read(text).amount is None


NUMBERS = [
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
    "bca kode 123456 1234567890 50rb",
    "bca 1234567890 #9876543210 50rb",
    "bca 12-05-2026 1234567890 50rb",
    "0470 19 9948 847  HARI SANTOSO | **2150 rb**",
    "ovo 8531976206S BUDI SANTOSO 455,5 ribu",
    "250 rb (Rp250 000) nomor 08135 42757 78 m ali : dana",
    "nama: Hari Santoso _kode 88_ : sewa rumah. dr mandiri transfer ke bank bri / 3011 2907 68|18 104",
    "bank aladin  rekening 19919  6070-44 - 89 593.  nama: mas joko 3rb setengah usdt",
    "bca trx1234567890 50rb",
    "bca dari 1234567890 50rb",
    "hsbc Budi hp 081234567890 50rb",
    "hsbc 1234 5678 12 mei 2026 50rb",
    "hsbc jam 10 1234 5678 90 50rb",
    "bca #1234567890 50rb",
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
    "nik 32\U0001f64f01234567890001 50rb",
    "5900 5487 27+82 655 bank aladin",
    "hp 628757748 / wa 0838426]378 ovo",
    "hsbc 157958542~728 / norek: 5746 4633 4690",
    "sebesar 900999 2715\n: 558 218 danamon",
    "20642 31380 6:48 hsbc 50rb",
    "a/n ibu hp 6281]23:9825370 rp2500999 014",
    "50rb, bank aladin - rek 947 781 474 907 26",
    "via bank aladin hp 08;1302793569 Agus Salim selamat pagi Rp 1 300 123",
    "transfer ke bsi Rp872.123,00 jangan 1650.5k 93703-85694 / no rek 2226 7707 55",
]


@pytest.mark.parametrize("text", NUMBERS)
def test_a_number_that_may_have_other_digits_is_asked_about(text: str) -> None:
    line = read(text)
    assert line.number is None
    assert line.doubtful_number is None or line.number_remark is not None


NAMES = [
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
    "spay 085351149179 \xa2three k. Yanti",
    "bca 6766334015 3 STGH OF A K H. Sulaiman",
    "bca 1234567890 250 COMMA LIMA K Jose",
    "btpn 12345678901 nama: H. Sulaiman I DR 979,000",
    "bca 1234567890 nine stgh a k andi",
    "HSBC. <39109892496065>\nan EKO o,663JT",
    "shopeepay 082251453837 / nama: rizky febian mei |2026 sejumlah: 1,75 juta",
    "danamon 1536369265 atas nama pak budi mei 202'6 jumlah lima ratus dua puluh ribu",
    "ke CIMB Niaga 8976045314063 | \u0e1a\u0e32\u0e17delapan k\xa0Maria Goretti",
    "bsi 5116699680 penerima Maria Goretti delap an ratus ribu rupiah",
    "linkaja 081307666057 A/N: Bambang Sutrisno  Delap an ratus lima puluh ribu rupiah",
]


@pytest.mark.parametrize(
    ("text", "values"),
    [("permata 0250340720 1150 R IBU", [1_150_000, 1150]), ("aladin 25636500197937 2350,5 r ibu", [2_350_500])],
)
def test_a_sum_with_a_broken_unit_is_the_first_button(text: str, values: list[int]) -> None:
    assert [each.value for each in read(text).amount_readings] == values


def test_a_broken_unit_is_no_part_of_the_name_behind_it() -> None:
    assert read("no. 2563.6500.1979.37 aladin | 2350,5 R IBU putri ayu").holder == "putri ayu"
    assert read("nominal 38400 r ibu DANA Tri Wahyuni no hp 081346530502").holder == "Tri Wahyuni"


@pytest.mark.parametrize("text", NAMES)
def test_a_name_that_may_be_half_of_one_is_not_taken(text: str) -> None:
    assert read(text).holder is None


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("bca 1234567890 hp 081234567890 50rb", "1234567890"),
        ("bca 1234567890 ref 9876543210 50rb", "1234567890"),
        ("bni 46 1234567890 50rb", "1234567890"),
        ("bca 014 123 456 7890 50rb", "1234567890"),
        ("mandiri 123-00-1234567-8 50rb", "1230012345678"),
        ("bca hp 081198198371 sebesar 592rb, token rek 2036928060", "2036928060"),
        ("bca rek1234567890 50rb", "1234567890"),
        ("bca Rek.*1234567890* 50rb", "1234567890"),
        ("bca No.1234567890 50rb", "1234567890"),
        ("hsbc no.hp 0812345678 rek 9876543210 50rb", "9876543210"),
        ("bca 1234567890 dari rek 9876543210 50rb", "1234567890"),
        ("bca rek 014 1234567890 50rb", "1234567890"),
    ],
)
def test_digits_with_a_label_of_their_own_are_no_part_of_the_number(text: str, number: str) -> None:
    line = read(text)
    assert line.number == number
    assert line.amount is not None


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


STRAY = "fee tgl jam bpd atau kos listrik semen segera ditransfer secepatnya admin sebagian ongkir besok cabang"


@pytest.mark.parametrize("word", STRAY.split())
def test_a_stray_word_is_nobodys_name(word: str) -> None:
    for text in (f"500rb bca 1234567890 {word}", f"500rb bca 1234567890 {word} Budi", f"{word} bca 1234567890 500rb"):
        assert read(text).holder in {None, "Budi"}
        assert word in read(text).leftover


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
        "500rb bca atau mandiri 1234567890",
        "500rb DANA or gopay 081234567890",
        "500rb bni 46 atau mega 1234567890",
        "500rb bri (0/02) atau jago 123456789012",
        "500rb ato bca 1234567890",
    ],
)
def test_a_word_that_may_mean_no_destination_is_none_by_itself(text: str) -> None:
    assert read(text).method is None


@pytest.mark.parametrize("word", ["Damar", "Wisnu", "Tiara", "Jamil", "perdana", "kapital", "bpd rek 50", "Harto"])
def test_a_word_that_is_nearly_a_banks_name_is_no_destination(word: str) -> None:
    assert read(f"500rb 123456789012 {word}").method is None


def test_unknown_words_that_may_be_a_name_are_asked_about() -> None:
    line = read("500rb bca 1234567890 Zxcvb Qwerty")
    assert (line.holder, line.doubtful_holder, line.leftover) == (None, "Zxcvb Qwerty", ())
    assert looks_like_order("500rb bca 1234567890 Zxcvb Qwerty", METHODS)


HALF_OR_FIVE = (
    ".5jt",
    ",5 juta",
    "Rp .5jt",
    "Rp.5jt",
    "Rp,5jt",
    "\xb75jt",
    "\u20225jt",
    "'5jt",
    "\xb45jt",
    "`5jt",
    "\u20195jt",
    "\u20275jt",
    "\u30fb5jt",
    "\u066b5jt",
    "\u066c5jt",
    "\u30025jt",
    "\u30015jt",
    "\u060c5jt",
    "\uff0e5jt",
    "\uff0c5jt",
    "\u066b\u0665jt",
    ".\uff15jt",
    "(.5jt)",
    "nominal:.5jt",
    "/.5jt",
    ".*5jt*",
    "nominal,5jt",
    ",,5jt",
    "...5jt",
    "\u20265jt",
    "\u200b.5jt",
    ".\u200b5jt",
    "*.5jt*",
    "=.5jt",
)


@pytest.mark.parametrize("said", HALF_OR_FIVE)
def test_a_mark_before_the_first_digit_is_never_dropped(said: str) -> None:
    for text in (f"{said} bca 1234567890 Budi", f"bca 1234567890 Budi {said}", f"bca 1234567890 a.n. Budi\n{said}"):
        line = read(text)
        assert (line.amount, line.number) == (None, "1234567890"), text
        assert [each.value for each in line.amount_readings] == [500_000, 5_000_000], text


FRACTIONS = (
    "sejuta setengah",
    "1jt setengah",
    "dua juta setengah",
    "1jt half",
    "sejuta separuh",
    "sejuta seperempat",
    "dua juta tiga perempat",
    "three quarters million",
    "sejuta, seperempat",
    "sejuta rupiah seperempat",
    "sejuta setengahnya",
    "sejuta \xbc",
    "sejuta 1/4",
    "rpsejuta separuhnyarp",
    "one and a half million",
    "se perempat juta",
    "sepertiga juta",
    "dua dan setengah juta",
    "1 1/2 juta",
    "setengah dari sejuta",
    "25rbu one fifth",
)


@pytest.mark.parametrize("said", FRACTIONS)
def test_a_fraction_that_no_form_has_makes_a_question_and_is_no_name(said: str) -> None:
    for text in (f"{said} bca 1234567890 a.n. Budi", f"bca 1234567890 a.n. Budi {said}"):
        line = read(text)
        assert line.amount is None, text
        assert line.holder in {None, "Budi"}, text


OTHER_MONEY = (
    "50rb usd",
    "500.000 won",
    "10.000 ringgit",
    "5000 yen",
    "50.000 sgd",
    "10 USDT",
    "10 usdt",
    "50 dolar",
    "$50",
    "50$",
    "$ 500.000",
    "500.000 $",
    "500.000 \u20ac",
    "\u20ab500.000",
    "\u20a8 500.000",
    "500.000 \ufdfc",
    "RM50",
    "RM 50.000",
    "50.000 rm",
    "USD 50",
    "usd:50rb",
    "50rb/usd",
    "50rb-usd",
    "50rb (usd)",
    "500.000,- usd",
    "50rb, usd",
    "usd50rb",
    "50rbusd",
    "sejutarand",
    "RSSERIBU",
    "\U0001f4b250rb",
    "500rb \u5143",
    "500.000\u0111",
    "50 us dollars",
    "50 dolar Singapura",
    "hk dollars 500",
    "dua puluh dolar",
    "sejuta setengah usd",
    ".5 usd",
    "usd .5",
    "Rp50.000 usd",
    "0,001 cbbtc",
    "500 PLN",
    "50 TRY",
    "10 bucks",
    "500.000 Won",
    "won 500.000",
    "500.000 dong",
    "5000 riyal",
    "100 baht",
    "50 EUR",
    "1jt msats",
    "usd 5000000",
    "5000000usd",
    "500.000\nusd",
    "500.000\xa0USD",
    "500.000\u200busd",
    "\uff15\uff10\uff55\uff53\uff44",
    "50 z\u0142oty",
)


@pytest.mark.parametrize("said", OTHER_MONEY)
def test_money_that_we_do_not_send_is_never_taken_for_rupiah_and_is_no_name(said: str) -> None:
    for text in (f"{said} bca 1234567890 a.n. Budi", f"Budi bca 1234567890 {said}", f"bca 1234567890 {said} Budi"):
        line = read(text)
        assert line.amount is None, text
        assert {line.holder, line.doubtful_holder} <= {None, "Budi"}, text


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


def test_no_currency_is_also_a_bank_a_common_name_or_another_word_of_a_line() -> None:
    banks = {alias for each in METHODS if (known := find_known(each.code, each.name)) for alias in known.all_names}
    assert not FOREIGN & {bank.casefold() for bank in banks}
    assert not FOREIGN & (KNOWN_NAMES | FILLERS)
    assert not FOREIGN & (GENERIC | LEADS_TO_NAME | COUNTED | ASIDE_LABELS | MONTHS | TITLES | TALK | EVERYDAY_WORDS)
    assert not FOREIGN & CURRENCIES.keys()


@pytest.mark.parametrize("text", ["tolong kirim dong 500rb ke bca 1234567890", "500rb ke bca 1234567890 dong"])
def test_a_polite_word_is_a_currency_only_behind_a_sum(text: str) -> None:
    assert read(text).amount == Amount("IDR", 500_000)
    assert read("500rb dong bca 1234567890").amount is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "halo",
        "terima kasih",
        "1234",
        "123456",
        "1234567890",
        "500rb",
        "bca",
        "500rb bca",
        "PIN 123456",
        "kode otp anda 123456 jangan berikan",
        "berapa kurs 500rb?",
        "500rb bca 1234567890?",
        "sudah transfer 500rb ke bca 1234567890",
        "halo 500rb bca 1234567890",
        "jam 10:30 tanggal 12/05/2026 transfer 500rb bca 1234567890",
        "https://example.org/500rb/bca/1234567890",
        "/send 500rb bca 1234567890",
        "@budi 500rb bca 1234567890",
        "order 1234567890 500rb gagal",
        "Selamat siang, pembayaran 500rb ke rekening BCA 1234567890 atas nama Budi telah kami terima, salam",
    ],
)
def test_talk_is_no_order(text: str) -> None:
    assert not looks_like_order(text, METHODS)


MOST_CALLS = 400_000
"""Calls of functions for one text. They are counted, because seconds depend on the machine."""

HEAVY = [
    *("x" * 4096, "\U0001f4b8" * 4096, "1 " * 2048, "juta ribu " * 20, "dua juta lima ratus ribu " * 10, "satsat" * 45),
    *("bank qwe " * 20, "mandri gopey brii danaa " * 10, "qwerty asdfgh zxcvbn " * 13, "1234 " * 40, "123.456 " * 36),
    *("\ufdfa" * 300, "\ufdfa" * 16, "(" * 150 + ")" * 150, "a.n." * 75, "1:5jt " * 50, "jam 10 " * 42, "1,5jt/" * 40),
    *(
        "12;34|" * 45,
        "1/2/3/4/5/6/7/8/9/" * 14,
        "0812 3456 7890 12 " * 14,
        "+-~<\x3e" * 55,
        "Rp1 000 " * 35,
        "x3@5%" * 55,
    ),
    *(
        "bca bni bri mandiri 1 " * 12,
        "kode no bank 12 " * 16,
        "\U0001f64f1" * 140,
        "an.a/n.u/" * 32,
        "5 lima nol " * 27,
    ),
]


@pytest.mark.parametrize("text", HEAVY, ids=range(len(HEAVY)))
def test_a_heavy_text_takes_few_steps(text: str) -> None:
    many = [*METHODS, *(PayoutMethod(f"X{i}", f"BPR CONTOH {i} SEJAHTERA", "bank") for i in range(90))]
    read_line("warm up", many)
    profile = cProfile.Profile()
    profile.enable()
    read_line(text, many)
    looks_like_order(text, many)
    with suppress(Rejection):
        parse_amount(text)
    profile.disable()
    calls = sum(entry.callcount for entry in profile.getstats())
    assert calls < MOST_CALLS


def test_a_text_that_is_too_long_after_folding_is_not_read() -> None:
    assert read("500rb bca 1234567890 " + "x" * 17).amount == Amount("IDR", 500_000)
    assert read("500rb bca 1234567890 " + "\ufdfa" * 17).amount is None

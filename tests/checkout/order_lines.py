"""Random lines as users type them for an order, with the right answer of each, and a count of how they are read.

`cases(seed, count)` yields the same lines for the same seed. A reading is wrong if it accepts a destination, a number,
a sum or a holder's name that differs from the right answer. Asking the user is never wrong.
"""

import json
import random
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from itertools import pairwise
from typing import Final

from bot.checkout.parser import OneLine, read_line
from bot.checkout.parser.runs import is_usual
from bot.core.money import Amount
from bot.settlement.model import PayoutMethod
from tests.core.rupiah_in_words import in_words

EWALLETS: Final = {"gopay", "ovo", "dana", "shopeepay", "linkaja", "linkaja_direct", "imkas", "isaku"}
METHODS: Final = [
    PayoutMethod(each["code"], each["name"], "ewallet" if each["code"] in EWALLETS else "bank", 250_000_000)
    for each in json.loads((files("bot.recipients") / "known.json").read_text(encoding="utf-8"))
]

PARTS: Final = ("method", "number", "amount", "holder")


@dataclass(frozen=True, slots=True)
class Case:
    """A line and its meaning. If the sum is ambiguous, `amount` is None and the parser has to ask.

    An `ordinary` line has only the four parts and polite words, in spellings with one meaning.
    """

    text: str
    method: str | None
    number: str | None
    amount: Amount | None
    holder: str | None
    ordinary: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether the line clearly names a destination, a number and a sum."""
        return None not in (self.method, self.number, self.amount)


@dataclass(slots=True)
class Tally:
    """Counts of lines by outcome, and the cases that were read wrong."""

    lines: Counter[str] = field(default_factory=Counter)
    parts: Counter[str] = field(default_factory=Counter)
    wrong: list[tuple[Case, str, OneLine]] = field(default_factory=list)
    asked_ordinary: list[tuple[Case, OneLine]] = field(default_factory=list)

    def add(self, case: Case, line: OneLine) -> None:
        """Count the reading of one case."""
        wrong = wrong_parts(case, line)
        self.wrong += [(case, part, line) for part in wrong]
        self.parts.update(f"{part} asked" for part in PARTS if _truth(case, part) and not _taken(line, part))
        outcome = "wrong" if wrong else _outcome(line)
        self.lines[outcome] += 1
        if case.is_whole:
            self.lines[f"whole {outcome}"] += 1
        if case.ordinary:
            self.lines[f"ordinary {outcome}"] += 1
            if outcome != "understood":
                self.asked_ordinary.append((case, line))


def wrong_parts(case: Case, line: OneLine) -> list[str]:
    """Return the parts of `line` that were accepted without a question and are wrong."""
    return [part for part in PARTS if _taken(line, part) is not None and _taken(line, part) != _truth(case, part)]


def _outcome(line: OneLine) -> str:
    """Return "understood" if the review follows, "asked" for a question, or "refused" for a rejection."""
    if line.rejections:
        return "refused"
    has_all = all(_taken(line, part) is not None for part in PARTS if part != "holder")
    return "understood" if has_all and line.doubtful_holder is None else "asked"


def _truth(case: Case, part: str) -> object:
    """Return the right value of a part. An account that begins like a mobile number is compared as one."""
    value = getattr(case, part)
    if value is None:
        return None
    return _as_local(value) if part == "number" else value.replace(".", "") if part == "holder" else value


def _taken(line: OneLine, part: str) -> object:
    """Return the value that is accepted without a question, or None.

    A number that waits only for its destination counts as accepted, unless every destination would ask about it.
    """
    if part == "method":
        return line.method.code if line.method else None
    if part == "number":
        waits = line.method is not None and line.doubtful_number is not None and line.number_remark is None
        taken = line.doubtful_number if waits else line.number
        is_asked = line.method is None and taken is not None and not any(is_usual(each, taken) for each in METHODS)
        return None if taken is None or is_asked else _as_local(taken)
    return line.holder.replace(".", "") if part == "holder" and line.holder else getattr(line, part)


def _as_local(number: str) -> str:
    """Return a mobile number in its local form, as cases have it. Without a method it is read as typed."""
    return re.sub(r"^(?:(?:\+|00)?62)?(?=8\d{7,11}$)", "0", number)


def read_all(cases: Iterator[Case]) -> Tally:
    """Read all cases and return the counts."""
    tally = Tally()
    for case in cases:
        tally.add(case, read_line(case.text, METHODS))
    return tally


def cases(seed: int, count: int) -> Iterator[Case]:
    """Yield `count` cases, the same ones for the same seed."""
    for place in range(count):
        yield Writer(random.Random(f"{seed}/{place}")).case()


SLIPS: Final = (*" ()[]{}:;|/\"\n<~+'*_!", "\U0001f64f", " - ", "..", "\u200b")
"""Marks mistyped next to a digit. The line keeps its meaning or becomes ambiguous."""


def slipped(seed: int, count: int) -> Iterator[Case]:
    """Yield cases with one or two misplaced marks within or next to their digits."""
    for place, case in enumerate(cases(seed, count)):
        dice = random.Random(f"{seed}/{place}/slip")
        text = case.text
        for _ in range(dice.choice((1, 1, 2))):
            digits = [at for at, character in enumerate(text) if character.isdecimal()]
            at = dice.choice(digits) + dice.choice((0, 1)) if digits else 0
            text = text[:at] + dice.choice(SLIPS) + text[at:]
        yield replace(case, text=text, ordinary=False)


def sums(seed: int, count: int) -> Iterator[tuple[Amount, str, bool]]:
    """Yield sums, how a user types each, and whether a mark was mistyped. Every second sum has such a mark."""
    for place in range(count):
        dice = random.Random(f"{seed}/{place}/sum")
        writer = Writer(dice)
        amount, text = writer.bitcoin() if dice.random() < 0.15 else writer.rupiah()
        at, is_slipped = dice.randint(0, len(text)), place % 2 == 1
        yield amount, text[:at] + dice.choice(SLIPS) + text[at:] if is_slipped else text, is_slipped


# The parts of a line.

DESTINATIONS: Final = {
    "014": ("bca", "BCA", "Bca", "bank bca", "BANK BCA", "klikbca", "bank central asia", "Bank: BCA", "bnk bca"),
    "008": ("mandiri", "Mandiri", "bank mandiri", "BMRI", "livin", "mandri"),
    "002": ("bri", "BRI", "bank bri", "brimo"),
    "009": ("bni", "BNI", "bni 46", "BNI46", "bank bni", "Bank Negara Indonesia"),
    "451": ("bsi", "BSI", "bank syariah indonesia"),
    "022": ("cimb", "CIMB Niaga", "cimb niaga"),
    "013": ("permata", "Bank Permata", "permata bank"),
    "011": ("danamon", "DANAMON"),
    "542": ("jago", "Bank Jago", "bank jago"),
    "535": ("seabank", "SeaBank", "sea bank"),
    "213": ("jenius", "btpn", "SMBC"),
    "087": ("hsbc", "HSBC"),
    "426": ("bank mega", "Bank Mega", "mega"),
    "947": ("aladin", "bank aladin"),
    "gopay": ("gopay", "GoPay", "GOPAY", "go-pay", "gopey"),
    "ovo": ("ovo", "OVO", "Ovo"),
    "dana": ("dana", "DANA"),
    "shopeepay": ("shopeepay", "spay", "ShopeePay", "shopee pay"),
    "linkaja": ("linkaja", "LinkAja", "link aja"),
}

LENGTHS: Final = {
    "014": 10,
    "008": 13,
    "002": 15,
    "009": 10,
    "451": 10,
    "022": 13,
    "013": 10,
    "011": 10,
    "542": 12,
    "535": 12,
    "213": 11,
    "426": 15,
}
"""Number of digits of banks whose accounts have one length. Others have 10 to 16."""

MOBILE: Final = ("0811", "0812", "0813", "0821", "0822", "0838", "0852", "0853", "0857", "0858", "0877", "0878", "0895")

NAMES: Final = (
    *(
        "Budi",
        "Budi Santoso",
        "Siti Aminah",
        "I Made Wirawan",
        "M Ali",
        "Ni Luh Putu Ayu",
        "Agus Salim",
        "Dewi Lestari",
    ),
    *(
        "Rina Marlina",
        "Joko Widodo",
        "Hari Santoso",
        "Putri Ayu",
        "Andi",
        "Ahmad Dahlan",
        "Tri Wahyuni",
        "Eko",
        "Yanti",
    ),
    *(
        "Bambang Sutrisno",
        "Rizky Febian",
        "Intan Permatasari",
        "Kevin Sanjaya",
        "Maria Goretti",
        "Jose\u0301",
        "O'Neill",
    ),
    *("Wayan Sudirta", "Slamet Riyadi", "Nurul Hidayah", "Fajar Nugroho", "Citra Kirana", "Teuku Umar", "Cut Nyak"),
    *("Abdul Rahman bin Yusuf", "Lim Swie King", "Dian Sastro", "H. Sulaiman", "Pak Budi", "ibu Siti", "mas Joko"),
)

STRAY: Final = (
    *("fee", "tgl", "jam", "bpd", "atau", "kos", "listrik", "token", "arisan", "iuran", "spp", "cicilan", "hutang"),
    *("belanja", "makan siang", "pulsa", "zakat", "segera", "urgent", "besok", "sekarang", "cabang", "kcp", "unit"),
    *("pembayaran", "transferan", "titipan", "tiket", "ongkir", "admin", "sewa rumah", "uang kas", "pelunasan", "dp"),
    *(
        "gaji",
        "bonus",
        "hadiah",
        "kado",
        "sumbangan",
        "bayar",
        "pinjaman",
        "tabungan",
        "rent",
        "food",
        "salary",
        "gift",
    ),
    *(
        "thanks ya",
        "makasih",
        "terima kasih",
        "mohon dibantu",
        "tolong ya",
        "cek ya",
        "konfirmasi",
        "berita",
        "catatan",
    ),
    *("invoice", "orderan", "pesanan", "wib", "kode", "rekening", "nomor", "uangnya", "secepatnya"),
    *("ditransfer", "mengirim", "halo", "selamat pagi", "tunai", "cod", "ambil", "rumah", "mobil", "obat", "sekolah"),
)

CODES: Final = (
    *("jam 10", "jam 10.30", "pukul 09.00 WIB", "10:30", "jam 7 malam", "tgl 5", "tanggal 17 agustus", "5 mei 2026"),
    *("12/05/2026", "12-05-2026", "2026-11-21", "17.08.2026", "kode 123456", "kode: 014", "ref 9876543210", "#4521"),
    *(
        "inv/2026/001",
        "INV-2026-0012",
        "no 15",
        "No.5",
        "RT 03 RW 05",
        "RT 3/5",
        "rt03/rw05",
        "blok C3 no 7",
        "kamar 12",
    ),
    *("lt 2", "jl melati no 8", "id 8812345678", "otp 123456", "order 20261121001", "kode pos 40123", "# 12", "km 5"),
    *("21 Nov", "21/11/26", "17:05:33", "pkl 19.30", "19.30 wib", "sabtu 21 november 2026", "2026/11/21", "jam 10"),
    *("ref:9876543210", "kode booking AB12CD", "trx#99887766", "nomor antrian 12", "no. 3", "RT 1", "no 7", "kode 88"),
    *("trx1234567890", "resi JX1234567890", "nik 3201234567890001", "antrian 23", "bulan 5", "tahun 2026", "mei 2026"),
)
"""Digits with a label that says that they are neither the number nor the sum."""

COUNTS: Final = (
    "3 bulan",
    "2x",
    "x 3",
    "x3",
    "3 kali",
    "5 orang",
    "10%",
    "dua kali",
    "2 pcs",
    "50 porsi",
    "masing-masing",
    "per orang",
)
OTHER_SUMS: Final = (
    "fee 2500",
    "admin 6.500",
    "biaya 5rb",
    "ongkir 15rb",
    "fee 2,5rb",
    "potongan 10rb",
    "kembalian 3.000",
)
UNLABELLED: Final = ("2", "7", "12", "014", "88", "123", "2026", "123456", "5", "008", "09.00", "10.30", "21/11", "H-1")
"""Digits without a label."""

AMOUNT_LABELS: Final = (
    *("", "", "", "", "nominal ", "nominal:", "sebesar ", "jumlah ", "sejumlah: ", "amount=", "total "),
)

DIGITS: Final = ("\uff10", "\uff10", "\u0660", "\u06f0", "\u0966", "\U0001d7ce", "\U0001d7f6")
"""Zeros of full width, of Arabic, Persian, Hindi, and of those that are drawn bold or like a typewriter's."""

LOOKALIKES: Final = {"0": "oO", "1": "lI", "5": "S", "8": "B"}
ODD_MARKS: Final = (" ", "  ", "/", "_", "'", "\u2013", "\u00a0", " - ", ". ", "-", ".", "\u2009", "\n", ", ")
EITHER: Final = ("atau", "or", "ato")
ROUGHLY: Final = (
    *(("+-", ""), ("+- ", ""), ("+/-", ""), ("~", ""), ("\u00b1 ", ""), ("sekitar ", ""), ("kurang lebih ", "")),
    *(("hampir ", ""), ("maks ", ""), ("min. ", ""), ("about ", ""), ("", " lebih"), ("", " kurang"), ("", "/orang")),
    *(("", " per bulan"), ("", " each"), ("", " x 2"), ("", " x2"), ("2x ", ""), ("@", ""), ("", "/hari")),
    *(
        ("", " kurang lebih"),
        ("setengah dari ", ""),
        ("", " dikali 3"),
        ("", " / 2"),
        ("lebih dari ", ""),
        ("under ", ""),
    ),
)
"""Words that change a sum or make it approximate."""

PAPERS: Final = (
    *(("order", "20269999999"), ("no order", "89999999999"), ("resi", "999999999999"), ("idpel", "539999999999")),
    *(("token", "9999 9999 9999 9999 9999"), ("npwp", "99.999.999.9-999.999"), ("nik", "3299999999999999")),
    *(("invoice", "2026/11/0099"), ("ref", "9999999999"), ("kode", "999999"), ("trx", "9999999999")),
    *(("order", "#999999999"), ("pesanan", "999-9999999-99"), ("nomor pesanan", "9999999999"), ("id", "9999 9999 99")),
)
"""Documents and the patterns of their numbers. In a pattern, 9 is any digit."""

DECORATIONS: Final = (
    *(("\U0001f4b8", ""), ("", "\U0001f64f"), ("\u2705 ", ""), ("- ", ""), ("* ", ""), ("> ", ""), ("\u2022 ", "")),
    *(("", "!!"), ("", "..."), ("", " ,"), ("", ";"), ("**", "**"), ("_", "_"), ("\u201c", "\u201d"), ("<", ">")),
    *(("", " ya"), ("=> ", ""), ("", ")"), ("(", ""), ("", "\ufe0f"), ("\u200e", ""), ("", "\u200b")),
)

PICTURES: Final = ("\U0001f64f", "\U0001f60a", "\U0001f4b8", "\u2764\ufe0f", "\u2705", "\U0001f44d\U0001f3fd")
MARKS: Final = (" ", " ", " ", " ", " ", " ", ", ", "\n", " | ", " / ", " - ", "; ", "  ", "\u00a0", ". ", " : ")
TIGHT: Final = ",/|;\n"


@dataclass(slots=True)
class Writer:
    """Writes one random line and the case for it."""

    dice: random.Random
    ordinary: bool = True

    def case(self) -> Case:
        """Return a line with its meaning."""
        roll = self.dice.random
        code = self.dice.choice(list(DESTINATIONS))
        number, written = self.number(code)
        amount, said = self.amount()
        holder, called = self.holder() if roll() < 0.7 else (None, None)
        parts = {"method": self.destination(code), "number": written, "amount": said, "holder": called}
        case = Case("", code, number, amount, holder)
        for part in ("method", "number", "amount"):
            written_part, chance = str(parts[part]), roll()
            if chance < 0.07:
                self.ordinary = False
                parts[part] = None if chance < 0.04 else self.left_open(part, code, written_part)
                case = _without(case, part)
        has_place = parts["method"] is not None or parts["number"] is not None
        noise = [self.noise(code, has_place=has_place) for _ in range(self.dice.choice((0, 0, 0, 1, 1, 2, 3)))]
        if any(is_open for _, is_open in noise):
            case = replace(case, amount=None)
        pieces = [each for each in parts.values() if each is not None] + [text for text, _ in noise]
        self.dice.shuffle(pieces)
        text = self.joined([self.decorated(piece) for piece in _without_traps(pieces)])
        if roll() < 0.05:
            first = self.dice.choice(DIGITS)
            text = text.translate({ord("0") + digit: chr(ord(first) + digit) for digit in range(10)})
        return replace(case, text=text, ordinary=self.ordinary)

    def line_with(self, said: str, amount: Amount | None) -> Case:
        """Return a line with the four parts alone, in any order, and this sum."""
        code = self.dice.choice(list(DESTINATIONS))
        number, written = self.number(code)
        holder, called = self.holder() if self.dice.random() < 0.7 else (None, None)
        pieces = [self.destination(code), written, said, *([called] if called is not None else [])]
        self.dice.shuffle(pieces)
        return Case(self.joined(pieces), code, number, amount, holder)

    def left_open(self, part: str, code: str, text: str) -> str:
        """Return an ambiguous part: a choice of two, an approximate sum, or a typing error."""
        if part == "method":
            other = self.dice.choice([each for each in DESTINATIONS if each != code])
            return f"{text} {self.dice.choice(EITHER)} {self.dice.choice(DESTINATIONS[other])}"
        if part == "number":
            others = (f"{text} {self.dice.choice(EITHER)} {self.number(code)[1]}", f"{text} / {self.number(code)[1]}")
            return self.dice.choice((*others, self.misspelt(text) if LOOKALIKES.keys() & set(text) else others[0]))
        before, after = self.dice.choice(ROUGHLY)
        label, said = self.dice.choice(AMOUNT_LABELS), self.rupiah()[1]
        other = f"{text} {self.dice.choice(EITHER)} {said} saja"
        return self.dice.choice((f"{label}{before}{said}{after}", f"{before}{said}{after}", other, self.misspelt(text)))

    def misspelt(self, text: str) -> str:
        """Return the text with a letter for one of its digits, or an approximate sum if no digit has such a letter."""
        places = [at for at, each in enumerate(text) if each in LOOKALIKES]
        if not places:
            return f"kurang {text}"
        at = self.dice.choice(places)
        return text[:at] + self.dice.choice(LOOKALIKES[text[at]]) + text[at + 1 :]

    def decorated(self, piece: str) -> str:
        """Return the text, sometimes with an emoji or a mark attached."""
        if self.dice.random() < 0.94:
            return piece
        before, after = self.dice.choice(DECORATIONS)
        return f"{before}{piece}{after}"

    def joined(self, pieces: Sequence[str]) -> str:
        """Return the pieces with marks between them. Some lines use one mark without spaces, or a numbered list."""
        if self.dice.random() < 0.06 and not any(mark in piece for piece in pieces for mark in ",/|;"):
            mark = self.dice.choice(TIGHT)
            if mark not in ",/" or not any(_is_one_number(*pair) for pair in pairwise(pieces)):
                return mark.join(pieces)
        if self.dice.random() < 0.03:
            self.ordinary = False
            mark = self.dice.choice((".", ")"))
            return "\n".join(f"{place}{mark} {piece}" for place, piece in enumerate(pieces, 1))
        text = pieces[0] if pieces else ""
        for piece in pieces[1:]:
            text += self.dice.choice(MARKS) + piece
        return text

    def destination(self, code: str) -> str:
        """Return a name of the destination, perhaps with a word before it or with its code."""
        name = self.dice.choice(DESTINATIONS[code])
        before = self.dice.choice(("", "", "", "ke ", "via ", "tujuan ", "transfer ke "))
        after = f" {code}" if code.isdecimal() and self.dice.random() < 0.05 else ""
        after = after or (f" ({code})" if code.isdecimal() and self.dice.random() < 0.03 else "")
        return f"{before}{name}{after}"

    def number(self, code: str) -> tuple[str, str]:
        """Return a number that is usual for the method, and one way to write it."""
        if code in EWALLETS:
            return self.mobile()
        length = LENGTHS.get(code) or self.dice.randint(10, 16)
        number = self.dice.choice("0123456789") + "".join(self.dice.choice("0123456789") for _ in range(length - 1))
        label = self.dice.choice(("", "", "", "", "rek ", "no rek ", "norek: ", "no. ", "a/c ", "rekening ", "Rek:"))
        if self.dice.random() < 0.03:
            label = self.dice.choice(("rek", "norek", "Rek.", "No.", "rek=", "acc. no. ", "nomor rekening : "))
        return number, label + self.wrapped(self.grouped(number))

    def mobile(self) -> tuple[str, str]:
        """Return a mobile number, and one way to write it."""
        number = self.dice.choice(MOBILE) + "".join(
            self.dice.choice("0123456789") for _ in range(self.dice.randint(6, 8))
        )
        written = self.dice.choice(
            (number, number, self.grouped(number), f"+62{number[1:]}", f"62{number[1:]}", number[1:])
        )
        if self.dice.random() < 0.1:
            rest = number[1:]
            written = self.dice.choice(
                (f"+62 {rest[:3]} {rest[3:7]} {rest[7:]}", f"(+62) {rest[:3]}-{rest[3:7]}-{rest[7:]}")
            )
        label = self.dice.choice(("", "", "", "hp ", "no hp ", "wa ", "nomor ", "No. HP: ", "hp:"))
        if self.dice.random() < 0.03:
            label = self.dice.choice(("hp", "wa", "telp. ", "no.hp ", "HP=", "no whatsapp : "))
        return number, label + self.wrapped(written)

    def grouped(self, digits: str) -> str:
        """Return the digits in one piece, or in groups of two to five with spaces, dashes or dots."""
        if self.dice.random() < 0.5:
            return digits
        if self.dice.random() < 0.06:
            return self.oddly_grouped(digits)
        size = self.dice.choice((3, 4, 4, 4, 5))
        groups = [digits[start : start + size] for start in range(0, len(digits), size)]
        if self.dice.random() < 0.3:
            groups, left = [], digits
            while left:
                size = self.dice.randint(2, 5)
                groups, left = [*groups, left[:size]], left[size:]
        return self.dice.choice((" ", " ", "-", ".")).join(groups)

    def oddly_grouped(self, digits: str) -> str:
        """Return the digits in groups of one to seven, with unusual or several marks between them."""
        self.ordinary = False
        marks = self.dice.choice((ODD_MARKS, (self.dice.choice(ODD_MARKS),)))
        text, left = "", digits
        while left:
            size = self.dice.randint(1, 7)
            text, left = text + left[:size] + self.dice.choice(marks), left[size:]
        return text if self.dice.random() < 0.1 else text.rstrip(" /_.'\u2013-")

    def amount(self) -> tuple[Amount, str]:
        """Return a sum and one way to write it, perhaps with a word that leads to it."""
        amount, said = self.bitcoin() if self.dice.random() < 0.1 else self.rupiah()
        if amount.currency == "IDR" and self.dice.random() < 0.04:
            self.ordinary = False
            said = self.dice.choice(list(_odd_forms(amount.value)))
        label = self.dice.choice(AMOUNT_LABELS)
        return amount, label + self.wrapped(said)

    def rupiah(self) -> tuple[Amount, str]:
        """Return an amount in rupiah, from a thousand to fifty million."""
        thousands = self.dice.choice(
            (self.dice.randint(10, 999), self.dice.randint(1, 50) * 50, self.dice.randint(1, 500) * 100)
        )
        value = thousands * 1000 + self.dice.choice((0, 0, 0, 0, 0, 500, 123, 999))
        if self.dice.random() < 0.04:
            self.ordinary = False
            return Amount("IDR", value), self.dice.choice(list(_short_forms(value)))
        return Amount("IDR", value), self.dice.choice(list(spell(value)))

    def bitcoin(self) -> tuple[Amount, str]:
        """Return an amount in sats, from a thousand to ten million."""
        value = self.dice.choice(
            (self.dice.randint(1000, 99_999), self.dice.randint(1, 999) * 1000, self.dice.randint(1, 99) * 100_000)
        )
        coins = f"{value / 100_000_000:.8f}"
        ways = [f"{value} sats", f"{value}sats", f"{value:,} sats", f"{value:,} sat".replace(",", "."), f"sats {value}"]
        ways += [f"{coins} btc", f"{coins.rstrip('0')} BTC".replace(".", ","), f"\u20bf{value}", f"{value} satoshi"]
        if value % 1000 == 0:
            ways += [f"{value // 1000}k sats", f"{value // 1000}rb sat"]
        return Amount("SAT", value), self.dice.choice(ways)

    def wrapped(self, text: str) -> str:
        """Return the text, sometimes in brackets, quotes or bold, or with a mark at the end."""
        if self.dice.random() < 0.85:
            return text
        before, after = self.dice.choice(
            (("(", ")"), ("[", "]"), ("*", "*"), ('"', '"'), ("", ";"), ("", ","), ("", "."), ("`", "`"))
        )
        return f"{before}{text}{after}"

    def holder(self) -> tuple[str, str]:
        """Return a holder's name, and the name as typed, perhaps after words such as "a/n"."""
        name = self.dice.choice(NAMES)
        name = self.dice.choice((name, name, name.lower(), name.upper()))
        label = self.dice.choice(
            ("", "", "", "a/n ", "a.n. ", "an ", "an. ", "a.n.", "atas nama ", "nama: ", "penerima ", "A/N: ")
        )
        from_label = _composed(name)
        return from_label, f"{label}{name}"

    def noise(self, code: str, *, has_place: bool) -> tuple[str, bool]:
        """Return words that aren't part of the order, and whether they make the sum ambiguous."""
        kinds: list[tuple[int, Callable[[], tuple[str, bool]]]] = [
            (5, lambda: (self.dice.choice(STRAY), False)),
            (4, lambda: (self.dice.choice(CODES), False)),
            (2, lambda: (self.dice.choice(PICTURES), False)),
            (2, lambda: (self.dice.choice(UNLABELLED), False)),
            (2, lambda: (self.dice.choice(OTHER_SUMS), False)),
            (1, lambda: (self.dice.choice(COUNTS), True)),
            (int(has_place and code not in EWALLETS), lambda: (self.phone(), False)),
            (1, lambda: (self.sender(), False)),
            (1, lambda: (self.not_this(), False)),
            (1, lambda: (self.paper(), False)),
        ]
        kind = self.dice.choices(kinds, [weight for weight, _ in kinds])[0][1]
        text, is_open = kind()
        self.ordinary = self.ordinary and text in PICTURES
        return text, is_open

    def phone(self) -> str:
        """Return a phone number that isn't the account."""
        number = self.mobile()[0]
        label = self.dice.choice(("hp ", "hp ", "no hp ", "HP: ", "wa ", "No. WA : ", "telp. ", "cp ", "hp"))
        return label + self.dice.choice((number, number, self.grouped(number), f"+62{number[1:]}"))

    def sender(self) -> str:
        """Return words for the source of the money or for its sender."""
        named = self.dice.choice(("bca", "mandiri", "ovo", "rek 1234567890", "Andi", "Siti Aminah", "ibu", "bank bri"))
        return f"{self.dice.choice(('dari', 'dari', 'from', 'dr'))} {named}"

    def not_this(self) -> str:
        """Return words that say what isn't meant."""
        what = self.dice.choice(
            (self.rupiah()[1], self.dice.choice(DESTINATIONS[self.dice.choice(list(DESTINATIONS))]))
        )
        return f"{self.dice.choice(('bukan', 'jangan', 'not'))} {what}"

    def paper(self) -> str:
        """Return the number of an order, a meter or a tax payer, with its label."""
        label, shape = self.dice.choice(PAPERS)
        digits = "".join(self.dice.choice("0123456789") if each == "9" else each for each in shape)
        return label + self.dice.choice((" ", " ", ": ", " no ", " no. ")) + digits


def _without(case: Case, part: str) -> Case:
    """Return the case with one part ambiguous."""
    if part == "method":
        return replace(case, method=None)
    return replace(case, number=None) if part == "number" else replace(case, amount=None)


def _composed(name: str) -> str:
    """Return the name with composed accents, as the parser returns it."""
    return unicodedata.normalize("NFKC", name)


def spell(value: int) -> Iterator[str]:
    """Yield the spellings of an amount in rupiah that have one meaning."""
    dotted, commas, spaced = f"{value:,}".replace(",", "."), f"{value:,}", f"{value:,}".replace(",", " ")
    yield from (
        str(value),
        dotted,
        commas,
        f"Rp{dotted}",
        f"Rp {dotted}",
        f"Rp. {dotted}",
        f"rp{value}",
        f"IDR {commas}",
    )
    yield from (
        f"Rp{dotted},00",
        f"Rp {dotted},-",
        f"{dotted},-",
        f"Rp {spaced}",
        f"{dotted} rupiah",
        f"Rp{spaced}",
        f"rp {value}",
    )
    if value >= 10_000:
        yield spaced
    if value % 100 == 0:
        thousands = f"{value / 1000:.1f}".removesuffix(".0").replace(".", ",")
        yield from (
            f"{thousands}rb",
            f"{thousands} ribu",
            f"{thousands}k",
            f"Rp{thousands}rb",
            f"{thousands} rb",
            f"{thousands}RB",
        )
        yield f"{thousands.replace(',', '.')}k"
    if value % 1000 == 0 and value >= 100_000:
        millions = f"{value / 1_000_000:.3f}".rstrip("0").rstrip(".").replace(".", ",")
        yield from (
            f"{millions}jt",
            f"{millions} juta",
            f"Rp {millions} juta",
            f"{millions}JT",
            f"{millions.replace(',', '.')} jt",
        )
    if value % 1000 == 0:
        yield from (in_words(value), f"{in_words(value)} rupiah")
    if value % 1000 == 0 and value > 1_000_000 and value % 1_000_000:
        yield f"{value // 1_000_000}jt {value % 1_000_000 // 1000}rb"
    yield from {1_000_000: ("sejuta",), 500_000: ("setengah juta",), 50_000: ("gocap",)}.get(value, ())


def _short_forms(value: int) -> Iterator[str]:
    """Yield shortened spellings. They have several meanings, so the parser has to ask."""
    yield from (f"{value},000", f"{value}.000")
    if value < 1_000_000 and value % 1000 == 0:
        yield from (str(value // 1000), f"{value // 1000}.00")
    if value >= 1_000_000 and value % 100_000 == 0:
        millions = f"{value / 1_000_000:g}"
        yield from (millions, millions.replace(".", ","), f"{millions}m", f"{millions}M")
    if value > 1_000_000 and value % 1_000_000 >= 1000 and value % 1000 == 0:
        yield f"{value // 1_000_000}jt{value % 1_000_000 // 1000}"
        yield f"{value // 1_000_000} juta {value % 1_000_000 // 1000}"


def _odd_forms(value: int) -> Iterator[str]:
    """Yield spellings with marks in unusual places. Some are ambiguous."""
    dotted, commas = f"{value:,}".replace(",", "."), f"{value:,}"
    yield from (f"{commas}.000", f"Rp.{dotted}.-", f"Rp{dotted},", f"({dotted}", f"{dotted})", f"Rp {dotted} ,-")
    yield from (dotted.replace(".", "'"), dotted.replace(".", ". "), f"Rp{value}rupiah", f"IDR{value}", f"{value} IDR")
    yield from (dotted.replace(".", " . "), commas.replace(",", ", "), f"Rp:{dotted}", f"Rp={value}", f"Rp-{dotted}")
    if value >= 1_000_000:
        yield from (dotted.replace(".", ",", 1), commas.replace(",", ".", 1), f"{value // 1000}.{value % 1000:03d}")
    if value % 1000 == 0:
        yield from (f"{value // 1000}.rb", f"{value // 1000},rb", f"{value // 1000}-rb", f"{value // 1000}*1000")
        yield from (f"{value // 1000}rb,-", f"Rp.{value // 1000}rb", f"{value // 1000}ribu", f"{value // 1000}000,-")
    if value % 100_000 == 0:
        yield from (f"{value / 1_000_000:g}juta", f"Rp{value / 1_000_000:g}jt,-", f"{value / 1_000_000:g} jt;")
        yield from (f":{value / 1_000_000:g}jt".replace(".", ","), f"{value / 1_000_000:g}".replace(".", ", ") + "jt")


def _is_one_number(before: str, after: str) -> bool:
    """Return whether two pieces with a comma or slash between them look like one number: "km 5,26 jt"."""
    return before[-1:].isdecimal() and after[:1].isdecimal()


def _without_traps(pieces: Sequence[str]) -> list[str]:
    """Return the pieces without bare digits next to a sum with spaces: "5 250 000" is always one sum."""
    kept = list(pieces)
    for place in range(len(kept) - 1, 0, -1):
        if kept[place - 1] in UNLABELLED and re.match(r"\W*\d{1,3} \d{3}\b", kept[place]):
            del kept[place - 1]
        elif kept[place] in UNLABELLED and re.search(r"(?<!\d)\d{1,3}( \d{3})*\W*$", kept[place - 1]):
            del kept[place]
    return kept

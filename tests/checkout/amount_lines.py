"""Random sums with units, fractions and foreign money, alone and in lines, with the right answer of each.

The right answer is built with the text and shares no word list with the parser. It is None where the text names no
single sum of rupiah or bitcoin: foreign money, a mark that can be a bullet. A reading is wrong if it is sure of
anything else. Asking is never wrong.
"""

# ruff: noqa: RUF001  other scripts are typed, too

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from typing import Final

from bot.checkout.parser import OneLine, read_line
from bot.core.errors import Rejection
from bot.core.money import Ambiguous, Amount, parse_amount
from tests.checkout.order_lines import DIGITS, METHODS, PICTURES, Case, Writer, spell, wrong_parts
from tests.core.rupiah_in_words import in_words

THOUSAND, MILLION, BILLION = 10**3, 10**6, 10**9

SCALES: Final = {
    **dict.fromkeys(("rb", "ribu", "rbu", "k", "thousand"), THOUSAND),
    **dict.fromkeys(("jt", "juta", "jta", "mio", "million"), MILLION),
    **dict.fromkeys(("miliar", "milyar", "billion"), BILLION),
}
ONES: Final = {"seribu": THOUSAND, "sejuta": MILLION, "semiliar": BILLION}
HALVES: Final = ("setengah", "half", "separuh", "separo", "stengah", "stgh")
PARTS: Final = {
    **dict.fromkeys(HALVES, Fraction(1, 2)),
    **dict.fromkeys(("seperempat", "quarter", "1/4", "¼", "se perempat", "a quarter"), Fraction(1, 4)),
    **dict.fromkeys(("sepertiga", "third", "1/3", "⅓", "a third"), Fraction(1, 3)),
    **dict.fromkeys(("tiga perempat", "three quarters", "3/4", "¾", "three fourths", "3 perempat"), Fraction(3, 4)),
    **dict.fromkeys(("seperlima", "1/5", "one fifth"), Fraction(1, 5)),
    **dict.fromkeys(("dua pertiga", "two thirds", "2/3"), Fraction(2, 3)),
    **dict.fromkeys(("1/2", "½", "a half", "setengahnya", "separuhnya"), Fraction(1, 2)),
}
INDONESIAN: Final = "satu dua tiga empat lima enam tujuh delapan sembilan"
ENGLISH: Final = "one two three four five six seven eight nine"
COUNTS: Final = {
    **{word: place for words in (INDONESIAN, ENGLISH) for place, word in enumerate(words.split(), 1)},
    "sepuluh": 10,
    "sebelas": 11,
    "dua puluh": 20,
    "dua puluh lima": 25,
    "twenty": 20,
    "lima belas": 15,
}
JOINTS: Final = (" ", " ", " ", "", " dan ", " and ", " lebih ", " plus ", "-", " + ", ", ", " & ")

MARKS: Final = (
    *(".", ",", ".", ",", "\u00b7", "'", "\u2019", "\u2018", "\u02bc", "\u2032", "\u00b4", "`", "\u066b", "\u066c"),
    *("\uff0e", "\uff0c", "\u3002", "\uff61", "\u3001", "\u060c", "\u2027", "\u2219", "\u22c5", "\u30fb", "\uff65"),
    *("\u2024", "\u02d9", "\u2026", "..", ",,", ".,", "\u200b.", ".\u200b", "\u200f,", "·\ufeff", "\u2e33"),
)
"""Marks before a number's first digit, also in other scripts and with invisible characters."""

BULLETS: Final = ("\u2022", "\u25e6", "\u2023", "\u25cf", "\u2043")

CODES: Final = """
usd eur sgd myr jpy krw aud gbp cny hkd thb vnd inr sar aed php chf cad nzd twd try pln brl zar rub kwd usdt usdc busd
dai tusd fdusd eth bnb xrp ltc sol doge idrt cbbtc wbtc usde pyusd
"""
CURRENCIES: Final = """
dollar dollars dolar bucks ringgit won yen baht riyal euro euros yuan renminbi rmb peso rupee rupees pound pounds rubel
franc dirham dinar rial lira dong real rand sen cents rm rs msat msats bits 円 元 원 บาท руб đồng دولار ريال
"""
FOREIGN: Final = (
    *(*CODES.split(), *CURRENCIES.split()),
    *("dolar singapura", "us dollar", "us dollars", "dolar as", "dolar amerika", "sing dollars", "hk dollars"),
)
AFTER_ONLY: Final = frozenset({"dong"})
"""Before a number it is only polite."""

ONLY_IN_CAPITALS: Final = frozenset({"try", "pln", "dai", "sol"})
"""Codes that are also words."""

SIGNS: Final = (
    *("$", "€", "£", "¥", "₩", "₫", "฿", "₱", "₹", "₽", "₺", "S$", "US$", "A$", "HK$", "R$", "RM", "Rs"),
    *("\uff04", "\uffe5", "\u20a8", "\ufdfc", "₮", "₦", "\U0001f4b2", "¢", "₣", "₴", "\u20ac\u200b", "$ "),
)
SIGN_JOINTS: Final = ("", "", "", " ", " ", "\u00a0", ".", " .", "-", ":", ": ", "/", " / ", " (", "\n", ", ", "\u200b")
"""What is between a number and the sign, code or name of its currency."""

WRAPPERS: Final = (("", ""), ("", ""), ("", ""), ("", ""), ("(", ")"), ("*", "*"), ("nominal ", ""), ("sebesar: ", ""))


@dataclass(frozen=True, slots=True)
class Sum:
    """A sum as typed, its right answer, and what it belongs to.

    `foreign`: words that are no part of a name. `offered`: the reading that has to be among the buttons of a question.
    """

    text: str
    amount: Amount | None
    kind: str
    foreign: frozenset[str] = frozenset()
    offered: Amount | None = None


@dataclass(slots=True)
class SumTally:
    """Counts of sums by kind and outcome, and those that were read wrong."""

    outcomes: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    @property
    def total(self) -> int:
        """The number of lines."""
        return sum(self.outcomes.values())

    def add(self, said: Sum, case: Case) -> None:
        """Read the line, and the sum alone as the answer to the question for the amount."""
        line = read_line(case.text, METHODS)
        wrong = [f"{part} of {case!r}\n    {line!r}" for part in wrong_parts(case, line)]
        wrong += [f"name with a currency of {case!r}\n    {line!r}"] * _names_currency(said, line)
        answer = _answer(said.text)
        if isinstance(answer, Amount) and answer != said.amount:
            wrong.append(f"answer {said!r}\n    {answer!r}")
        if said.offered is not None and said.offered not in _readings(answer):
            wrong.append(f"not offered {said!r}\n    {answer!r}")
        self.wrong += wrong
        self.outcomes[f"{said.kind}: {'wrong' if wrong else 'sure' if line.amount else 'asked'}"] += 1


def _answer(text: str) -> Amount | Ambiguous | None:
    """Return how the question for the amount reads the text."""
    try:
        return parse_amount(text)
    except Rejection:
        return None


def _readings(answer: Amount | Ambiguous | None) -> tuple[Amount, ...]:
    return answer.readings if isinstance(answer, Ambiguous) else (answer,) if answer is not None else ()


def _names_currency(said: Sum, line: OneLine) -> bool:
    """Return whether a currency is in the holder's name, even if the name is only asked about."""
    names = (line.holder or "", line.doubtful_holder or "")
    return any(word.casefold() in said.foreign for name in names for word in name.split())


def read_sums(cases: Iterator[tuple[Sum, Case]]) -> SumTally:
    """Read all cases and return the counts."""
    tally = SumTally()
    for said, case in cases:
        tally.add(said, case)
    return tally


def sum_lines(seed: int, count: int) -> Iterator[tuple[Sum, Case]]:
    """Yield `count` sums, each with a line that names it. They are the same for the same seed."""
    for place in range(count):
        yield _SumWriter(random.Random(f"{seed}/{place}/grammar")).line()


@dataclass(slots=True)
class _SumWriter:
    """Writes one sum and its line."""

    dice: random.Random

    def line(self) -> tuple[Sum, Case]:
        """Return a sum, and a line that names it."""
        said = self.varied(self.sum())
        before, after = self.dice.choice(WRAPPERS)
        case = Writer(self.dice).line_with(f"{before}{said.text}{after}", said.amount)
        return said, case

    def sum(self) -> Sum:
        """Return a sum of one of the kinds."""
        kinds: list[tuple[int, Callable[[], Sum]]] = [
            (2, self.usual),
            (4, self.marked),
            (2, self.marked_doubtfully),
            (4, self.with_part_behind),
            (3, self.with_part_before),
            (1, self.with_decimals_in_words),
            (6, self.foreign),
            (1, self.foreign_part),
            (3, self.twice),
            (2, self.added),
            (2, self.zeros),
            (2, self.digit_behind),
            (1, self.mark_and_space),
            (2, self.odd_spaces),
            (2, self.words_lost_or_doubled),
            (1, self.with_picture),
        ]
        return self.dice.choices([make for _, make in kinds], [weight for weight, _ in kinds])[0]()

    def usual(self) -> Sum:
        """Return a sum without any difficulty."""
        amount, text = Writer(self.dice).bitcoin() if self.dice.random() < 0.15 else Writer(self.dice).rupiah()
        return Sum(text, amount, "usual")

    def digits(self) -> str:
        """Return the digits of a fraction."""
        return self.dice.choice(
            ("5", "5", "75", "25", "125", "3", "05", "50", "500", "7", "1", "2", "9", "000", "0005")
        )

    def unit(self) -> tuple[str, Fraction, str]:
        """Return a unit as typed, what it multiplies by, and its currency. Some are no scale."""
        scale = self.dice.choice([*SCALES, ""])
        currency = self.dice.choice(("", "", "", "", " rupiah", " sats", " btc", "btc", " BTC", "rp", " sat"))
        factor, name = Fraction(SCALES.get(scale, 1)), "IDR"
        if "sat" in currency:
            name = "SAT"
        elif "btc" in currency.casefold():
            scale, factor, name = "", Fraction(10**8), "SAT"
        space = self.dice.choice(("", " ", ""))
        return f"{space}{scale}{currency}" if scale else currency, factor, name

    def marked(self) -> Sum:
        """Return a sum that begins with its decimal mark."""
        digits, (unit, factor, currency) = self.digits(), self.unit()
        before = self.dice.choice(("", "", "", "Rp ", "rp ", "IDR ", "Rp. ", "Rp : ")) if currency == "IDR" else ""
        mark = self.dice.choice(MARKS)
        value = Fraction(f"0.{digits}") * factor
        return Sum(f"{before}{mark}{digits}{unit}", _amount(currency, value) if unit.strip() else None, "mark")

    def marked_doubtfully(self) -> Sum:
        """Return a sum with a mark before it that can also be a bullet, or the dot of "Rp."."""
        digits, (unit, factor, currency) = self.digits(), self.unit()
        before = self.dice.choice(BULLETS)
        if currency == "IDR" and self.dice.random() < 0.6:
            before = self.dice.choice(("Rp.", "rp.", "IDR.", "RP.", "Rp.", "Rp,", "Rp·", "Rp'"))
        part, whole = Fraction(f"0.{digits}") * factor, int(digits) * factor
        is_clear = (
            part < THOUSAND and before[-1] in (".", *BULLETS) and bool(unit.strip()) and not digits.startswith("0")
        )
        return Sum(f"{before}{digits}{unit}", _amount(currency, whole) if is_clear else None, "mark in doubt")

    def count(self) -> tuple[str, Fraction]:
        """Return a count before a scale."""
        if self.dice.random() < 0.4:
            word = self.dice.choice(list(COUNTS))
            return f"{word} ", Fraction(COUNTS[word])
        value = self.dice.choice((1, 2, 3, 5, 7, 10, 15, 25, 50, 100, 250, 500))
        return f"{value}{self.dice.choice(('', ' '))}", Fraction(value)

    def scaled(self) -> tuple[str, Fraction, int]:
        """Return a count with its scale, its value, and the scale."""
        if self.dice.random() < 0.25:
            word = self.dice.choice(list(ONES))
            return word, Fraction(ONES[word]), ONES[word]
        (count, value), scale = self.count(), self.dice.choice(list(SCALES))
        return count + scale, value * SCALES[scale], SCALES[scale]

    def with_part_behind(self) -> Sum:
        """Return a sum with a part of its scale behind it: "sejuta setengah"."""
        text, value, scale = self.scaled()
        part = self.dice.choice(list(PARTS))
        currency = self.dice.choice(("", "", "", " rupiah", "rp", " lagi"))
        joint = self.dice.choice(JOINTS)
        before = self.dice.choice(("", "", "", "Rp ", "rp"))
        is_plain = joint in {" ", "", " dan ", " and "}
        amount = _amount("IDR", value + PARTS[part] * scale) if is_plain else None
        return Sum(f"{before}{text}{joint}{part}{currency}", amount, "part behind")

    def with_part_before(self) -> Sum:
        """Return a sum with a part before its scale: "setengah juta", "dua setengah juta", "one and a half million"."""
        part, scale = self.dice.choice(list(PARTS)), self.dice.choice([*SCALES, "sejuta", "seribu"])
        count, value = self.count() if self.dice.random() < 0.5 else ("", Fraction(0))
        joint = self.dice.choice((" ", " ", " dari ", " of a ", " a ", ""))
        joined = self.dice.choice(("", "", "and a ", "dan ", "and ")) if count else ""
        factor = SCALES.get(scale) or ONES[scale]
        amount = _amount("IDR", (value + PARTS[part]) * factor) if scale in SCALES else None
        return Sum(f"{count}{joined}{part}{joint}{scale}", amount, "part before")

    def with_decimals_in_words(self) -> Sum:
        """Return a sum with its decimal mark in words: "satu koma lima juta"."""
        (count, value), scale = self.count(), self.dice.choice(list(SCALES))
        mark, tenths = (
            self.dice.choice(("koma", "point", "titik", "comma")),
            self.dice.choice(("lima", "5", "dua", "two")),
        )
        more = Fraction(COUNTS.get(tenths) or int(tenths), 10)
        return Sum(
            f"{count.strip()} {mark} {tenths} {scale}", _amount("IDR", (value + more) * SCALES[scale]), "in words"
        )

    def number(self) -> str:
        """Return a number before or behind a foreign currency, with or without a scale."""
        value = self.dice.choice((5, 10, 20, 50, 100, 250, 500, 1_000, 5_000, 50_000, 500_000, 1_500_000))
        dotted = f"{value:,}".replace(",", ".")
        ways = [str(value), dotted, f"{value:,}", f"{value:,}".replace(",", " "), f"{dotted},00", f"{dotted},-"]
        scaled = self.scaled()[0]
        ways += [scaled, scaled, "1,5jt", "2.5k", ".5jt", "50rb", "sejuta setengah", "setengah juta", "0,5", "10.50"]
        return self.dice.choice(ways)

    def foreign(self) -> Sum:
        """Return a sum in a currency that we don't send, with its sign, code or name on either side."""
        number, joint = self.number(), self.dice.choice(SIGN_JOINTS)
        close = ")" if "(" in joint else ""
        if self.dice.random() < 0.3:
            sign = self.dice.choice(SIGNS)
            text = f"{sign}{number}" if self.dice.random() < 0.6 else f"{number}{joint}{sign}{close}"
            return Sum(text, None, "sign", frozenset({sign.casefold()}))
        name = self.dice.choice(FOREIGN)
        forms = (name, name, name.upper()) if name not in ONLY_IN_CAPITALS else (name.upper(),)
        said = self.dice.choice(forms)
        is_word = len(name) > 3 or name in ONLY_IN_CAPITALS or name in {"won", "yen", "sen", "pound"}
        if name in AFTER_ONLY or self.dice.random() < 0.7:
            joint = " " if name in AFTER_ONLY else joint
            text = f"{number}{joint}{said}{close}"
        else:
            text = f"{said}{joint.replace('(', '')}{number}" if not is_word else f"{said} {number}"
        return Sum(text, None, "foreign", frozenset(name.split()[:1]) | {name.split()[-1]})

    def foreign_part(self) -> Sum:
        """Return a part of foreign money, or foreign money in an amount that names rupiah, too."""
        name = self.dice.choice(("usd", "dolar", "usdt", "ringgit", "euro", "sgd"))
        text, _, _ = self.scaled()
        ways = [f"setengah {name}", f"{text} setengah {name}", f"Rp{text} {name}", f"{text} rupiah {name}"]
        ways += [f"{name} {text} setengah", f"half {name}", f"{text} {name} setengah", f".5 {name}", f"{name} .5"]
        return Sum(self.dice.choice(ways), None, "foreign part", frozenset({name}))

    def twice(self) -> Sum:
        """Return a sum that is written twice, in two spellings."""
        amount, first = Writer(self.dice).rupiah()
        other = self.dice.choice(list(spell(amount.value)))
        before, after = self.dice.choice(
            (("(", ")"), (" (", ")"), (" = ", ""), ("=", ""), (" : ", ""), ("\n", ""), (" [", "]"))
        )
        is_clear = _answer(first) == amount
        return Sum(f"{first}{before}{other}{after}", amount if is_clear else None, "twice")

    def added(self) -> Sum:
        """Return two sums that are meant together. They can be equal."""
        amount, first = Writer(self.dice).rupiah()
        other, second = (amount, first) if self.dice.random() < 0.5 else Writer(self.dice).rupiah()
        joint = self.dice.choice((" dan ", " & ", " + ", "+", "&", " plus ", " and ", " tambah "))
        total = Amount("IDR", amount.value + other.value)
        is_clear = _answer(first) == amount and _answer(second) == other and total.value < 10**9
        return Sum(f"{first}{joint}{second}", None, "added", offered=total if is_clear else None)

    def zeros(self) -> Sum:
        """Return a count that is spelled digit by digit."""
        digits = [self.dice.choice((*INDONESIAN.split(), "5", "1", "2")), *["nol"] * self.dice.choice((1, 1, 2))]
        scale = self.dice.choice(list(SCALES))
        value = int("".join("0" if each == "nol" else str(COUNTS.get(each) or each) for each in digits))
        offered = _amount("IDR", Fraction(value * SCALES[scale]))
        return Sum(f"{' '.join(digits)} {scale}", None, "zeros", offered=offered)

    def digit_behind(self) -> Sum:
        """Return digits that are written together with the unit before them: "15k5"."""
        scale = self.dice.choice(("rb", "ribu", "k", "jt", "juta"))
        count, digits = (
            self.dice.randint(1, 99),
            self.dice.choice(("5", "7", "2", "50", "25", "750", "500", "05", "1500")),
        )
        value = Fraction(f"{count}.{digits}") * SCALES[scale]
        is_sure = len(digits) == 3 and SCALES[scale] == THOUSAND
        offered = (
            _amount("IDR", value) if value.denominator == 1 and not digits.startswith("0") and len(digits) < 4 else None
        )
        return Sum(f"{count}{scale}{digits}", offered if is_sure else None, "digit behind", offered=offered)

    def mark_and_space(self) -> Sum:
        """Return a sum with its decimal mark and a space before the first digit."""
        digits, (unit, _factor, _currency) = self.digits(), self.unit()
        return Sum(f" {self.dice.choice('.,')} {digits}{unit}", None, "mark and space")

    def odd_spaces(self) -> Sum:
        """Return a sum with a space in an odd place."""
        amount, text = Writer(self.dice).rupiah()
        at = self.dice.randint(1, max(len(text) - 1, 1))
        return Sum(f"{text[:at]} {text[at:]}", amount, "odd spaces")

    def words_lost_or_doubled(self) -> Sum:
        """Return a sum in words without one of them, or with one twice. It has the value of what is left, or none."""
        thousands = self.dice.choice((self.dice.randint(10, 999), self.dice.randint(10, 500) * 100))
        words = in_words(thousands * THOUSAND).split()
        at = self.dice.randrange(len(words))
        is_lost = self.dice.random() < 0.5
        left = [*words[:at], *words[at + 1 :]] if is_lost else [*words[: at + 1], *words[at:]]
        text = " ".join(left)
        value = _values_in_words().get(text)
        offered = None if is_lost else Amount("IDR", thousands * THOUSAND)
        return Sum(text or "nol", Amount("IDR", value) if value else None, "words", offered=offered)

    def with_picture(self) -> Sum:
        """Return a sum with an emoji at its end."""
        amount, text = Writer(self.dice).rupiah()
        return Sum(f"{text}{self.dice.choice(('', ' '))}{self.dice.choice(PICTURES)}", amount, "picture")

    def varied(self, said: Sum) -> Sum:
        """Return the sum in capitals, in another script's digits, or with other spaces."""
        text, roll = said.text, self.dice.random()
        if roll < 0.08 and "\u20a8" not in text:
            text = text.upper() if "½" not in text else text
        elif roll < 0.18:
            zero = self.dice.choice(DIGITS)
            text = text.translate({ord("0") + digit: chr(ord(zero) + digit) for digit in range(10)})
        elif roll < 0.24:
            text = text.replace(" ", self.dice.choice(("\u00a0", "\u2009", "\u202f", "\u3000", "  ", " \u200b")))
        elif roll < 0.28:
            text = text[:1].upper() + text[1:]
        return replace(said, text=text)


def _amount(currency: str, value: Fraction) -> Amount | None:
    """Return the sum, or None if it isn't whole or more than nothing."""
    if value.denominator != 1 or value <= 0:
        return None
    return Amount("IDR" if currency == "IDR" else "SAT", int(value))


@cache
def _values_in_words() -> dict[str, int]:
    """Return every number of thousands in words that another one without a word can be."""
    return {"satu ribu": THOUSAND} | {
        in_words(thousands * THOUSAND): thousands * THOUSAND for thousands in range(1, 60_000)
    }

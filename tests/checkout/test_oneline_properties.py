"""Property tests of the one-line parser: the order of the parts doesn't matter, and no part is invented."""

import re
from datetime import UTC, datetime
from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from bot.checkout.answers import apply_line, take_destination
from bot.checkout.draft import Step, new_draft
from bot.checkout.flow import missing
from bot.checkout.parser import looks_like_order, read_line
from bot.core.money import Amount
from bot.core.text import plain
from bot.recipients.numbers import LikeMobile, clean_number
from bot.settlement.model import PayoutMethod

BCA = PayoutMethod("014", "BANK CENTRAL ASIA", "bank", 100_000_000)
JAGO = PayoutMethod("542", "BANK JAGO", "bank", 100_000_000)
MEGA = PayoutMethod("426", "BANK MEGA", "bank", 100_000_000)
GOPAY = PayoutMethod("gopay", "GOPAY", "ewallet", 20_000_000)
DANA = PayoutMethod("dana", "DANA", "ewallet", 20_000_000)
METHODS = [BCA, JAGO, MEGA, GOPAY, DANA]
EMPTY = new_draft(chat_id=1, user_id=2, now=datetime(2026, 11, 21, 9, 0, tzinfo=UTC))

BANKS = {BCA: ["bca", "BCA", "bank bca", "bank central asia", "ke bca"], JAGO: ["jago", "bank jago", "Bank Jago"]}
NAMES = [
    "Budi",
    "siti aminah",
    "I Made Wirawan",
    "a/n Budi Santoso",
    "M Ali",
    "A Rahman",
    "B Santoso",
    "I Gede Santika",
]
SUMS = {
    500_000: [
        *("500rb", "500 ribu", "Rp500.000", "Rp 500.000,-", "500k", "rp 500 000", "500 000 rp", "Rp500 000"),
        *("lima ratus ribu", "0,5 juta", "rp 500000"),
    ],
    1_500_000: ["1,5jt", "1.5 juta", "1.500.000", "1500000", "1 juta 500 ribu", "rp 1 500 000", "1 500 000 rupiah"],
}
SPACED_BEFORE_CURRENCY = {"500 000 rp", "1 500 000 rupiah"}


@st.composite
def numbers(draw: st.DrawFn, method: PayoutMethod) -> tuple[str, str]:
    """Draw a number that is usual for `method`, and one way to write it.

    An account that looks like a mobile number ("628…") isn't drawn, because the parser asks about it.
    """
    if method in {GOPAY, DANA}:
        number = "0812" + draw(st.from_regex(r"[0-9]{8}", fullmatch=True))
        spaced = " ".join((number[:4], number[4:8], number[8:]))
        return number, draw(st.sampled_from([number, spaced, spaced.replace(" ", "-"), "+62" + number[1:]]))
    length = 10 if method == BCA else 12
    accounts = st.from_regex(rf"[1-9][0-9]{{{length - 1}}}", fullmatch=True)
    number = draw(accounts.filter(lambda number: clean_number(method, number).remark is None))
    return number, draw(st.sampled_from([number, f"{number[:3]}-{number[3:7]}-{number[7:]}"]))


@st.composite
def orders(draw: st.DrawFn) -> tuple[PayoutMethod, str, int, str, list[str]]:
    """Draw a whole order, and its parts as words in the order of writing."""
    method = draw(st.sampled_from([BCA, JAGO, GOPAY, DANA]))
    bank = draw(st.sampled_from(BANKS.get(method, [method.name.lower(), method.name])))
    number, written = draw(numbers(method))
    idr = draw(st.sampled_from(list(SUMS)))
    name = draw(st.sampled_from(NAMES))
    # In "123 4567 890 500 000 rp" the currency may belong to more or fewer digits, so the parser can ask.
    sums = [said for said in SUMS[idr] if not (" " in written and said in SPACED_BEFORE_CURRENCY)]
    parts = draw(st.permutations([bank, written, draw(st.sampled_from(sums)), name]))
    return method, number, idr, name.removeprefix("a/n "), list(parts)


@given(order=orders(), mark=st.sampled_from([" ", ", ", "\n", " | ", "  "]))
def test_any_order_of_the_parts_reads_the_same(order: tuple[PayoutMethod, str, int, str, list[str]], mark: str) -> None:
    method, number, idr, name, parts = order
    line = read_line(mark.join(parts), METHODS)
    assert (line.method, line.number, line.amount, line.holder) == (method, number, Amount("IDR", idr), name)
    assert (line.leftover, line.rejections) == ((), ())
    assert looks_like_order(mark.join(parts), METHODS)


def test_an_account_that_looks_like_a_mobile_number_is_asked_about_in_any_order_of_the_parts() -> None:
    for parts in permutations(["jago", "628100000000", "500rb", "Budi"]):
        line = read_line(" ".join(parts), METHODS)
        assert (line.method, line.number, line.doubtful_number) == (JAGO, None, "628100000000")
        assert line.number_remark is not None
        assert isinstance(line.number_remark, LikeMobile)
        assert (line.amount, line.holder, line.leftover) == (Amount("IDR", 500_000), "Budi", ())
        assert looks_like_order(" ".join(parts), METHODS)


WORDS = [
    *("bca", "mega", "dana", "gopay", "gopey", "bank", "budi", "Permana", "a/n", "ke", "m", "rp", "Rp", "sats", "btc"),
    *("500rb", "1,5", "juta", "ribu", "50", "500", "000", "50.000", "1.500", "500000", "-50rb", "0", "1/2", "rupiah"),
    *("1234567890", "0812", "3456", "7890", "+62", "62", "014", "123-456", "123456", "081234567890", "\u00bd", "dua"),
    *(",", "?", "-", "x", "\U0001f4b8", "\uff15\uff10", "12345678901234567890123", "satu", "setengah", "gocap"),
]
lines = st.one_of(st.text(max_size=120), st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join))


@given(text=lines)
def test_nothing_that_anybody_types_is_too_much(text: str) -> None:
    line = read_line(text, METHODS)
    draft = apply_line(EMPTY, line)
    assert draft.step is missing(draft)
    assert looks_like_order(text, METHODS) in {True, False}
    for method in METHODS:
        assert take_destination(draft, method).method == method


@given(text=lines)
def test_no_number_is_made_up(text: str) -> None:
    line = read_line(text, METHODS)
    typed = re.sub(r"\D", "", plain(text))
    for number in filter(None, (line.number, line.doubtful_number)):
        # The local form of a mobile number has a zero where the country's code was.
        assert number.removeprefix("+") in typed or number.removeprefix("0") in typed


@given(text=lines)
def test_the_review_is_reached_only_with_every_part_sure(text: str) -> None:
    line = read_line(text, METHODS)
    is_whole = None not in (line.method, line.number, line.amount, line.holder)
    assert (apply_line(EMPTY, line).step is Step.REVIEW) == is_whole

"""Each word of a lookup query is either understood or reported."""

from datetime import UTC, date, datetime, timedelta

import pytest

from bot.core.zones import zone_of
from bot.settlement.model import PayoutMethod
from bot.support.lookup_model import MAX_CHARACTERS, OrderFilter, parse_query

JAKARTA = zone_of("Asia/Jakarta")
TODAY = date(2026, 8, 20)
METHODS = (
    PayoutMethod("014", "BANK CENTRAL ASIA", "bank", None),
    PayoutMethod("536", "BCA SYARIAH", "bank", None),
    PayoutMethod("008", "BANK MANDIRI", "bank", None),
    PayoutMethod("ovo", "OVO", "ewallet", None),
    PayoutMethod("542", "BANK JAGO", "bank", None),
)
DAY = timedelta(days=1)


def midnight(month: int, day: int, year: int = 2026) -> datetime:
    """Return the start of a day in Jakarta."""
    return datetime(year, month, day, tzinfo=JAKARTA).astimezone(UTC)


def on(month: int, day: int, **more: object) -> OrderFilter:
    begins = midnight(month, day)
    return OrderFilter(since=begins, until=begins + DAY, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "sought"),
    [
        ("bca 500rb 17/8", on(8, 17, code="014", idr=(500_000,))),
        ("17 agu, 500rb, bca", on(8, 17, code="014", idr=(500_000,))),
        ("Rp 1.500.000 mandiri", OrderFilter(code="008", idr=(1_500_000,))),
        ("500000", OrderFilter(idr=(500_000,), parts=("500000",))),
        ("bca 7890", OrderFilter(code="014", idr=(7_890,), parts=("7890",))),
        ("7890 kemarin", on(8, 19, idr=(7_890,), parts=("7890",))),
        ("1001", OrderFilter(idr=(1_001,), parts=("1001",))),
        ("2026", OrderFilter(idr=(2_026,), parts=("2026",))),
        ("ovo 1001", OrderFilter(code="ovo", idr=(1_001,), parts=("1001",))),
        ("43P422V", OrderFilter(parts=("43P422V",))),
        ("43p4", OrderFilter(parts=("43p4",))),
        ("of_a1b2c3", OrderFilter(parts=("of_a1b2c3",))),
        ("225rb", OrderFilter(idr=(225_000,), parts=("225rb",))),
        ("150rb", OrderFilter(idr=(150_000,))),
        ("emma", OrderFilter(parts=("emma",))),
        ("12", OrderFilter(idr=(12_000, 12_000_000))),
        ("25000 sats ovo", OrderFilter(code="ovo", sats=(25_000,))),
        ("1.5 jt", OrderFilter(idr=(1_500_000,))),
        ("1.500", OrderFilter(idr=(1_500_000, 1_500))),
        ("today", on(8, 20)),
        ("kemarin bca", on(8, 19, code="014")),
        ("hari ini 1,5jt", on(8, 20, idr=(1_500_000,))),
        ("2026-08-17", on(8, 17)),
        ("014 100rb", OrderFilter(code="014", idr=(100_000,))),
        ("542", OrderFilter(code="542")),
        ("agustus 2025 ovo", OrderFilter(code="ovo", since=midnight(8, 1, 2025), until=midnight(9, 1, 2025))),
        ("1/8/2026 - 3/8/2026 mandri", OrderFilter(code="008", since=midnight(8, 1), until=midnight(8, 4))),
        ("bca (1,5jt) 17/8", on(8, 17, code="014", idr=(1_500_000,))),
        ("~1,5jt", OrderFilter(idr=(1_500_000,))),
        ("0,5jt; ovo", OrderFilter(code="ovo", idr=(500_000,))),
        ("150000.000", OrderFilter(idr=(150_000_000, 150_000))),
        ("\u00bd juta", OrderFilter(idr=(500_000,))),
        ("31/12", OrderFilter(since=midnight(12, 31, 2025), until=midnight(1, 1))),
    ],
)
def test_destination_sum_and_day_are_read_in_any_order(text: str, sought: OrderFilter) -> None:
    question = parse_query(text, METHODS, TODAY, JAKARTA)
    assert (question.wanted, question.candidates, question.unread) == (sought, (), ())


def test_a_day_is_the_readers_own() -> None:
    makassar = parse_query("17/8", METHODS, TODAY, zone_of("Asia/Makassar")).wanted
    assert makassar.since == midnight(8, 17) - timedelta(hours=1)


def test_what_may_be_several_destinations_is_for_the_reader_to_choose() -> None:
    question = parse_query("bc 500rb", METHODS, TODAY, JAKARTA)
    assert {method.code for method in question.candidates} == {"014", "536"}
    assert question.wanted == OrderFilter(idr=(500_000,))


@pytest.mark.parametrize("text", ["xyzzy 500rb", "32/13", "quxquux xyzzy", "xy"])
def test_what_cannot_be_read_is_said(text: str) -> None:
    assert parse_query(text, METHODS, TODAY, JAKARTA).unread


def test_a_name_that_resembles_destinations_is_searched_and_they_are_offered() -> None:
    question = parse_query("bank", METHODS, TODAY, JAKARTA)
    assert question.wanted == OrderFilter(parts=("bank",))
    assert question.candidates
    assert not question.unread


def test_a_letter_is_not_read_at_all() -> None:
    assert parse_query("bca " * MAX_CHARACTERS, METHODS, TODAY, JAKARTA).wanted.is_empty


@pytest.mark.parametrize("text", ["", "   ", "\n"])
def test_nothing_asks_for_nothing(text: str) -> None:
    question = parse_query(text, METHODS, TODAY, JAKARTA)
    assert question.wanted.is_empty
    assert not question.unread

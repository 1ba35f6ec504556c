"""Whether a destination is slow or failing is judged from its newest transfers, open ones included."""

from collections.abc import Iterable, Sequence
from datetime import timedelta

from bot.orders.destinations.model import (
    LATE_BELOW,
    LATE_CHANCE,
    DestinationsHealth,
    History,
    RecentTransfer,
    SentTransfer,
    Trouble,
    find_run,
    judge,
    measure,
)
from bot.settlement.model import PayoutMethod
from tests.orders.destination_simulation import World, count_false_alarms, find_delays
from tests.settlement.builders import BCA, BRI, GOPAY
from tests.times import NOW

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
ALL = (BCA, BRI, GOPAY)

HISTORIES = {
    method.key(): measure(
        History(
            method=method,
            sent=60,
            failed=0,
            settled_sent=60,
            settled_failed=0,
            last_sent_at=NOW - DAY,
            sample=[SentTransfer(NOW - 2 * DAY - each * HOUR, (2 + each % 6) * MINUTE) for each in range(60)],
        ),
        NOW,
    )
    for method in ALL
}


def sent(method: PayoutMethod, ago: timedelta, took: timedelta, user: int = 0) -> RecentTransfer:
    end = NOW - ago + took
    return RecentTransfer(
        key=method.key(), payer=user or hash(ago), paid_at=NOW - ago, ended_at=end, seen_at=end, is_failed=False
    )


def still_open(method: PayoutMethod, ago: timedelta, seen_ago: timedelta = timedelta(0)) -> RecentTransfer:
    return RecentTransfer(key=method.key(), payer=hash(ago), paid_at=NOW - ago, ended_at=None, seen_at=NOW - seen_ago)


def failed(method: PayoutMethod, ago: timedelta, user: int = 0) -> RecentTransfer:
    end = NOW - ago + MINUTE
    return RecentTransfer(
        key=method.key(), payer=user or hash(ago), paid_at=NOW - ago, ended_at=end, seen_at=end, is_failed=True
    )


def slow(recent: Iterable[RecentTransfer], method: PayoutMethod = BCA) -> Trouble | None:
    return judged(recent).by_key[method.key()].slow


def failing(recent: Iterable[RecentTransfer], method: PayoutMethod = BCA) -> Trouble | None:
    return judged(recent).by_key[method.key()].failing


def judged(recent: Iterable[RecentTransfer]) -> DestinationsHealth:
    return judge(HISTORIES, recent, NOW)


def minutes(*numbers: int) -> Sequence[timedelta]:
    return [MINUTE * number for number in numbers]


def test_transfers_that_are_open_beyond_the_usual_time_show_that_a_destination_is_slow() -> None:
    open_ones = [still_open(BCA, ago) for ago in minutes(40, 35, 30, 25)]
    found = slow(open_ones)
    assert found == Trouble(since=NOW - 40 * MINUTE, hits=4, count=4, is_alone=True, length=40 * MINUTE, is_longer=True)
    assert slow(open_ones[:3]) is None, "three could be chance"
    assert slow(open_ones, BRI) is None


def test_those_that_were_fast_count_only_when_the_slow_ones_of_their_time_do() -> None:
    late = [still_open(BCA, ago) for ago in minutes(40, 35, 30, 25)]
    fast = [sent(BCA, ago, MINUTE) for ago in minutes(12, 10, 8, 6, 4)]
    assert slow([*late, *fast]) is not None
    ended = [sent(BCA, ago, MINUTE) for ago in minutes(24, 22, 20)]
    assert slow([*late, *ended]) is None, "three in time end it"


def test_what_the_bot_has_not_read_lately_is_not_late() -> None:
    unread = [still_open(BCA, ago, seen_ago=ago - 2 * MINUTE) for ago in minutes(60, 55, 50, 45)]
    assert slow(unread) is None


def test_it_is_not_the_destination_if_the_others_are_slow_since_then_too() -> None:
    late = [still_open(BCA, ago) for ago in minutes(40, 35, 30, 25)]
    others = [still_open(method, ago) for method in (BRI, GOPAY) for ago in minutes(38, 33)]
    before = [sent(method, ago, 4 * MINUTE) for method in (BRI, GOPAY) for ago in minutes(180, 170, 160, 150, 140)]
    found = slow([*late, *others, *before])
    assert found is not None
    assert not found.is_alone
    well = [sent(method, ago, 4 * MINUTE) for method in (BRI, GOPAY) for ago in minutes(38, 33)]
    found = slow([*late, *well, *before])
    assert found is not None
    assert found.is_alone


def test_failures_of_several_senders_show_that_a_destination_fails() -> None:
    failures = [failed(BCA, ago, user) for user, ago in enumerate(minutes(50, 40, 30, 20, 10), start=1)]
    found = failing(failures)
    assert found is not None
    assert (found.hits, found.count, found.is_alone) == (5, 5, True)
    assert failing(failures, BRI) is None
    assert slow(failures) is None
    worked = [sent(BCA, ago, MINUTE, user) for user, ago in enumerate(minutes(8, 6, 4), start=20)]
    assert failing([*failures, *worked]) is None


def test_a_sender_who_repeats_a_wrong_number_says_nothing_about_the_bank() -> None:
    repeated = [failed(BCA, ago, 1) for ago in minutes(90, 80, 70, 60, 50, 40, 30, 20, 10)]
    assert failing(repeated) is None
    assert failing([*repeated, failed(BCA, 5 * MINUTE, 2)]) is None


def test_trouble_neither_begins_nor_ends_with_a_single_transfer() -> None:
    def run(hits: str) -> int | None:
        return find_run([each == "x" for each in hits], LATE_CHANCE, LATE_BELOW, needs_most=True)

    assert run("") is None
    assert run("xxx") is None
    assert run("xxxx") == 0
    assert run("....xxxx") == 4
    assert run("....xx.xx") == 4
    assert run("xxxx..") == 0
    assert run("xxxx...") is None
    assert run("xxxx...x.x") is None
    assert run("xxxx...xxxx") == 7
    assert run("x..x..x..x..") is None


def test_false_alarms_are_rare_and_real_trouble_is_noticed() -> None:
    """`python -m tests.orders.destination_simulation` lives many more months."""
    assert count_false_alarms(World(a_day=10), months=5) == (0, 0)
    slow_after, failing_after = find_delays(World(a_day=60, spread_of_days=0), times=2)
    assert (len(slow_after), len(failing_after)) == (2, 2)
    assert max(slow_after) < 6 * 60
    assert max(failing_after) < 6 * 60

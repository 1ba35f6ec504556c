"""The auditor notices each broken promise about leases."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tests.replicas.audit import Owners
from tests.replicas.history import CHAT, LEADER, History, LeaseChange, Work, owners_of
from tests.replicas.relay import Call
from tests.replicas.soak import most_within

START = datetime(2026, 11, 23, tzinfo=UTC)
OWNERS = {1: "a", 2: "b"}


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


TAKEN = LeaseChange(
    at=at(0),
    backend=1,
    lease=CHAT,
    key=7,
    act="INSERT",
    owner="a",
    epoch=10,
    expires_at=at(5),
    former_owner=None,
    former_epoch=None,
    former_expires_at=None,
    waiting_since=None,
)
TAKEN_OVER = replace(
    TAKEN,
    at=at(5.4),
    backend=2,
    act="UPDATE",
    owner="b",
    epoch=11,
    former_owner="a",
    former_epoch=10,
    former_expires_at=at(5),
)


def broken(*changes: LeaseChange, work: tuple[Work, ...] = ()) -> list[str]:
    return History(changes, work).find_broken_promises(OWNERS)


def test_a_lease_that_is_taken_after_its_end_breaks_nothing() -> None:
    held = Work(at(1), 1, "update", 7), Work(at(6), 2, "notification", 7)
    assert broken(TAKEN, TAKEN_OVER, work=held) == []
    assert TAKEN_OVER.seconds_late == pytest.approx(0.4)
    assert replace(TAKEN_OVER, waiting_since=at(5.3)).seconds_late == pytest.approx(0.1)


@pytest.mark.parametrize("lease", [CHAT, LEADER])
def test_a_lease_that_is_taken_before_its_end_is_noticed(lease: str) -> None:
    (found,) = broken(TAKEN, replace(TAKEN_OVER, lease=lease, at=at(4.9)))
    assert "before the lease of a ended" in found


def test_an_epoch_that_does_not_grow_is_noticed() -> None:
    (found,) = broken(TAKEN, replace(TAKEN_OVER, epoch=10))
    assert "with epoch 10 after 10" in found


@pytest.mark.parametrize(
    "step",
    [Work(at(5.5), 1, "update", 7), Work(at(1), 2, "update", 7), Work(at(-1), 1, "update", 7)],
    ids=["after the takeover", "before it", "before anybody had it"],
)
def test_work_of_a_process_that_does_not_hold_the_chat_is_noticed(step: Work) -> None:
    assert len(broken(TAKEN, TAKEN_OVER, work=(step,))) == 1


def test_work_in_a_released_chat_is_noticed() -> None:
    released = replace(TAKEN, at=at(2), act="DELETE", owner=None, epoch=None, expires_at=None, former_owner="a")
    assert len(broken(TAKEN, released, work=(Work(at(3), 1, "update", 7),))) == 1


def test_a_call_belongs_to_the_owner_of_its_chat_also_if_it_arrives_a_moment_late() -> None:
    owners = Owners(History([TAKEN, TAKEN_OVER], []))
    calls = {seconds: Call(at(seconds).timestamp(), "sendMessage", 7) for seconds in (1, 5.5, 6)}
    assert {seconds: owners.has_any(call, {"a"}) for seconds, call in calls.items()} == {1: True, 5.5: True, 6: False}
    assert {seconds: owners.has_any(call, {"b"}) for seconds, call in calls.items()} == {1: False, 5.5: True, 6: True}
    assert not owners.has_any(Call(at(1).timestamp(), "sendMessage", 8), {"a", "b"})


def test_the_owner_of_a_process_is_known_by_the_leases_that_it_took() -> None:
    assert owners_of([TAKEN, TAKEN_OVER], [{1, 3}, {2}, {4}]) == {1: "a", 3: "a", 2: "b"}
    with pytest.raises(AssertionError):
        owners_of([TAKEN, TAKEN_OVER], [{1, 2}])


def test_the_most_within_a_second_begin_at_any_time() -> None:
    assert most_within(1, []) == 0
    assert most_within(1, [0.0, 0.9, 1.0, 1.5, 1.8, 3.0]) == 4

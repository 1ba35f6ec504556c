"""Of two open deposits of the same amount and address, exactly one is shown."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.orders.deposits import LONGEST_LIST, choose_sum, find_earlier_deposits, is_list_conclusive
from bot.settlement.model import OrderReport
from tests.settlement.builders import SAFE_ADDRESS, a_deposit, a_report
from tests.settlement.fake_settlement import BEGINNING

NOW = BEGINNING
OTHER_SAFE = "0x8617E340B3D01FA5F11F306F4090FD50E238070D"
MINE = a_report(
    service_id="mine", state="ROUTE_SHOWN", sats=25_000, channel="cbbtc", created_at=NOW, deposit=a_deposit("cbbtc")
)
EARLIER = replace(MINE, service_id="other", created_at=NOW - timedelta(minutes=5))


def before(*reports: OrderReport, own: OrderReport = MINE) -> list[str]:
    found = find_earlier_deposits(reports, own.service_id, a_deposit("cbbtc"), 25_000, NOW)
    return [report.service_id for report in found]


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"state": "IDLE"},
        {"state": "SOMETHING_NEW"},
        {"deposit": a_deposit("cbbtc", to_address=SAFE_ADDRESS.lower())},
        {"deposit": None},
        {"created_at": NOW - timedelta(days=8, seconds=-1)},
        {"expires_at": NOW + timedelta(seconds=1)},
    ],
)
def test_an_earlier_open_deposit_of_the_same_sum_comes_first(change: dict[str, Any]) -> None:
    assert before(MINE, replace(EARLIER, **change)) == ["other"]


@pytest.mark.parametrize(
    "change",
    [
        {"sats": 25_001},
        {"sats": 24_999},
        {"sats": None},
        {"channel": "btcb", "deposit": a_deposit("btcb")},
        {"channel": "lightning", "deposit": None},
        {"channel": None},
        {"deposit": a_deposit("cbbtc", to_address=OTHER_SAFE)},
        {"state": "USDT_RECEIVED"},
        {"state": "COMPLETED"},
        {"state": "FAILED"},
        {"paid_at": NOW},
        {"expires_at": NOW},
        {"created_at": NOW - timedelta(days=8)},
        {"created_at": NOW + timedelta(microseconds=1)},
        {"created_at": None},
    ],
)
def test_another_sum_and_what_is_over_or_later_keeps_nothing_back(change: dict[str, Any]) -> None:
    assert before(MINE, replace(EARLIER, **change)) == []


@given(
    st.lists(
        st.sampled_from([None, NOW, NOW - timedelta(seconds=1), NOW + timedelta(days=1)]),
        min_size=2,
        max_size=6,
    )
)
def test_of_any_number_at_once_each_creator_finds_the_same_one_to_be_first(times: list[Any]) -> None:
    reports = [replace(MINE, service_id=f"id-{place}", created_at=at) for place, at in enumerate(times)]
    assert sum(not before(*reports, own=own) for own in reports) == 1


@given(st.integers(1, 10**7), st.dictionaries(st.integers(0, 400), st.booleans()))
def test_a_sum_is_never_smaller_nor_one_that_may_be_paid_now_and_the_nearest_of_its_kind(
    least: int, taken: dict[int, bool]
) -> None:
    used = {least + step: may_be_paid for step, may_be_paid in taken.items()}
    chosen = choose_sum(least, used)
    assert chosen >= least
    assert not used.get(chosen, False)
    if chosen in used:
        assert all(sats in used for sats in range(least, least + least // 100 + 1)), "a sum close by was never used"
        assert all(used[sats] for sats in range(least, chosen))
    elif chosen <= least + least // 100:
        assert all(sats in used for sats in range(least, chosen))


def test_a_list_without_the_order_proves_nothing_unless_newer_ones_have_pushed_it_out() -> None:
    others = [replace(EARLIER, service_id=f"id-{number}") for number in range(LONGEST_LIST)]
    for is_new in (True, False):
        assert is_list_conclusive([EARLIER, MINE], "mine", is_new=is_new)
        assert not is_list_conclusive([], "mine", is_new=is_new)
        assert not is_list_conclusive(others[1:], "mine", is_new=is_new)
    assert is_list_conclusive(others, "mine", is_new=False)
    assert not is_list_conclusive(others, "mine", is_new=True)

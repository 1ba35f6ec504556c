"""Users see the service's thirteen states as five steps, and no state goes back a step."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.settlement.model import STEP_OF_STATE, OrderStep, step_after

DOCUMENTED = [
    "IDLE",
    "NWC_CONNECTED",
    "QR_SCANNED",
    "ROUTE_SHOWN",
    "LN_INVOICE_PAID",
    "LN_SWAP_PENDING",
    "USDT_RECEIVED",
    "USDC_SWAPPED",
    "P2PM_ORDER_PLACED",
    "P2PM_ORDER_CONFIRMED",
    "IDR_SETTLED",
    "COMPLETED",
]


def test_every_documented_state_has_its_step_in_the_documented_order() -> None:
    steps = [STEP_OF_STATE[state] for state in DOCUMENTED]
    assert steps == sorted(steps)
    assert set(STEP_OF_STATE) == set(DOCUMENTED)
    assert set(steps) == set(OrderStep)


@pytest.mark.parametrize("step", list(OrderStep))
@pytest.mark.parametrize("state", ["", "FAILED", "SOMETHING_NEW"])
def test_a_state_without_a_step_leaves_the_order_where_it_is(step: OrderStep, state: str) -> None:
    assert step_after(step, state) is step


@given(st.lists(st.one_of(st.sampled_from(DOCUMENTED), st.text())))
def test_steps_only_go_forward_and_as_far_as_any_state_has_said(states: list[str]) -> None:
    step = OrderStep.CREATED
    for state in states:
        after = step_after(step, state)
        assert after >= step
        step = after
    assert step == max([STEP_OF_STATE.get(state, OrderStep.CREATED) for state in states], default=OrderStep.CREATED)

"""What an order costs in transactions. `docs/benchmarks.md` has the budget, with the reason of each."""

from collections.abc import AsyncIterator, Sequence
from functools import partial
from pathlib import Path

import pytest

from tests.chat.system import InProcessSystem, running_in_process
from tests.chat.transactions import counting_transactions, read_budgets
from tests.e2e.chat_user import ChatUser
from tests.e2e.faults import ORDERS, wait_until_idle
from tests.e2e.new_users import new_user
from tests.texts import label, like

EVERY_UPDATE, FIRST_UPDATE = "every update", "first update of a new user"
CONFIRM = "Confirm, until the invoice"
GUIDED = (
    ("`/send`", "/send", like("checkout.destination.ask")),
    ("destination", "bca", like("checkout.number.ask_bank")),
    ("number", "1234567890", like("checkout.holder.ask")),
    ("holder", f"[{label('checkout.holder.skip')}]", like("checkout.amount.ask")),
    ("amount, until the review", "500rb", like("checkout.review.title")),
    (CONFIRM, f"[{label('checkout.review.confirm')}]", like("orders.status_message.waiting")),
)
ONE_LINE = (
    ("one line, until the review", "500rb bca 1234567891 Budi", like("checkout.review.title")),
    GUIDED[-1],
)


@pytest.fixture
async def unpolled(tmp_path: Path) -> AsyncIterator[InProcessSystem]:
    """A system with the documented service, which asks for no order again during a test."""
    async with running_in_process(tmp_path, POLL_INTERVAL_SECONDS="60") as made:
        yield made


@pytest.mark.parametrize("way", [GUIDED, ONE_LINE], ids=["guided", "one line"])
async def test_the_steps_to_the_invoice_stay_within_their_budget(
    unpolled: InProcessSystem, way: Sequence[tuple[str, str, str]]
) -> None:
    # As in life, the order's answer comes after the review was confirmed.
    await unpolled.service.fails_with("delay", method="POST", path=ORDERS, seconds=0.5)
    await act(await new_user(unpolled), "/send", like("checkout.destination.ask"))  # fills the caches
    user, budgets = await new_user(unpolled), read_budgets()
    with counting_transactions(partial(wait_until_idle, unpolled)) as counter:
        for name, does, sees in way:
            async with counter.step(name):
                await act(user, does, sees)
    first, *others = (name for name, _, _ in way)
    expected = {name: budgets[name] + budgets[EVERY_UPDATE] for name in (first, *others)}
    counter.assert_within(expected | {first: expected[first] + budgets[FIRST_UPDATE]})


async def act(user: ChatUser, does: str, sees: str) -> None:
    """Say something, or tap the button in brackets, and wait for the answer."""
    if does.startswith("["):
        await user.taps(does[1:-1])
    else:
        await user.says(does)
    await user.sees(sees)

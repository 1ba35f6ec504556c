"""What an order costs in transactions after its invoice. `docs/benchmarks.md` has the budget, with each reason."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

from bot.sandbox.telegram import SUPPORT_GROUP_ID
from tests.chat.system import InProcessSystem, running_in_process
from tests.chat.transactions import TransactionCounter, counting_transactions, read_budgets
from tests.e2e.bot_database import change_rows, expire_order, row_of, wait_for_row
from tests.e2e.chat_user import ChatUser, Json, text_of
from tests.e2e.faults import wait_until_idle
from tests.e2e.new_users import new_user
from tests.e2e.orders.steps import tap_to_invoice
from tests.waiting import until

RINA = 3001
STATES = {
    "payment seen": "LN_INVOICE_PAID",
    "rupiah are bought": "LN_SWAP_PENDING",
    "a state within a step": "USDT_RECEIVED",
    "rupiah are being sent": "IDR_SETTLED",
    "receipt": "COMPLETED",
}


@pytest.fixture
async def unpolled(tmp_path: Path) -> AsyncIterator[InProcessSystem]:
    """A system that polls an order only when a test lets it be due."""
    async with running_in_process(tmp_path, POLL_INTERVAL_SECONDS="60") as made:
        yield made


async def poll(system: InProcessSystem, order: Json) -> None:
    """Let an order be due, and wait until it was polled."""
    now = f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S.%f}"
    due = "UPDATE orders SET next_poll_at = ? WHERE service_id = ?"
    assert await change_rows(system, due, (now, order["id"])) == 1
    await until(lambda: was_polled(system, order, now), what="the poll")


async def was_polled(system: InProcessSystem, order: Json, since: str) -> bool:
    polled_at = row_of(system, order)["last_polled_at"]
    return polled_at is not None and str(polled_at) >= since


async def count_states(system: InProcessSystem, counter: TransactionCounter, order: Json, *steps: str) -> None:
    """Let the service move an order on, and count each step."""
    for step in steps:
        await system.service.does("advance", orderIds=[order["id"]], state=STATES[step])
        async with counter.step(step):
            await poll(system, order)


async def test_the_steps_from_the_payment_to_the_receipt_stay_within_their_budget(unpolled: InProcessSystem) -> None:
    user = await new_user(unpolled)
    _, order = await tap_to_invoice(unpolled, user)
    with counting_transactions(partial(wait_until_idle, unpolled)) as counter:
        async with counter.step("a poll without a change"):
            await poll(unpolled, order)
        await count_states(unpolled, counter, order, *STATES)
    budgets = read_budgets()
    counter.assert_within({step: budgets[step] for step in ("a poll without a change", *STATES)})


async def test_an_expiry_stays_within_its_budget(unpolled: InProcessSystem) -> None:
    user = await new_user(unpolled)
    _, order = await tap_to_invoice(unpolled, user)
    with counting_transactions(partial(wait_until_idle, unpolled)) as counter:
        async with counter.step("expiry"):
            await expire_order(unpolled, order)
            await wait_for_row(unpolled, order, expiry_notified=1)
    counter.assert_within({"expiry": read_budgets()["expiry"]})


async def test_a_failure_and_a_reply_of_support_stay_within_their_budget(unpolled: InProcessSystem) -> None:
    user = await new_user(unpolled)
    _, order = await tap_to_invoice(unpolled, user)
    rina = ChatUser(unpolled.telegram, RINA, SUPPORT_GROUP_ID)

    def is_card(message: Json) -> bool:
        return bool(message["from"]["is_bot"]) and str(user.id) in text_of(message)

    with counting_transactions(partial(wait_until_idle, unpolled)) as counter:
        await count_states(unpolled, counter, order, "payment seen")
        async with counter.step("failure with a ticket"):
            await unpolled.service.does("fail", orderId=order["id"])
            await poll(unpolled, order)
        card = await rina.waits_for(is_card, anywhere=True, what="the card of the ticket")
        async with counter.step("reply of support"):
            await rina.says("We are looking into it.", reply_to=card)
            await user.sees("We are looking into it", anywhere=True)
    budgets = read_budgets()
    counter.assert_within({step: budgets[step] for step in ("failure with a ticket", "reply of support")})

"""SIGTERM at any time ends the bot within five seconds with code 0. The next start continues unfinished work."""

import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.e2e.faults import calls_of, clear_faults, confirm_found_order, hold_call, hold_service, invoices_in
from tests.e2e.new_users import Sender, new_senders_at_review
from tests.e2e.orders.steps import tap_change
from tests.e2e.programs import running_program
from tests.e2e.system import System, running_system
from tests.texts import label, like

pytestmark = pytest.mark.asyncio(loop_scope="module")

SHOWN = like("orders.status_message.waiting")
AGAIN = like("infra.outbox.again")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def lasting(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[System]:
    async with running_system(tmp_path_factory.mktemp("kirim")) as made:
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def ready(lasting: System) -> list[Sender]:
    return await new_senders_at_review(lasting, 7)


@pytest_asyncio.fixture(loop_scope="module")
async def sender(lasting: System, ready: list[Sender]) -> AsyncIterator[Sender]:
    yield ready.pop()
    await clear_faults(lasting)


async def ends_well(made: System) -> None:
    assert await made.stop_bot() == 0
    await clear_faults(made)


async def is_shown_one_invoice(sender: Sender) -> None:
    await sender.chat.sees(SHOWN, anywhere=True)
    assert len(await invoices_in(sender.chat)) == len(await sender.orders()) == 1


async def test_sigterm_while_an_order_is_being_placed(lasting: System, sender: Sender) -> None:
    async with hold_service(lasting, "delay_after"):
        await sender.chat.taps(label("checkout.review.confirm"), wait=0)
    await sender.has_order()
    await ends_well(lasting)
    await lasting.start_bot()
    await confirm_found_order(sender.chat)
    await is_shown_one_invoice(sender)


async def test_sigterm_while_a_user_is_told_that_the_payment_arrived(lasting: System, sender: Sender) -> None:
    await sender.chat.taps(label("checkout.review.confirm"))
    await is_shown_one_invoice(sender)
    async with hold_call(calls_of(lasting, "sendMessage"), sender.chat):
        await lasting.service.pays((await sender.orders())[0])
    await ends_well(lasting)
    await lasting.start_bot()
    await sender.chat.sees(f"{like('orders.notification.paid')}(?s:.*){AGAIN}", anywhere=True)
    assert await sender.chat.count(AGAIN) == 1


async def test_sigterm_while_telegram_does_not_answer_the_first_call(lasting: System) -> None:
    await ends_well(lasting)
    async with hold_call(calls_of(lasting, "getMe")):
        # This bot never logs that it runs, so the test starts it itself.
        started = running_program(lasting.state, "run", environment=lasting.environment)
        bot = await started.__aenter__()
        await bot.says('"process_started"')
    code = await bot.ends_on(signal.SIGTERM)
    await started.__aexit__(None, None, None)
    await clear_faults(lasting)
    await lasting.start_bot()
    assert code == 0


async def test_a_second_bot_stands_by_answers_nobody_and_takes_over_when_the_first_is_killed(
    lasting: System, sender: Sender, tmp_path: Path
) -> None:
    async with running_program(tmp_path, "run", environment=lasting.environment) as second:
        await second.says('"standby_started"')
        await tap_change(sender.chat, "amount")
        await sender.chat.sees(like("checkout.amount.ask"))
        await lasting.kill_bot()
        await sender.chat.says("250rb")
        text = await second.says('"bot_started"')
        assert text.count('"standby_started"') == 1
        await sender.chat.sees(like("checkout.review.figures", amount="Rp250,000"))
        assert await sender.chat.count(like("checkout.review.figures", amount="Rp250,000")) == 1
        await sender.chat.taps(label("checkout.review.confirm"))
        await is_shown_one_invoice(sender)
        # A third process on standby ends like any other.
        async with running_program(tmp_path, "run", environment=lasting.environment) as third:
            await third.says('"standby_started"')
            assert await third.ends_on(signal.SIGINT) == 0
        assert await second.ends_on(signal.SIGTERM) == 0
    await lasting.start_bot()

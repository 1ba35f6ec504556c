"""Kill -9 between an order and its notifications, and during each send: all are sent, and repetitions are marked."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack

from tests.e2e.chat_user import text_of
from tests.e2e.faults import calls_of, clear_faults, count_posts, hold_call, invoices_in, wait_until_idle
from tests.e2e.new_users import Sender, new_sender_at_review
from tests.e2e.orders.steps import ENDED
from tests.e2e.system import System
from tests.texts import label, like, says

AGAIN = like("infra.outbox.again")
PAID, SENT = like("orders.notification.paid"), like("orders.notification.sent_bank")
Cause = Callable[[], Awaitable[object]]


async def test_kill_9_before_and_after_every_send_of_an_order_loses_no_notification(kirim: System) -> None:
    untold, told = await asyncio.gather(new_sender_at_review(kirim), new_sender_at_review(kirim))
    pair = (untold, told)
    await kill_during_delivery(kirim, "sendPhoto", pair, lambda: each(pair, confirm))
    await kirim.start_bot()
    for sender in pair:
        await sender.chat.sees(f"lnbcrt(.|\n)*{AGAIN}", anywhere=True)
    assert [await untold.chat.count("lnbcrt"), await told.chat.count("lnbcrt")] == [1, 2]
    assert [await untold.chat.count(AGAIN), await told.chat.count(AGAIN)] == [1, 1]
    # "Payment received" comes before the invoice is removed.
    await kill_during_delivery(kirim, "sendMessage", pair, lambda: each(pair, pay))
    await kill_during_delivery(kirim, "deleteMessage", pair, kirim.start_bot)
    await send_all_and_kill(kirim)
    await kill_during_delivery(kirim, "editMessageText", pair, lambda: restart_and(kirim, pair, convert))
    await send_all_and_kill(kirim)
    await kill_during_delivery(kirim, "sendPhoto", pair, lambda: restart_and(kirim, pair, complete))
    await kirim.start_bot()
    await wait_until_idle(kirim)
    for sender in pair:
        await sender.chat.sees(f"{SENT}(.|\n)*{AGAIN}", anywhere=True)
        await check_all_sent(sender)
    # Of two messages about the payment, the bot knows the id of one. That has become the timeline.
    assert [await untold.chat.count(PAID), await untold.chat.count(SENT)] == [0, 1]
    assert [await told.chat.count(PAID), await told.chat.count(SENT)] == [1, 2]
    assert await count_posts(kirim) == len(await kirim.service.orders()) == 2


async def kill_during_delivery(system: System, method: str, pair: tuple[Sender, Sender], cause: Cause) -> None:
    """Kill the bot while the first user's notification hangs before Telegram, and the other user's just arrived."""
    async with AsyncExitStack() as air:
        for sender, fault in zip(pair, ("delay", "delay_after"), strict=True):
            await air.enter_async_context(hold_call(calls_of(system, method), sender.chat, fault))
        await cause()
    await system.kill_bot()
    await clear_faults(system)


async def send_all_and_kill(system: System) -> None:
    """Let the bot send all that waits, so that the next call is about something new."""
    await system.start_bot()
    await wait_until_idle(system)
    await system.kill_bot()


async def check_all_sent(sender: Sender) -> None:
    """Check that repetitions are marked, the timeline shows the end, and there was only one invoice."""
    await sender.chat.sees(ENDED, anywhere=True)
    messages = await sender.chat.messages()
    told = [text_of(message) for message in messages if re.search(SENT, text_of(message))]
    assert told
    assert all(says(words, "infra.outbox.again") for words in told[1:])
    assert len(await invoices_in(sender.chat)) <= 1


async def each(pair: tuple[Sender, Sender], act: Callable[[Sender], Awaitable[object]]) -> None:
    for sender in pair:
        await act(sender)


async def restart_and(system: System, pair: tuple[Sender, Sender], act: Callable[[Sender], Awaitable[object]]) -> None:
    await system.start_bot()
    await each(pair, act)


async def confirm(sender: Sender) -> None:
    await sender.chat.taps(label("checkout.review.confirm"), wait=0)


async def pay(sender: Sender) -> None:
    await sender.system.service.pays((await sender.orders())[0])


async def convert(sender: Sender) -> None:
    order = (await sender.orders())[0]
    await sender.system.service.does("advance", orderId=order["id"], state="LN_SWAP_PENDING")


async def complete(sender: Sender) -> None:
    order = (await sender.orders())[0]
    await sender.system.service.does("advance", orderId=order["id"], state="COMPLETED")

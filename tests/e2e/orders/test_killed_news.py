"""Kill -9 between an order and its notifications, and during each send: all are sent, and a repeat says so."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack

from tests.e2e.crowd import Sender, newcomer_at_review
from tests.e2e.people import bot_knows, completes, could_not_be_told, newcomer, taps_to_invoice
from tests.e2e.trouble import calls_of, good_weather, held, invoices_in, posts
from tests.e2e.world import World, words_of
from tests.texts import label, like, says

AGAIN = like("news.again")
PAID, SENT = like("news.paid"), like("news.sent_bank")
Cause = Callable[[], Awaitable[object]]


async def test_kill_9_before_and_after_every_send_of_an_order_loses_no_notification(kirim: World) -> None:
    untold, told = await asyncio.gather(newcomer_at_review(kirim), newcomer_at_review(kirim))
    pair = (untold, told)
    await interrupted(kirim, "sendPhoto", pair, lambda: each(pair, confirms))
    await interrupted(kirim, "sendMessage", pair, kirim.start_bot)  # the card
    assert [await untold.chat.count("lnbcrt"), await told.chat.count("lnbcrt")] == [1, 2]
    assert [await untold.chat.count(AGAIN), await told.chat.count(AGAIN)] == [1, 1]
    await interrupted(kirim, "deleteMessage", pair, lambda: starts_and(kirim, pair, pays))  # the QR is taken down
    await interrupted(kirim, "editMessageText", pair, kirim.start_bot)  # the card says paid
    await interrupted(kirim, "sendMessage", pair, kirim.start_bot)  # "payment received"
    await interrupted(kirim, "editMessageText", pair, lambda: starts_and(kirim, pair, goes_to_the_end))
    await interrupted(kirim, "sendMessage", pair, kirim.start_bot)  # "sent to the bank"
    await kirim.start_bot()
    for sender in pair:
        await sender.chat.sees(f"{SENT}(.|\n)*{AGAIN}", anywhere=True)
        await everything_was_told(sender)
    assert [await untold.chat.count(PAID), await untold.chat.count(SENT)] == [1, 1]
    assert [await told.chat.count(PAID), await told.chat.count(SENT)] == [2, 2]
    assert await posts(kirim) == len(await kirim.service.orders()) == 2


async def interrupted(world: World, method: str, pair: tuple[Sender, Sender], cause: Cause) -> None:
    """Kill the bot while the first one's notification hangs before Telegram and the other one's just arrived."""
    async with AsyncExitStack() as air:
        for sender, fault in zip(pair, ("delay", "delay_after"), strict=True):
            await air.enter_async_context(held(calls_of(world, method), sender.chat, fault))
        await cause()
    await world.kill_bot()
    await good_weather(world)


async def everything_was_told(sender: Sender) -> None:
    """Whatever was repeated says so, the live card shows the end, and there never was but one invoice."""
    messages = await sender.chat.messages()
    for notification in (PAID, SENT):
        told = [words_of(message) for message in messages if re.search(notification, words_of(message))]
        assert told
        assert all(says(words, "news.again") for words in told[1:])
    cards = [message for message in messages if says(words_of(message), "step.created")]
    assert any(says(words_of(card), "card.sent_bank") for card in cards)
    assert len(await invoices_in(sender.chat)) <= 1


async def each(pair: tuple[Sender, Sender], act: Callable[[Sender], Awaitable[object]]) -> None:
    for sender in pair:
        await act(sender)


async def starts_and(world: World, pair: tuple[Sender, Sender], act: Callable[[Sender], Awaitable[object]]) -> None:
    await world.start_bot()
    await each(pair, act)


async def confirms(sender: Sender) -> None:
    await sender.chat.taps(label("review.confirm"), wait=0)


async def pays(sender: Sender) -> None:
    await sender.world.service.pays((await sender.orders())[0])


async def goes_to_the_end(sender: Sender) -> None:
    order = (await sender.orders())[0]
    await sender.world.service.does("advance", orderId=order["id"], state="COMPLETED")


async def test_what_happened_before_the_bot_hears_of_a_block_is_shown_as_well(kirim: World) -> None:
    emma = await newcomer(kirim)
    _, order = await taps_to_invoice(kirim, emma)
    await kirim.kill_bot()
    await emma.blocks()
    await kirim.service.pays(order)
    await completes(kirim, order)
    await kirim.telegram_fails("500", "getUpdates")
    await kirim.start_bot()
    await bot_knows(kirim, order, state="COMPLETED")
    await could_not_be_told(kirim, emma)
    await good_weather(kirim)
    await emma.blocks(blocked=False)
    await emma.sees(like("talk.meanwhile"))

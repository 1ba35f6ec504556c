"""The skeleton as a process: `python -m tests.benchmarks.skeleton_bot plain|concurrent|layers ADDRESS [DATABASE]`.

`plain` and `concurrent` are python-telegram-bot alone: its updater, its HTTPXRequest, no inbox, no limiter. `layers`
is Kirim's receiver, inbox, lanes, limiter (without limits, but with its bookkeeping) and transport.
"""

import asyncio
import signal
import sys

from telegram.ext import Application, ApplicationBuilder

from bot.app import SystemClock
from bot.chat.lanes import Lanes
from bot.chat.limits import SendLimiter
from bot.chat.pace import UNLIMITED
from bot.chat.transport import TelegramRequest
from bot.chat.updates import Receiver, UpdateFeed
from bot.store.store import SqlStore
from tests.benchmarks import skeleton

CONCURRENT = 256


def plain(address: str, concurrent: int) -> None:
    """Run until SIGTERM, as python-telegram-bot's own examples do."""
    builder = Application.builder().token(skeleton.TOKEN).base_url(f"{address}/bot")
    application = builder.concurrent_updates(concurrent or False).build()
    skeleton.with_conversation(application, 0).run_polling(stop_signals=[signal.SIGTERM])


async def layers(address: str, database: str) -> None:
    """Run until SIGTERM, put together as `bot.app` does it."""
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    polls, store, clock = TelegramRequest(connections=1), SqlStore(database), SystemClock()
    builder = ApplicationBuilder().token(skeleton.TOKEN).base_url(f"{address}/bot").updater(None)
    builder.request(TelegramRequest()).get_updates_request(TelegramRequest(connections=2))
    application = skeleton.with_conversation(builder.rate_limiter(SendLimiter(UNLIMITED)).build(), 0)
    await store.upgrade()
    async with application:
        lanes = Lanes(store, application.process_update, clock, application.bot)
        receiver = Receiver(UpdateFeed(application.bot.base_url, polls), store, lanes, clock)
        receiving = asyncio.create_task(receiver.run())
        await stop.wait()
        receiving.cancel()
        await lanes.drain()
    await polls.shutdown()
    await store.close()


def main(kind: str, address: str, database: str = "") -> None:
    """Start the kind of bot."""
    if kind == "layers":
        asyncio.run(layers(address, database))
    else:
        plain(address, CONCURRENT if kind == "concurrent" else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])

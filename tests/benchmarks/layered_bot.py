"""The skeleton with our layers, as a process: `python -m tests.benchmarks.layered_bot ADDRESS DATABASE`.

The receiver, the inbox, the queues, the transport, and the limiter: without limits, but with all of its bookkeeping.
"""

import asyncio
import signal
import sys

from telegram.ext import ApplicationBuilder

from bot.core.clock import SystemClock
from bot.infra.db.database import Database
from bot.infra.leases.chat_leases import UnsharedLeases
from bot.infra.telegram.inbound.chat_queues import ChatQueues
from bot.infra.telegram.inbound.receiver import Receiver, UpdateIntake, UpdatePoller
from bot.infra.telegram.outbound.limiter import Limits, SendLimiter
from bot.infra.telegram.transport import TelegramRequest
from bot.infra.workers import Wakeup, run_forever
from tests.benchmarks import skeleton
from tests.infra.keys import VAULT


async def main(address: str, database: str) -> None:
    """Run until SIGTERM, built as in `bot.app`."""
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    polls, store, clock = TelegramRequest(connections=1), Database(database, VAULT), SystemClock()
    builder = ApplicationBuilder().token(skeleton.TOKEN).base_url(f"{address}/bot").updater(None)
    builder.request(TelegramRequest()).get_updates_request(TelegramRequest(connections=2))
    limiter = SendLimiter(Limits(chat_per_second=1_000_000))
    application = skeleton.with_conversation(builder.rate_limiter(limiter).build(), 0)
    await store.upgrade()
    async with application:
        leases = UnsharedLeases()
        leases.begin()
        wakeup = Wakeup()
        queues = ChatQueues(
            store, application.process_update, clock, application.bot, leases=leases, on_waiting=wakeup.wake_here
        )
        chats = asyncio.create_task(run_forever("chats", queues.claim_waiting, wakeup))
        receiver = Receiver(UpdatePoller(application.bot.base_url, polls), UpdateIntake(store, queues, clock))
        receiving = asyncio.create_task(receiver.run())
        await stop.wait()
        receiving.cancel()
        chats.cancel()
        await queues.drain()
    await polls.shutdown()
    await store.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))

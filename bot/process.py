"""Running the bot: the lead, the database, Telegram, then everything at once until it is to stop."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from functools import partial
from typing import Any, TypeVar

import structlog
from telegram import Bot
from telegram.error import InvalidToken, TelegramError

from bot import updates
from bot.app import App, build, provider_of, store_of
from bot.config import Settings
from bot.core.backoff import Steps
from bot.infra.outbox.workers import OutboxCleanupWorker, OutboxWorker
from bot.infra.telegram.errors import TokenRefused
from bot.infra.telegram.inbound.chat_queues import ChatQueues
from bot.infra.telegram.inbound.message_limit import MessageLimit
from bot.infra.telegram.inbound.receiver import Receiver, UpdatePoller
from bot.infra.telegram.inbound.workers import InboxCleanupWorker
from bot.infra.telegram.transport import TelegramRequest
from bot.infra.workers import Wakeup, WorkerGroup, get_task_error, run_forever
from bot.orders.tables import NEEDS_MESSAGE_IDS
from bot.users.repository import save_chats

log = structlog.get_logger(__name__)
T = TypeVar("T")

BAD_TOKEN = 2
LEAD_LOST = WORKER_ENDED = 1
RECEIVER = "receiver"
CONNECT_AGAIN = Steps((0.5, 1.0, 2.0, 5.0, 10.0))
FINISH_UPDATES = 1.5
FINISH_POSTS = 1.5
FINISH_NOTIFICATIONS = 1.0
FINISH_FEATURES = 1.0
"""SIGTERM is to end within five seconds: what isn't done by then is taken up at the next start."""

LOST_ENDS_WITHIN = 5.0
"""For what the loss of the lead cancels. It can't send anything meanwhile: each call asks for the lead first."""

OTHERS_MIGRATE_WITHIN = 10.0

TAKES_OVER_WITHIN = 3.0
"""How long to try for the port of the web server after another process was the bot: it may still be ending."""


class BotIsRunning(Exception):
    """Another process acts as the bot on this database, and its tables aren't those of this program."""


async def migrate(settings: Settings) -> str:
    """Bring the database up to date; its revision. Nobody may act as the bot meanwhile: its tables would change.

    Raises:
        BotIsRunning: another process still does after `OTHERS_MIGRATE_WITHIN` seconds, on older tables.
    """
    async with AsyncExitStack() as stack:
        store = store_of(settings)
        stack.push_async_callback(store.close)
        if not await store.is_current():
            try:
                async with asyncio.timeout(OTHERS_MIGRATE_WITHIN):
                    await stack.enter_async_context(store.lead())
            except TimeoutError:
                if not await store.is_current():
                    raise BotIsRunning from None
            else:
                await store.upgrade()
        return await store.check()


async def run(settings: Settings, stop: asyncio.Event) -> int:
    """Run the bot until `stop` is set; the process's exit code.

    The lead comes first. Nothing is written, received or sent without it, and its loss ends all of that at once.
    """
    app = build(settings)
    log.info("process_started", key_id=settings.key_id, service=settings.service_base_url)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(app.store.close)
        stack.push_async_callback(app.client.aclose)
        await app.store.check_before_leading()
        # Waiting for another process to end, or for Telegram, must not keep this one from ending.
        stood_by = asyncio.Event()
        leading = await _unless(stop, stack.enter_async_context(app.store.lead(partial(_standing_by, stood_by))))
        if leading is None:
            return 0
        retry_seconds = TAKES_OVER_WITHIN if stood_by.is_set() else 0
        return await _while_leading(leading.lost, _act(app, stop, retry_seconds))


async def _while_leading(lost: asyncio.Event, work: Coroutine[Any, Any, int]) -> int:
    """Return the exit code that `work` brings, or that of the lost lead, which cancels it."""
    task, losing = asyncio.create_task(work), asyncio.create_task(lost.wait())
    try:
        await asyncio.wait({task, losing}, return_when=asyncio.FIRST_COMPLETED)
        if not lost.is_set():
            return await task
        log.error("leadership_lost")
        return LEAD_LOST
    finally:
        task.cancel()
        losing.cancel()
        await asyncio.wait({task, losing}, timeout=LOST_ENDS_WITHIN)


async def _act(app: App, stop: asyncio.Event, retry_seconds: float) -> int:
    """Be the bot: bring the database up to date, meet Telegram, serve. `retry_seconds` is for the web server's port."""
    async with AsyncExitStack() as stack:
        if await _unless(stop, _prepare(app)) is None:
            return 0
        listener = await _listener(app.settings, retry_seconds=retry_seconds)
        if listener is not None:
            stack.callback(listener.close)
        stack.push_async_callback(app.application.bot.request.shutdown)
        met = await _unless(stop, _connect(app, stack))
        if met is None:
            return 0
        return await _serve(app, listener, stop) if met else BAD_TOKEN


async def _prepare(app: App) -> str:
    """Bring the tables up to date, and write down the key that seals from now on; the revision."""
    revision = await app.store.upgrade()
    await app.store.register_first_key()
    return revision


async def _unless(stop: asyncio.Event, work: Coroutine[Any, Any, T]) -> T | None:
    """Return what `work` brings; None where we are to stop before it does."""
    task, stopping = asyncio.create_task(work), asyncio.create_task(stop.wait())
    await asyncio.wait({task, stopping}, return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    if task.done():
        return task.result()
    task.cancel()
    await asyncio.wait({task})
    return None


def _standing_by(stood_by: asyncio.Event) -> None:
    stood_by.set()
    log.warning("standby_started", reason="another process is the bot")


async def _listener(settings: Settings, *, retry_seconds: float) -> socket.socket | None:
    """Return the web server's port, where it is to have one. Raises `server.PortTaken`."""
    if not settings.http_port:
        return None
    from bot.infra.http import server  # noqa: PLC0415  a bot without a web server starts faster without it

    return await server.bind(settings.http_host, settings.http_port, retry_seconds=retry_seconds)


async def _connect(app: App, stack: AsyncExitStack) -> bool:
    """Meet Telegram, however long that takes; False where it refuses the token."""
    waits = CONNECT_AGAIN.waits()
    while True:
        try:
            await app.application.initialize()
            await app.application.bot.delete_webhook()
        except InvalidToken:
            log.error("bot_token_rejected", hint="TELEGRAM_BOT_TOKEN is not a token that Telegram knows")  # noqa: TRY400
            return False
        except TelegramError as error:
            wait = next(waits)
            log.warning("telegram_unreachable", error=type(error).__name__, retry_in=wait)
            await asyncio.sleep(wait)
        else:
            stack.push_async_callback(app.application.shutdown)
            updates.register(app.application, app.features)
            return True


async def _serve(app: App, listener: socket.socket | None, stop: asyncio.Event) -> int:
    bot = app.application.bot
    staff_chats = app.orders.service.rules.staff_ids | {app.settings.support_chat_id}
    message_limit = MessageLimit(
        app.settings.max_messages_per_minute,
        app.clock,
        app.infra.messenger,
        app.readers.translator_for,
        exempt=staff_chats,
        offset=_clock_offset(bot),
    )
    queues = ChatQueues(
        app.store,
        updates.processor(app.application, message_limit, app.sessions),
        app.clock,
        bot,
        save_chats=save_chats,
    )
    app.infra.chat_jobs.connect(queues)
    polls = TelegramRequest(connections=1, may_call=lambda: app.store.is_leading)
    receiver = Receiver(UpdatePoller(bot.base_url, polls), app.store, queues, app.clock)
    workers = WorkerGroup()
    try:
        await app.delivery.recover()
        await app.broadcasts.live_messages.recover()
        await queues.replay()
        for name, loop in loops(app):
            workers.start(name, loop)
        workers.start(RECEIVER, receiver.run())
        async with _web(app, listener, workers):
            log.info("bot_started", bot=bot.username)
            try:
                ended = await _unless(stop, workers.wait_for_first_end())
            finally:
                await workers.cancel()
        return 0 if ended is None else _exit_code(ended)
    finally:
        await _wind_up(app, queues, workers)
        await polls.shutdown()


def _clock_offset(bot: Bot) -> timedelta:
    """How far Telegram's clock is ahead of ours, as its first answers have told."""
    return bot.request.clock_offset if isinstance(bot.request, TelegramRequest) else timedelta(0)


@asynccontextmanager
async def _web(app: App, listener: socket.socket | None, workers: WorkerGroup) -> AsyncIterator[None]:
    """Return the web server as one of the workers; `/healthz` tells whether they all live."""
    if listener is None:
        yield
        return
    from bot.infra.http import server  # noqa: PLC0415  as above
    from bot.orders.pay_page.app import create_app  # noqa: PLC0415  as above

    web_app = create_app(
        store=app.store,
        clock=app.clock,
        translations=app.infra.translations,
        default_locale=app.settings.default_locale,
        public_url=app.settings.public_url,
        on_viewed=app.orders.viewed.record_viewed_page,
        works=lambda: workers.all_alive,
        provider=provider_of(app.settings),
        times=app.orders.payout_times.get,
    )
    async with server.serve(web_app, listener) as task:
        workers.add(task)
        yield


def _exit_code(ended: asyncio.Task[Any]) -> int:
    """Say which worker has ended, and why: none may, as long as the bot runs."""
    why = get_task_error(ended)
    if isinstance(why, TokenRefused):
        log.error("bot_token_rejected")
        return BAD_TOKEN
    log.error("worker_ended", worker=ended.get_name(), error=type(why).__name__ if why else "it returned", exc_info=why)
    return WORKER_ENDED


async def _wind_up(app: App, queues: ChatQueues, workers: WorkerGroup) -> None:
    """Stop taking in, finish what is under way within a few seconds, leave the rest to the next start.

    Without the lead nothing may be finished but requests for orders: each answer is saved, for no list may have it.
    """
    await workers.cancel()
    has_time = app.store.is_leading
    await asyncio.gather(
        queues.drain(FINISH_UPDATES * has_time),
        app.orders.service.submission.close(FINISH_POSTS),
        app.delivery.close(FINISH_NOTIFICATIONS * has_time),
        app.broadcasts.deliveries.close(FINISH_NOTIFICATIONS * has_time),
    )
    # After the updates, none of which begins anything any more.
    closing = [feature.close for feature in app.features if feature.close is not None]
    await asyncio.gather(*(close(FINISH_FEATURES * has_time) for close in closing))
    log.info("bot_stopped")


def loops(app: App) -> list[tuple[str, Coroutine[Any, Any, None]]]:
    """Return the workers that act again and again, each under its name."""
    cleanup = OutboxCleanupWorker(
        app.store, app.clock, app.delivery, keep=(NEEDS_MESSAGE_IDS,), on_recovered=app.wake_outbox
    )
    ticks: list[tuple[str, Callable[[], Awaitable[float]], Wakeup]] = [
        ("outbox", OutboxWorker(app.delivery, app.clock).tick, app.wake_outbox),
        ("outbox-cleanup", cleanup.tick, Wakeup()),
        ("inbox-cleanup", InboxCleanupWorker(app.store, app.clock).tick, Wakeup()),
    ]
    ticks += [(worker.name, worker.tick, worker.wakeup) for feature in app.features for worker in feature.workers]
    return [(name, run_forever(name, tick, wake)) for name, tick, wake in ticks]

"""The process of the bot: it becomes the leader, prepares the database, connects to Telegram, and serves until stopped.

Only one process is the leader of a database. Only the leader writes to it, and sends and receives messages.
"""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, TypeVar

import structlog
from telegram import Bot
from telegram.error import InvalidToken, TelegramError

from bot import updates
from bot.app import App, build, create_database
from bot.config import Settings
from bot.core.backoff import FixedWaits
from bot.infra import metrics
from bot.infra.outbox.workers import OutboxCleanupWorker, OutboxWorker
from bot.infra.process_state import ProcessState
from bot.infra.telegram.errors import TokenRefused
from bot.infra.telegram.inbound.chat_queues import ChatQueues
from bot.infra.telegram.inbound.message_limit import MessageLimit
from bot.infra.telegram.inbound.receiver import Receiver, UpdateIntake, UpdatePoller
from bot.infra.telegram.inbound.workers import InboxCleanupWorker
from bot.infra.telegram.transport import TelegramRequest
from bot.infra.workers import Wakeup, WorkerGroup, get_task_error, run_forever
from bot.orders.tables import NEEDS_MESSAGE_IDS
from bot.users.repository import save_chats

if TYPE_CHECKING:
    from bot.web_servers import WebServers

log = structlog.get_logger(__name__)
T = TypeVar("T")

BAD_TOKEN = 2
LEAD_LOST = WORKER_ENDED = 1
RECEIVER = "receiver"
CONNECT_RETRIES = FixedWaits((0.5, 1.0, 2.0, 5.0, 10.0))
FINISH_UPDATES = 1.5
FINISH_POSTS = 1.5
FINISH_NOTIFICATIONS = 1.0
FINISH_FEATURES = 1.0
"""Seconds for each kind of work at shutdown, which must end within five seconds. The next start does the rest."""

CANCELLED_WITHIN = 5.0
"""Seconds for cancelled work to end after the lead was lost. It can't send, because each call checks the lead first."""

LEAD_WITHIN = 10.0
"""Seconds that a migration waits to become the leader."""

PORT_RETRY_SECONDS = 3.0
"""How long to try to open the web server's port after another process led: it can still be shutting down."""


class BotIsRunning(Exception):
    """Another process leads this database, and the database isn't on this program's schema."""


async def migrate(settings: Settings) -> str:
    """Upgrade the database schema, and return its revision. No bot can run while its tables change.

    Raises:
        BotIsRunning: another process still leads after `LEAD_WITHIN` seconds, on an older schema.
    """
    async with AsyncExitStack() as stack:
        store = create_database(settings)
        stack.push_async_callback(store.close)
        if not await store.is_current():
            try:
                async with asyncio.timeout(LEAD_WITHIN):
                    await stack.enter_async_context(store.lead())
            except TimeoutError:
                if not await store.is_current():
                    raise BotIsRunning from None
            else:
                await store.upgrade()
        return await store.check()


async def run(settings: Settings, stop: asyncio.Event) -> int:
    """Run the bot until `stop` is set. Return the process's exit code.

    The process first becomes the leader. If it loses the lead, it stops at once.
    """
    app, state = build(settings), ProcessState()
    log.info(
        "process_started",
        pid=os.getpid(),
        host=socket.gethostname(),
        key_id=settings.key_id,
        service=settings.service_base_url,
    )
    metrics.LEADING.set_function(lambda: float(app.store.is_leading))
    async with AsyncExitStack() as stack:
        stack.push_async_callback(app.store.close)
        stack.push_async_callback(app.client.aclose)
        await app.store.check_before_start()
        servers = _create_web_servers(app, state)
        if servers is not None:
            await stack.enter_async_context(_running(servers.lag.run()))
            stack.push_async_callback(servers.close)
        # `stop` also ends the wait for another process or for Telegram.
        has_waited = asyncio.Event()
        lead = app.store.lead(partial(_log_standby, has_waited))
        async with _running(_open_as_standby(servers, has_waited)):
            leading = await _run_unless_stopped(stop, stack.enter_async_context(lead))
        if leading is None:
            return 0
        retry_seconds = PORT_RETRY_SECONDS if has_waited.is_set() else 0
        return await _run_while_leading(leading.lost, _run_as_leader(app, stop, state, servers, retry_seconds))


@asynccontextmanager
async def _running(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Run `work` beside the block, and cancel it at the end."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})


def _create_web_servers(app: App, state: ProcessState) -> "WebServers | None":
    """Return the web servers, or None if the settings have none."""
    if not app.settings.http_port and not app.settings.metrics_port:
        return None
    from bot.web_servers import WebServers  # noqa: PLC0415  a bot without web servers starts faster without them

    return WebServers(app, state)


async def _open_as_standby(servers: "WebServers | None", has_waited: asyncio.Event) -> None:
    await has_waited.wait()
    if servers is not None:
        await servers.open_as_standby()


async def _run_while_leading(lost: asyncio.Event, work: Coroutine[Any, Any, int]) -> int:
    """Return the exit code of `work`. If the lead is lost, cancel `work` and return `LEAD_LOST`."""
    task, loss = asyncio.create_task(work), asyncio.create_task(lost.wait())
    try:
        await asyncio.wait({task, loss}, return_when=asyncio.FIRST_COMPLETED)
        if not lost.is_set():
            return await task
        log.error("leadership_lost")
        return LEAD_LOST
    finally:
        task.cancel()
        loss.cancel()
        await asyncio.wait({task, loss}, timeout=CANCELLED_WITHIN)


async def _run_as_leader(
    app: App, stop: asyncio.Event, state: ProcessState, servers: "WebServers | None", retry_seconds: float
) -> int:
    """Open the ports (trying for up to `retry_seconds`), prepare the database, connect, and serve.

    Return the process's exit code.
    """
    async with AsyncExitStack() as stack:
        if servers is not None:
            await servers.open(retry_seconds=retry_seconds)
        revision = await _run_unless_stopped(stop, _prepare_database(app))
        if revision is None:
            return 0
        metrics.BUILD.labels(_find_version(), revision).set(1)
        stack.push_async_callback(app.application.bot.request.shutdown)
        is_connected = await _run_unless_stopped(stop, _connect_to_telegram(app, stack))
        if is_connected is None:
            return 0
        return await _serve(app, servers, state, stop) if is_connected else BAD_TOKEN


def _find_version() -> str:
    """Return the version of the installed package, or "source" if the bot runs from a copy of the repository."""
    try:
        return version("kirim")
    except PackageNotFoundError:
        return "source"


async def _prepare_database(app: App) -> str:
    """Upgrade the database schema, and register the key that encrypts from now on. Return the revision."""
    revision = await app.store.upgrade()
    await app.store.register_first_key()
    return revision


async def _run_unless_stopped(stop: asyncio.Event, work: Coroutine[Any, Any, T]) -> T | None:
    """Return the result of `work`. If `stop` is set first, cancel `work` and return None."""
    task, stopped = asyncio.create_task(work), asyncio.create_task(stop.wait())
    await asyncio.wait({task, stopped}, return_when=asyncio.FIRST_COMPLETED)
    stopped.cancel()
    if task.done():
        return task.result()
    task.cancel()
    await asyncio.wait({task})
    return None


def _log_standby(has_waited: asyncio.Event) -> None:
    has_waited.set()
    log.warning("standby_started", reason="another process is the bot")


async def _connect_to_telegram(app: App, stack: AsyncExitStack) -> bool:
    """Connect to Telegram, and retry until it answers. Return False if Telegram rejects the token."""
    waits = CONNECT_RETRIES.waits()
    while True:
        try:
            await app.application.initialize()
            await app.webhook_registration.begin()
        except InvalidToken:
            log.error("bot_token_rejected", hint="TELEGRAM_BOT_TOKEN is not a token that Telegram knows")  # noqa: TRY400
            return False
        except TelegramError as error:
            wait = next(waits)
            log.warning("telegram_unreachable", error=type(error).__name__, retry_in=wait)
            await asyncio.sleep(wait)
        else:
            stack.push_async_callback(app.application.shutdown)
            updates.register_handlers(app.application, app.features)
            return True


async def _serve(app: App, servers: "WebServers | None", state: ProcessState, stop: asyncio.Event) -> int:
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
        updates.create_processor(app.application, message_limit, app.sessions),
        app.clock,
        bot,
        save_chats=save_chats,
    )
    app.infra.chat_jobs.connect(queues)
    polls = TelegramRequest(connections=1, may_call=lambda: app.store.is_leading)
    intake = UpdateIntake(app.store, queues, app.clock)
    receiver = Receiver(UpdatePoller(bot.base_url, polls), intake)
    workers = WorkerGroup()
    try:
        await app.delivery.recover()
        await app.broadcasts.live_messages.recover()
        await queues.replay()
        for name, loop in create_loops(app):
            workers.start(name, loop)
        if app.webhook_registration.webhook is None:
            workers.start(RECEIVER, receiver.run())
        if servers is not None:
            servers.show_pages(intake)
            for task in servers.tasks:
                workers.add(task)
        state.are_workers_alive = lambda: workers.all_alive
        log.info("bot_started", bot=bot.username)
        ended = await _run_unless_stopped(stop, workers.wait_for_first_end())
        return 0 if ended is None else _log_ended_worker(ended)
    finally:
        state.is_stopping = True
        await _shut_down(app, queues, workers)
        await polls.shutdown()
        if servers is not None:
            await servers.close()


def _clock_offset(bot: Bot) -> timedelta:
    """Return how far Telegram's clock is ahead of ours, according to its first answers."""
    return bot.request.clock_offset if isinstance(bot.request, TelegramRequest) else timedelta(0)


def _log_ended_worker(ended: asyncio.Task[Any]) -> int:
    """Log which worker ended, and why. Return the exit code. No worker may end while the bot runs."""
    why = get_task_error(ended)
    if isinstance(why, TokenRefused):
        log.error("bot_token_rejected")
        return BAD_TOKEN
    log.error("worker_ended", worker=ended.get_name(), error=type(why).__name__ if why else "it returned", exc_info=why)
    return WORKER_ENDED


async def _shut_down(app: App, queues: ChatQueues, workers: WorkerGroup) -> None:
    """Stop receiving, finish running work within a few seconds, and leave the rest to the next start.

    Without the lead, finish only requests that create orders. Their answers are saved, because the service's list may
    not have the order.
    """
    await workers.cancel()
    has_time = app.store.is_leading
    await asyncio.gather(
        queues.drain(FINISH_UPDATES * has_time),
        app.orders.service.submission.close(FINISH_POSTS),
        app.delivery.close(FINISH_NOTIFICATIONS * has_time),
        app.broadcasts.deliveries.close(FINISH_NOTIFICATIONS * has_time),
    )
    # Updates use features, so features close after them.
    closing = [feature.close for feature in app.features if feature.close is not None]
    await asyncio.gather(*(close(FINISH_FEATURES * has_time) for close in closing))
    log.info("bot_stopped")


def create_loops(app: App) -> list[tuple[str, Coroutine[Any, Any, None]]]:
    """Return the loop of each worker, with the worker's name."""
    cleanup = OutboxCleanupWorker(
        app.store, app.clock, app.delivery, keep=(NEEDS_MESSAGE_IDS,), on_recovered=app.wake_outbox
    )
    ticks: list[tuple[str, Callable[[], Awaitable[float]], Wakeup]] = [
        ("outbox", OutboxWorker(app.delivery, app.clock).tick, app.wake_outbox),
        ("outbox-cleanup", cleanup.tick, Wakeup()),
        ("inbox-cleanup", InboxCleanupWorker(app.store, app.clock).tick, Wakeup()),
        ("webhook", app.webhook_registration.tick, Wakeup()),
    ]
    ticks += [(worker.name, worker.tick, worker.wakeup) for feature in app.features for worker in feature.workers]
    return [(name, run_forever(name, tick, wake)) for name, tick, wake in ticks]

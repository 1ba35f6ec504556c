"""The process of the bot: it prepares the database, connects to Telegram, and serves until stopped.

On PostgreSQL several processes share the chats by leases, and one of them is the leader (`infra/leases`). On SQLite
there is one process, which has all chats and leads.
"""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import structlog
from telegram import Bot
from telegram.error import InvalidToken, TelegramError

from bot import updates
from bot.app import App, build, create_database
from bot.config import Settings, find_unknown_names
from bot.core.backoff import FixedWaits
from bot.infra.db.errors import StoreDown
from bot.infra.db.fence import is_lease_held
from bot.infra.db.retry import retry_forever
from bot.infra.db.write_watch import watch_writes
from bot.infra.outbox.workers import LONGEST_WAIT, LONGEST_WAIT_SHARED, OutboxCleanupWorker, OutboxWorker
from bot.infra.process_state import ProcessState
from bot.infra.telegram.errors import TokenRefused
from bot.infra.telegram.inbound.chat_queues import ChatQueues
from bot.infra.telegram.inbound.inline_queries import InlineQueries
from bot.infra.telegram.inbound.message_limit import MessageLimit
from bot.infra.telegram.inbound.model import name_source
from bot.infra.telegram.inbound.receiver import Receiver, UpdateIntake, UpdatePoller
from bot.infra.telegram.inbound.workers import InboxCleanupWorker
from bot.infra.telegram.outbound.activity import ActivityIndicator
from bot.infra.telegram.transport import TelegramRequest
from bot.infra.workers import Wakeup, WorkerGroup, get_task_error, run_forever
from bot.orders.tables import NEEDS_MESSAGE_IDS

if TYPE_CHECKING:
    from bot.web_servers import WebServers

log = structlog.get_logger(__name__)
T = TypeVar("T")

BAD_TOKEN = 2
WORKER_ENDED = 1
RECEIVER = "receiver"
CONNECT_RETRIES = FixedWaits((0.5, 1.0, 2.0, 5.0, 10.0))
FINISH_UPDATES = 1.5
FINISH_ORDER_REQUESTS = 1.5
FINISH_NOTIFICATIONS = 1.0
FINISH_FEATURES = 1.0
"""Seconds for each kind of work at shutdown, which must end within five seconds. The next start does the rest."""

LOCKED_WITHIN = 10.0
"""Seconds that a migration waits for another process to leave a SQLite database."""

PORT_RETRY_SECONDS = 3.0
"""How long to try to open the web server's port after another process had it: that can still be shutting down."""


class BotIsRunning(Exception):
    """Another process works on this SQLite database, which isn't on this program's schema."""


class LeaderWorkerEnded(Exception):
    """A worker of the leader has ended. None may end while the bot runs."""

    def __init__(self, task: asyncio.Task[Any]) -> None:
        super().__init__(task.get_name())
        self.task = task


async def migrate(settings: Settings) -> str:
    """Upgrade the database schema, and return its revision.

    On PostgreSQL it doesn't wait for running bots.

    Raises:
        BotIsRunning: another process still works on the SQLite database after `LOCKED_WITHIN` seconds.
    """
    async with AsyncExitStack() as stack:
        database = create_database(settings)
        stack.push_async_callback(database.close)
        if not await database.is_current():
            try:
                async with asyncio.timeout(LOCKED_WITHIN):
                    await stack.enter_async_context(database.exclude_others())
            except TimeoutError:
                if not await database.is_current():
                    raise BotIsRunning from None
            else:
                await database.upgrade()
        return await database.check()


async def run(settings: Settings, stop: asyncio.Event, process_id: str | None = None) -> int:
    """Run the bot until `stop` is set. Return the process's exit code.

    `process_id` is the random id that log lines have, too. One is drawn if it is missing.
    """
    app, state = build(settings, process_id), ProcessState()
    if unknown := find_unknown_names(Settings):
        log.warning("settings_unknown", names=unknown)
    log.info(
        "process_started",
        pid=os.getpid(),
        host=socket.gethostname(),
        key_id=settings.key_id,
        service=settings.service_base_url,
    )
    async with AsyncExitStack() as stack:
        stack.push_async_callback(app.database.close)
        stack.push_async_callback(app.client.aclose)
        await app.database.check_server()
        await app.database.check_before_start()
        servers = _create_web_servers(app, state)
        if servers is not None:
            await stack.enter_async_context(_running(servers.lag.run()))
            stack.push_async_callback(servers.close)
        # `stop` also ends the wait for another process or for Telegram.
        has_waited = asyncio.Event()
        lock = app.database.exclude_others(partial(_log_standby, has_waited))
        async with _running(_open_as_standby(servers, has_waited)):
            if not await _run_unless_stopped(stop, _enter(stack, lock)):
                return 0
        retry_seconds = PORT_RETRY_SECONDS if has_waited.is_set() else 0
        return await _prepare_and_serve(app, stop, state, servers, retry_seconds)


async def _enter(stack: AsyncExitStack, context: AbstractAsyncContextManager[None]) -> bool:
    await stack.enter_async_context(context)
    return True


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


async def _prepare_and_serve(
    app: App, stop: asyncio.Event, state: ProcessState, servers: "WebServers | None", retry_seconds: float
) -> int:
    """Open the ports (trying for up to `retry_seconds`), prepare the database, connect, and serve.

    Return the process's exit code.
    """
    async with AsyncExitStack() as stack:
        if servers is not None:
            await servers.open(retry_seconds=retry_seconds)
        if await _run_unless_stopped(stop, _prepare_database(app)) is None:
            return 0
        stack.push_async_callback(app.application.bot.request.shutdown)
        is_connected = await _run_unless_stopped(stop, _connect_to_telegram(app, stack))
        if is_connected is None:
            return 0
        return await _serve(app, servers, state, stop) if is_connected else BAD_TOKEN


async def _prepare_database(app: App) -> str:
    """Upgrade the database schema, and register the key that encrypts from now on. Return the revision."""
    revision = await app.database.upgrade()
    await app.database.register_first_key()
    if app.database.is_sqlite:
        # No other process has the database, so these leases are those of former processes.
        await app.leases.chats.expire_all()
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
        app.database,
        updates.create_processor(app.application, message_limit, app.sessions, ActivityIndicator(app.infra.messenger)),
        app.clock,
        bot,
        jobs={kind: handler for feature in app.features for kind, handler in feature.jobs.items()},
        leases=app.leases.chats,
        on_waiting=app.wake_chats.wake_here,
        on_elsewhere=partial(_share_work, app),
    )
    app.infra.chat_jobs.on_added = partial(_look_for_jobs, app, queues)
    app.leases.chats.on_lost(queues.abandon)
    app.leases.chats.on_lost(app.delivery.abandon)
    polls = TelegramRequest(connections=1)
    answers = [each.answer_inline_query for each in app.features if each.answer_inline_query is not None]
    inline_queries = InlineQueries(answers[0], app.infra.messenger) if answers else None
    intake = UpdateIntake(app.database, queues, app.clock, name_source(bot.base_url), inline_queries)
    receiver = Receiver(UpdatePoller(bot.base_url, polls), intake)
    app.monitor.find_second_poller = lambda: receiver.conflict_since
    workers = WorkerGroup()
    try:
        if app.database.is_sqlite:
            await app.delivery.recover()
        for name, loop in create_loops(app, queues):
            workers.start(name, loop)
        workers.start("leader", app.leases.lead.run(partial(_lead, app, receiver)))
        if servers is not None:
            servers.show_pages(intake)
            for task in servers.tasks:
                workers.add(task)
        state.are_workers_alive = lambda: workers.all_alive
        if not app.database.is_sqlite:
            watch = watch_writes(app.database, state, app.orders.service.submission.is_busy)
            workers.start("database-writes", watch)
        state.are_leases_kept = lambda: app.leases.chats.is_kept
        log.info("bot_started", bot=bot.username)
        ended = await _run_unless_stopped(stop, workers.wait_for_first_end())
        return 0 if ended is None else _log_ended_worker(ended)
    finally:
        state.is_stopping = True
        await _shut_down(app, queues, workers)
        if inline_queries is not None:
            await inline_queries.close()
        await polls.shutdown()
        if servers is not None:
            await servers.close()


def _share_work(app: App) -> None:
    """Tell the other processes that there is work in chats."""
    app.wake_chats.share()  # it is set when the loops are created


def _look_for_jobs(app: App, queues: ChatQueues) -> None:
    """Look for a new job here and in the other processes: any of them can have its chat."""
    queues.look_soon()
    app.wake_chats.share()


async def _lead(app: App, receiver: Receiver) -> None:
    """Do what only the leader does, until cancelled or a worker ends.

    Raises:
        LeaderWorkerEnded: a worker has ended.
    """
    workers = WorkerGroup()
    try:
        await retry_forever("begin_to_lead", partial(_begin_to_lead, app), retry_on=StoreDown)
        for name, loop in create_leader_loops(app):
            workers.start(name, loop)
        if app.webhook_registration.webhook is None:
            workers.start(RECEIVER, receiver.run())
        raise LeaderWorkerEnded(await workers.wait_for_first_end())
    finally:
        await workers.cancel()
        # A process that stops finishes its requests. Without the lead they end at once. What they were sending is
        # repeated by the next leader, or reported to it.
        within = FINISH_NOTIFICATIONS if is_lease_held() else 0
        await asyncio.gather(app.bulk_delivery.close(within), app.broadcasts.deliveries.close(within))


async def _begin_to_lead(app: App) -> None:
    """Continue what an earlier leader left, and forget what this process knew when it led before."""
    await app.bulk_delivery.recover()
    await app.broadcasts.live_messages.recover()
    await _prepare_receiving(app)
    for feature in app.features:
        if feature.on_lead is not None:
            await feature.on_lead()


async def _prepare_receiving(app: App) -> None:
    try:
        await app.webhook_registration.begin()
    except TelegramError as error:
        # The worker "webhook" tries again.
        log.warning("telegram_unreachable", error=type(error).__name__)


def _clock_offset(bot: Bot) -> timedelta:
    """Return how far Telegram's clock is ahead of ours, according to its first answers."""
    return bot.request.clock_offset if isinstance(bot.request, TelegramRequest) else timedelta(0)


def _log_ended_worker(ended: asyncio.Task[Any]) -> int:
    """Log which worker ended, and why. Return the exit code. No worker may end while the bot runs."""
    why = get_task_error(ended)
    if isinstance(why, LeaderWorkerEnded):
        return _log_ended_worker(why.task)
    if isinstance(why, TokenRefused):
        log.error("bot_token_rejected")
        return BAD_TOKEN
    log.error("worker_ended", worker=ended.get_name(), error=type(why).__name__ if why else "it returned", exc_info=why)
    return WORKER_ENDED


async def _shut_down(app: App, queues: ChatQueues, workers: WorkerGroup) -> None:
    """Stop receiving, finish running work within a few seconds, and leave the rest to others or to the next start.

    Requests that create orders are finished first of all. Their answers are saved, because the service's list may not
    have the order.
    """
    await workers.cancel()
    await asyncio.gather(
        queues.drain(FINISH_UPDATES),
        app.orders.service.submission.close(FINISH_ORDER_REQUESTS),
        app.delivery.close(FINISH_NOTIFICATIONS),
    )
    # Updates use features, so features close after them.
    closing = [feature.close for feature in app.features if feature.close is not None]
    await asyncio.gather(*(close(FINISH_FEATURES) for close in closing))
    await app.leases.release()
    log.info("bot_stopped")


def create_loops(app: App, queues: ChatQueues) -> list[tuple[str, Coroutine[Any, Any, None]]]:
    """Return the loop of each worker that every process has, with the worker's name."""
    wakeups = _list_wakeups(app)
    shared = app.database.create_wakeups(app.leases.chats.owner, wake=partial(_wake_here, app, queues, wakeups))
    if shared is not None:
        for name, wakeup in wakeups.items():
            wakeup.share = partial(shared.send, name)
        app.orders.viewed.announce = shared.send
    longest = LONGEST_WAIT if app.database.is_sqlite else LONGEST_WAIT_SHARED
    ticks: list[tuple[str, Callable[[], Awaitable[float]], Wakeup]] = [
        ("chats", queues.claim_waiting, app.wake_chats),
        ("outbox", OutboxWorker(app.delivery, app.clock, longest).tick, app.wake_outbox),
        ("leases", app.leases.chats.keep, Wakeup()),
    ]
    ticks += [(each.name, each.tick, each.wakeup) for feature in app.features for each in feature.local_workers]
    loops = [(name, run_forever(name, tick, wake)) for name, tick, wake in ticks]
    return [*loops, ("database-lock", app.database.watch_lock()) if shared is None else ("wakeups", shared.run())]


def create_leader_loops(app: App) -> list[tuple[str, Coroutine[Any, Any, None]]]:
    """Return the loop of each worker that only the leader has, with the worker's name."""
    cleanup = OutboxCleanupWorker(
        app.database,
        app.clock,
        (app.delivery, app.bulk_delivery),
        keep=(NEEDS_MESSAGE_IDS,),
        on_recovered=partial(_wake_senders, app),
    )
    ticks: list[tuple[str, Callable[[], Awaitable[float]], Wakeup]] = [
        ("bulk-outbox", OutboxWorker(app.bulk_delivery, app.clock).tick, app.wake_bulk),
        ("outbox-cleanup", cleanup.tick, Wakeup()),
        ("webhook", app.webhook_registration.tick, Wakeup()),
        ("inbox-cleanup", InboxCleanupWorker(app.database, app.clock).tick, Wakeup()),
        ("lease-cleanup", app.leases.chats.delete_ended, Wakeup()),
    ]
    ticks += [(worker.name, worker.tick, worker.wakeup) for feature in app.features for worker in feature.workers]
    return [(name, run_forever(name, tick, wake)) for name, tick, wake in ticks]


def _list_wakeups(app: App) -> dict[str, Wakeup]:
    """Return the wake-ups that other processes must hear of, with the name under which they are sent."""
    return {
        "chats": app.wake_chats,
        "outbox": app.wake_outbox,
        "lead": app.leases.lead_freed,
        **{worker.name: worker.wakeup for feature in app.features for worker in feature.workers},
    }


def _wake_here(app: App, queues: ChatQueues, wakeups: Mapping[str, Wakeup], name: str) -> None:
    """Wake the loop of a name that another process has sent. "*" stands for all of them."""
    for each in wakeups if name == "*" else (name,):
        if each == "chats":
            queues.look_soon()
        elif each in wakeups:  # a newer version can have others
            wakeups[each].wake_here()
        else:
            app.orders.viewed.record_announcement(each)


def _wake_senders(app: App) -> None:
    """Wake what sends notifications, here and in the other processes."""
    app.wake_outbox()
    app.wake_bulk()

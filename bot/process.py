"""The process of the bot: it prepares the database, connects to Telegram, and serves until stopped.

On PostgreSQL several processes share the chats by leases, and one of them is the leader (`infra/leases`). On SQLite
there is one process, which has all chats and leads.
"""

import asyncio
import os
import secrets
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import structlog
from telegram import Bot
from telegram.error import InvalidToken, TelegramError

from bot.app import App, build, create_database
from bot.broadcasts.tables import IS_OF_OPEN
from bot.config import Settings, find_unknown_names
from bot.core.backoff import FixedWaits
from bot.infra.db.database import Database
from bot.infra.db.errors import StoreDown
from bot.infra.db.fence import is_lease_held
from bot.infra.leases.leader import Leadership
from bot.infra.outbox.model import KEEP_SENT
from bot.infra.outbox.repository import OutboxRepository
from bot.infra.telegram.inbound.chat_queues import ChatQueues
from bot.infra.telegram.inbound.inline_queries import InlineQueries
from bot.infra.telegram.inbound.message_limit import MessageLimit
from bot.infra.telegram.inbound.receiver import Receiver, UpdateIntake, UpdatePoller, name_source
from bot.infra.telegram.outcomes import TokenRefused
from bot.infra.telegram.transport import TelegramRequest
from bot.infra.watchdog import ProcessState, watch_writes
from bot.infra.workers import Wakeup, WorkerGroup, get_task_error, retry_forever, run_forever
from bot.orders.tables import NEEDS_MESSAGE_IDS
from bot.updates import UpdateRouter

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
FINISH_SUPPORT = 1.0
"""Seconds for each kind of work at shutdown, which must end within five seconds. The next start does the rest."""

LOCKED_WITHIN = 10.0
"""Seconds that a migration waits for another process to leave a SQLite database."""

OUTBOX_CLEANUP_SECONDS = 60.0
PORT_RETRY_SECONDS = 3.0
"""How long to try to open the web server's port after another process had it: that can still be shutting down."""

JOIN_SECONDS = 0.5
"""How often a process that waits for others on PostgreSQL looks whether they have ended."""

LEAVE_SECONDS = 1.0
ANOTHER_WORKS = "another process works on the database"


class BotIsRunning(Exception):
    """Another process works on this database, which isn't on this program's schema."""


class LeaderWorkerEnded(Exception):
    """A worker of the leader has ended. None may end while the bot runs."""

    def __init__(self, task: asyncio.Task[Any]) -> None:
        super().__init__(task.get_name())
        self.task = task


async def migrate(settings: Settings) -> str:
    """Upgrade the database schema, and return its revision.

    Raises:
        BotIsRunning: a process of the older version still works on the database after `LOCKED_WITHIN` seconds.
    """
    async with AsyncExitStack() as stack:
        database = create_database(settings, secrets.token_hex(4))
        stack.push_async_callback(database.close)
        if not await database.is_current():
            try:
                async with asyncio.timeout(LOCKED_WITHIN):
                    await _wait_for_others(database, stack, lambda _: None)
            except TimeoutError:
                if not await database.is_current():
                    raise BotIsRunning from None
            else:
                await _begin(database, stack)
                await database.upgrade()
        return await database.check()


async def _wait_for_others(database: Database, stack: AsyncExitStack, on_waiting: Callable[[str], None]) -> bool:
    """Wait until no other process keeps this one from working on the database. Return True.

    `on_waiting` is called with the reason, as often as it is looked for.

    Raises:
        SchemaMismatch: this program can't upgrade the tables.
        MissingKey: the database needs a key that the program doesn't have.
    """
    await stack.enter_async_context(database.exclude_others(partial(on_waiting, ANOTHER_WORKS)))
    has_waited = False
    while not database.is_sqlite:
        try:
            reason = await database.join()
        except StoreDown as error:
            if not has_waited:
                raise
            reason = str(error)
        if not reason:
            break
        has_waited = True
        on_waiting(reason)
        await asyncio.sleep(JOIN_SECONDS)
    return True


async def _begin(database: Database, stack: AsyncExitStack) -> asyncio.Task[NoReturn]:
    """Begin to work on the database. Return the task that ends when this process no longer can.

    Raises:
        SchemaMismatch: this program can't upgrade the tables.
        MissingKey: the database needs a key that the program doesn't have.
    """
    if database.is_sqlite:
        await database.join()
    stack.push_async_callback(_leave, database)
    return await stack.enter_async_context(_running(database.hold(), "database-hold"))


async def _leave(database: Database) -> None:
    """Delete the record of this process. If that fails, it ends by itself."""
    try:
        async with asyncio.timeout(LEAVE_SECONDS):
            await database.leave()
    except (StoreDown, TimeoutError) as error:
        log.warning("process_record_not_deleted", error=type(error).__name__)


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
        stack.push_async_callback(app.settlement.aclose)
        await app.database.check_server()
        servers = _create_web_servers(app, state)
        if servers is not None:
            await stack.enter_async_context(_running(servers.lag.run()))
            stack.push_async_callback(servers.close)
        # `stop` also ends the wait for other processes or for Telegram.
        has_waited = asyncio.Event()
        async with _running(_open_as_standby(servers, has_waited)):
            waiting = _wait_for_others(app.database, stack, partial(_stand_by, state, has_waited))
            if not await _run_unless_stopped(stop, waiting):
                return 0
        state.waits_for = ""
        if servers is not None:
            await servers.open(retry_seconds=PORT_RETRY_SECONDS if has_waited.is_set() else 0)
        return await _prepare_and_serve(app, servers, state, stop, await _begin(app.database, stack))


@asynccontextmanager
async def _running(work: Coroutine[Any, Any, Any], name: str | None = None) -> AsyncIterator[asyncio.Task[Any]]:
    """Run `work` in a task beside the block, and cancel it at the end."""
    task = asyncio.create_task(work, name=name)
    try:
        yield task
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
    app: App, servers: "WebServers | None", state: ProcessState, stop: asyncio.Event, holding: asyncio.Task[NoReturn]
) -> int:
    """Prepare the database, connect, and serve. Return the process's exit code."""
    async with AsyncExitStack() as stack:
        if await _run_unless_stopped(stop, _prepare_database(app)) is None:
            return 0
        stack.push_async_callback(app.application.bot.request.shutdown)
        is_connected = await _run_unless_stopped(stop, _connect_to_telegram(app, stack))
        if is_connected is None:
            return 0
        return await _serve(app, servers, state, stop, holding) if is_connected else BAD_TOKEN


async def _prepare_database(app: App) -> str:
    """Upgrade the database schema. Return the revision."""
    revision = await app.database.upgrade()
    app.leases.begin()
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


def _stand_by(state: ProcessState, has_waited: asyncio.Event, reason: str) -> None:
    if state.waits_for != reason:
        log.warning("standby_started", reason=reason)
    state.waits_for = reason
    has_waited.set()


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
            return True


async def _serve(
    app: App, servers: "WebServers | None", state: ProcessState, stop: asyncio.Event, holding: asyncio.Task[NoReturn]
) -> int:
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
        UpdateRouter(app, message_limit).process,
        app.clock,
        bot,
        jobs={kind: handler for feature in app.features for kind, handler in feature.jobs.items()},
        leases=app.leases,
        on_waiting=app.wake_chats.wake_here,
        on_elsewhere=partial(_share_work, app),
    )
    app.infra.inbox.on_added = partial(_look_for_jobs, app, queues)
    polls = TelegramRequest(connections=1)
    answers = app.payment_requests.inline_answers
    inline_queries = InlineQueries(answers.answer, app.infra.messenger) if answers is not None else None
    intake = UpdateIntake(app.database, queues, app.clock, name_source(bot.base_url), inline_queries)
    receiver = Receiver(UpdatePoller(bot.base_url, polls), intake)
    app.operations.monitor.find_second_poller = lambda: receiver.conflict_since
    workers = WorkerGroup()
    try:
        for name, loop in create_loops(app, queues):
            workers.start(name, loop)
        workers.add(holding)
        workers.start("leader", Leadership(app.leases).run(partial(_lead, app, receiver)))
        if servers is not None:
            servers.show_pages(intake)
            for task in servers.tasks:
                workers.add(task)
        state.are_workers_alive = lambda: workers.all_alive
        if not app.database.is_sqlite:
            watch = watch_writes(app.database, state, app.orders.service.submission.is_busy)
            workers.start("database-writes", watch)
        state.are_leases_kept = lambda: app.leases.is_kept
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
        app.broadcasts.messages.close()
        await app.bulk_delivery.close(within)


async def _begin_to_lead(app: App) -> None:
    """Continue what an earlier leader left, and forget what this process knew when it led before."""
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
    await _finish(
        queues.drain(FINISH_UPDATES),
        app.orders.service.submission.close(FINISH_ORDER_REQUESTS),
        app.delivery.close(FINISH_NOTIFICATIONS),
    )
    # Updates show recipients, so they are masked after them.
    await _finish(app.support.agents.close(FINISH_SUPPORT))
    await app.leases.release_all()
    log.info("bot_stopped")


async def _finish(*work: Awaitable[None]) -> None:
    """Wait for all of it. What fails, as in a process that was replaced, keeps nothing else from being finished."""
    for result in await asyncio.gather(*work, return_exceptions=True):
        if isinstance(result, Exception):
            log.error("shutdown_incomplete", error=type(result).__name__)


def create_loops(app: App, queues: ChatQueues) -> list[tuple[str, Coroutine[Any, Any, None]]]:
    """Return the loop of each worker that every process has, with the worker's name."""
    wakeups = _list_wakeups(app)
    shared = app.database.create_wakeups(app.leases.owner, wake=partial(_wake_here, app, queues, wakeups))
    if shared is not None:
        for name, wakeup in wakeups.items():
            wakeup.share = partial(shared.send, name)
        app.orders.viewed.announce = shared.send
    ticks: list[tuple[str, Callable[[], Awaitable[float]], Wakeup]] = [
        ("chats", queues.claim_waiting, app.wake_chats),
        ("outbox", app.delivery.tick, app.wake_outbox),
        ("leases", app.leases.keep, Wakeup()),
        ("unreadable-rows", app.operations.monitor.report_rows, Wakeup()),
    ]
    loops = [(name, run_forever(name, tick, wake)) for name, tick, wake in ticks]
    return loops if shared is None else [*loops, ("wakeups", shared.run())]


def create_leader_loops(app: App) -> list[tuple[str, Coroutine[Any, Any, None]]]:
    """Return the loop of each worker that only the leader has, with the worker's name."""
    ticks: list[tuple[str, Callable[[], Awaitable[float]], Wakeup]] = [
        ("bulk-outbox", app.bulk_delivery.tick, app.wake_bulk),
        ("outbox-cleanup", partial(_delete_old_notifications, app), Wakeup()),
        ("webhook", app.webhook_registration.tick, Wakeup()),
        ("inbox-cleanup", app.infra.inbox.clean_up, Wakeup()),
    ]
    ticks += [(worker.name, worker.tick, worker.wakeup) for feature in app.features for worker in feature.workers]
    return [(name, run_forever(name, tick, wake)) for name, tick, wake in ticks]


async def _delete_old_notifications(app: App) -> float:
    """Delete old notifications once. Return the seconds until the next time."""
    async with app.database.transaction() as tx:
        await OutboxRepository(tx).delete_old(app.clock.now() - KEEP_SENT, (NEEDS_MESSAGE_IDS, IS_OF_OPEN))
    return OUTBOX_CLEANUP_SECONDS


def _list_wakeups(app: App) -> dict[str, Wakeup]:
    """Return the wake-ups that other processes must hear of, with the name under which they are sent."""
    return {
        "chats": app.wake_chats,
        "outbox": app.wake_outbox,
        **{worker.name: worker.wakeup for feature in app.features for worker in feature.workers},
    }


def _wake_here(app: App, queues: ChatQueues, wakeups: Mapping[str, Wakeup], name: str) -> None:
    """Wake the loop of a name that another process has sent. "*" stands for all of them."""
    for each in wakeups if name == "*" else (name,):
        if each == "chats":
            queues.look_soon()
        elif each in wakeups:
            wakeups[each].wake_here()
        else:
            app.orders.viewed.record_announcement(each)

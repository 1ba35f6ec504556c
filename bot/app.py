"""Running the bot: the database, the lead, Telegram, then everything at once until it is to stop."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, AsyncExitStack, nullcontext
from datetime import timedelta
from functools import partial
from typing import Any, TypeVar

import structlog
from telegram.error import InvalidToken, TelegramError

from bot.actions.retention import Retention
from bot.chat import commands, entrance
from bot.chat.failures import TokenRefused
from bot.chat.flood import FloodGate
from bot.chat.lanes import Lanes
from bot.chat.transport import TelegramRequest
from bot.chat.updates import Receiver, UpdateFeed
from bot.config import Settings
from bot.house import House, build, store_of
from bot.web import server
from bot.web.app import create_app
from bot.workers.leaving import Leaving
from bot.workers.loop import Nudge, run_forever
from bot.workers.outbox import OutboxWorker
from bot.workers.quotes import QuoteRecorder
from bot.workers.subscriptions import SubscriptionsWorker
from bot.workers.sweeps import Sweeps
from bot.workers.tickets import Tickets

log = structlog.get_logger(__name__)
T = TypeVar("T")

BAD_TOKEN = 2
CONNECT_WAITS = (0.5, 1.0, 2.0, 5.0, 10.0)
FINISH_UPDATES = 1.5
FINISH_POSTS = 1.5
FINISH_NEWS = 1.0
FINISH_MASKS = 1.0
"""SIGTERM is to end within five seconds: what isn't done by then is taken up at the next start."""

TAKES_OVER_WITHIN = 3.0
"""How long to try for the port of the web server after another process was the bot: it may still be ending."""


async def migrate(settings: Settings) -> str:
    """Bring the database up to date; its revision."""
    store = store_of(settings)
    try:
        return await store.upgrade()
    finally:
        await store.close()


async def run(settings: Settings, stop: asyncio.Event) -> int:
    """Run the bot until `stop` is set; the process's exit code."""
    house = build(settings)
    log.info("starting", key_id=settings.key_id, service=settings.service_base_url)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(house.store.close)
        stack.push_async_callback(house.client.aclose)
        await house.store.upgrade()
        await house.store.check_keys()
        # Waiting for another process to end, or for Telegram, must not keep this one from ending.
        stood_by = asyncio.Event()
        leading = await _unless(stop, stack.enter_async_context(house.store.lead(partial(_standing_by, stood_by))))
        if leading is None:
            return 0
        await house.store.adopt_keys()
        listener = await _listener(settings, patience=TAKES_OVER_WITHIN if stood_by.is_set() else 0)
        if listener is not None:
            stack.callback(listener.close)
        stack.push_async_callback(house.application.bot.request.shutdown)
        met = await _unless(stop, _connect(house, stack))
        if met is None:
            return 0
        return await _serve(house, listener, stop, leading.lost) if met else BAD_TOKEN


async def _unless(stop: asyncio.Event, work: Coroutine[Any, Any, T]) -> T | None:
    """What `work` brings; None where we are to stop before it does."""
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
    log.warning("standing_by", why="another process is the bot")


async def _listener(settings: Settings, *, patience: float) -> socket.socket | None:
    """The web server's port, where it is to have one. Raises `server.PortTaken`."""
    if not settings.http_port:
        return None
    return await server.bind(settings.http_host, settings.http_port, patience=patience)


async def _connect(house: House, stack: AsyncExitStack) -> bool:
    """Meet Telegram, however long that takes; False where it refuses the token."""
    waits = iter(CONNECT_WAITS)
    while True:
        try:
            await house.application.initialize()
            await house.application.bot.delete_webhook()
        except InvalidToken:
            log.error("bot_token_refused", hint="TELEGRAM_BOT_TOKEN is not a token that Telegram knows")  # noqa: TRY400
            return False
        except TelegramError as error:
            wait = next(waits, CONNECT_WAITS[-1])
            log.warning("telegram_unreachable", why=type(error).__name__, again_in=wait)
            await asyncio.sleep(wait)
        else:
            stack.push_async_callback(house.application.shutdown)
            entrance.register(house.application)
            return True


async def _serve(house: House, listener: socket.socket | None, stop: asyncio.Event, lost: asyncio.Event) -> int:
    bot = house.application.bot
    staff_chats = house.desk.orders.rules.staff_ids | {house.settings.support_chat_id}
    gate = FloodGate(house.settings.max_messages_per_minute, house.clock, staff_chats)
    lanes = Lanes(house.store, entrance.processor(house.application, house.desk, gate), house.clock, bot)
    polls = TelegramRequest(connections=1)
    receiver = Receiver(UpdateFeed(bot.base_url, polls), house.store, lanes, house.clock)
    await house.delivery.recover()
    await house.live_show.recover()
    await lanes.replay()
    workers = [asyncio.create_task(loop, name=name) for name, loop in _loops(house, lanes)]
    receiving = asyncio.create_task(receiver.run(), name="receiver")
    ends = [asyncio.create_task(event.wait()) for event in (stop, lost)]
    try:
        async with _web(house, listener, [receiving, *workers]):
            log.info("running", bot=bot.username)
            await asyncio.wait({receiving, *ends}, return_when=asyncio.FIRST_COMPLETED)
        if lost.is_set():
            log.error("leadership_lost")
        return _exit_code(receiving, lost)
    finally:
        await _wind_up(house, lanes, [receiving, *ends, *workers])
        await polls.shutdown()


def _web(
    house: House, listener: socket.socket | None, tasks: "list[asyncio.Task[Any]]"
) -> AbstractAsyncContextManager[None]:
    """The web server beside the workers; `tasks` are those whose life `/healthz` tells of."""
    if listener is None:
        return nullcontext()
    app = create_app(
        store=house.store,
        clock=house.clock,
        translations=house.desk.translations,
        default_locale=house.settings.default_locale,
        public_url=house.settings.public_url,
        works=lambda: not any(task.done() for task in tasks),
    )
    return server.serving(app, listener)


def _exit_code(receiving: "asyncio.Task[Any]", lost: asyncio.Event) -> int:
    if receiving.done() and isinstance(receiving.exception(), TokenRefused):
        log.error("bot_token_refused")
        return BAD_TOKEN
    if receiving.done() and (error := receiving.exception()):
        log.error("receiver_failed", why=type(error).__name__, exc_info=error)
        return 1
    return 1 if lost.is_set() else 0


async def _wind_up(house: House, lanes: Lanes, tasks: "list[asyncio.Task[Any]]") -> None:
    """Stop taking in, finish what is under way within a few seconds, leave the rest to the next start."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.gather(
        lanes.drain(FINISH_UPDATES),
        house.desk.orders.posting.close(FINISH_POSTS),
        house.delivery.close(FINISH_NEWS),
        house.desk.delivering.close(FINISH_NEWS),
    )
    # After the updates: none of them reveals anything any more.
    await house.support.masking.close(FINISH_MASKS)
    log.info("stopped")


def _loops(house: House, lanes: Lanes) -> list[tuple[str, Coroutine[Any, Any, None]]]:
    sweeps = Sweeps(
        store=house.store,
        clock=house.clock,
        observer=house.desk.observer,
        drafts=house.desk.drafts,
        reconciler=house.reconciler,
        delivery=house.delivery,
        run_in_lane=lanes.run_in_lane,
        on_news=house.nudge_outbox,
    )
    leaving = Leaving(
        privacy=house.desk.privacy,
        retention=Retention(house.store, house.clock, house.settings.retention_days),
        run_in_lane=lanes.run_in_lane,
        on_news=house.nudge_outbox,
    )
    recorder = QuoteRecorder(house.quotes, house.clock, house.settings.quote_record_seconds)
    ticks: list[tuple[str, Callable[[], Awaitable[float]], Nudge]] = [
        ("outbox", OutboxWorker(house.delivery, house.clock).tick, house.nudge_outbox),
        ("poller", house.poller.tick, Nudge()),
        ("subscriptions", SubscriptionsWorker(house.rate_news).tick, house.nudge_quotes),
        ("watch", house.watch.look, house.nudge_watch),
        ("probe", house.watch.probe, Nudge()),
        ("expiries", sweeps.expiries, Nudge()),
        ("lapses", sweeps.lapses, Nudge()),
        ("reconciler", sweeps.reconciling, Nudge()),
        ("housekeeping", sweeps.housekeeping, Nudge()),
        ("wishes", leaving.wishes, Nudge()),
        ("tickets", Tickets(house.support.ticket_waiting).tick, Nudge()),
        ("retention", leaving.retention, Nudge()),
        ("quotes", recorder.tick, Nudge()),
        ("broadcasts", house.broadcasting.tick, house.nudge_broadcasts),
        ("live", house.live_show.tick, house.nudge_live),
        ("masking", house.support.masking.mask_due, house.support.nudge_masking),
        ("commands", partial(_set_commands, house), Nudge()),
    ]
    return [(name, run_forever(name, tick, nudge)) for name, tick, nudge in ticks]


async def _set_commands(house: House) -> float:
    """Once a day, beside all the rest: a failure to must not keep the bot from serving.

    An operator who has yet to press Start gets a list of their own soon after it.
    """
    if await commands.set_commands(house.application, house.desk):
        return timedelta(days=1).total_seconds()
    return timedelta(minutes=10).total_seconds()

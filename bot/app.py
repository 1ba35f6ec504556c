"""The composition root: reads the settings, builds every part, and introduces them to one another."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, AsyncExitStack, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import Any, TypeVar

import structlog
from telegram.error import InvalidToken, TelegramError
from telegram.ext import Application, ApplicationBuilder

from bot.actions.alarms import KeyAlarm
from bot.actions.drafts import Drafts
from bot.actions.help import Help
from bot.actions.history import History
from bot.actions.market import Market
from bot.actions.observe import Observer
from bot.actions.orders import Orders, Rules
from bot.actions.outbox import OutboxDelivery
from bot.actions.privacy import Privacy
from bot.actions.receipts import Receipts
from bot.actions.recipients import KnownRecipients
from bot.actions.reconcile import Reconciler
from bot.actions.retention import Retention
from bot.actions.watched import WatchedSettlement
from bot.chat import entrance
from bot.chat.desk import Desk
from bot.chat.failures import TokenRefused
from bot.chat.flood import FloodGate
from bot.chat.lanes import Lanes
from bot.chat.limits import SendLimiter
from bot.chat.messenger import Messenger
from bot.chat.notices import ChatTeller
from bot.chat.transport import TelegramRequest
from bot.chat.updates import Receiver, UpdateFeed
from bot.config import Settings
from bot.domain.limits import Limits
from bot.i18n import Translations
from bot.settlement.adapter import SettlementAdapter
from bot.settlement.client import SettlementClient
from bot.store.store import SqlStore
from bot.store.vault import Vault
from bot.web import server
from bot.web.app import create_app
from bot.workers.budget import Budget
from bot.workers.leaving import Leaving
from bot.workers.loop import Nudge, run_forever
from bot.workers.outbox import OutboxWorker
from bot.workers.poller import Poller
from bot.workers.sweeps import Sweeps

log = structlog.get_logger(__name__)
T = TypeVar("T")

BAD_TOKEN = 2
CONNECT_WAITS = (0.5, 1.0, 2.0, 5.0, 10.0)
FINISH_UPDATES = 1.5
FINISH_POSTS = 1.5
FINISH_NEWS = 1.0
"""SIGTERM is to end within five seconds: what isn't done by then is taken up at the next start."""

TAKES_OVER_WITHIN = 3.0
"""How long to try for the port of the web server after another process was the bot: it may still be ending."""


class SystemClock:
    """The machine's time."""

    def now(self) -> datetime:
        """Aware, in UTC."""
        return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """Every part, built and introduced; nothing has begun yet."""

    settings: Settings
    store: SqlStore
    client: SettlementClient
    application: Application  # type: ignore[type-arg]
    desk: Desk
    delivery: OutboxDelivery
    poller: Poller
    reconciler: Reconciler
    nudge_outbox: Nudge
    clock: SystemClock


def build(settings: Settings) -> House:
    """Build the parts; opens no connection and no file."""
    clock = SystemClock()
    store = store_of(settings)
    nudge_outbox = Nudge()
    client = SettlementClient(settings.service_base_url, settings.service_api_key.get_secret_value())
    alarm = KeyAlarm(store, clock, settings.operator_ids, nudge_outbox)
    settlement = WatchedSettlement(SettlementAdapter(client), alarm)
    application = telegram_application(settings)
    messenger = Messenger(application.bot)
    translations = Translations.load()
    receipts = Receipts(store, clock)
    market, rules = Market(settlement, clock), rules_of(settings)
    orders = Orders(store=store, settlement=settlement, market=market, clock=clock, rules=rules, on_news=nudge_outbox)
    observer = Observer(orders)
    help_desk = Help(store, clock, settings.support_ids, settings.operator_ids, settings.support_contact)
    desk = Desk(
        store=store,
        settlement=settlement,
        market=market,
        drafts=Drafts(store, clock),
        history=History(store),
        privacy=Privacy(store, clock, settings.retention_days),
        receipts=receipts,
        recipients=KnownRecipients(store, clock),
        orders=orders,
        observer=observer,
        help=help_desk,
        messenger=messenger,
        translations=translations,
        clock=clock,
        default_locale=settings.default_locale,
    )
    teller = ChatTeller(
        store=store,
        messenger=messenger,
        translations=translations,
        clock=clock,
        help_desk=help_desk,
        receipts=receipts,
        default_locale=settings.default_locale,
        public_url=settings.public_url,
    )
    return House(
        settings=settings,
        store=store,
        client=client,
        application=application,
        desk=desk,
        delivery=OutboxDelivery(store, teller, clock, on_room=nudge_outbox),
        poller=Poller(
            store=store,
            settlement=settlement,
            observer=observer,
            alarm=alarm,
            clock=clock,
            budget=Budget(settings.service_max_requests_per_second),
            interval=rules.poll_interval,
        ),
        reconciler=Reconciler(orders, settlement),
        nudge_outbox=nudge_outbox,
        clock=clock,
    )


def store_of(settings: Settings) -> SqlStore:
    """The database, with the keys to what is sealed in it."""
    return SqlStore(settings.database_url, Vault(settings.sealing_keys))


def rules_of(settings: Settings) -> Rules:
    """The settings that orders go by."""
    return Rules(
        network=settings.invoice_network,
        min_order_idr=settings.min_order_idr,
        drift_percent=Decimal(str(settings.price_drift_percent)),
        reconcile_for=timedelta(seconds=settings.reconcile_seconds),
        poll_interval=timedelta(seconds=settings.poll_interval_seconds),
        operator_ids=settings.operator_ids,
        support_ids=settings.support_ids,
        limits=Limits(
            open_orders=settings.max_open_orders,
            orders_per_hour=settings.max_orders_per_hour,
            idr_per_day=settings.max_idr_per_day,
        ),
        stuck_after=timedelta(seconds=settings.stuck_seconds),
    )


def telegram_application(settings: Settings) -> Application:  # type: ignore[type-arg]
    """PTB's application with our transport and our limiter, and without its updater: `chat/updates.py` receives."""
    return (
        ApplicationBuilder()
        .token(settings.telegram_bot_token.get_secret_value())
        .base_url(f"{settings.telegram_api_url}/bot")
        .base_file_url(f"{settings.telegram_api_url}/file/bot")
        .request(TelegramRequest())
        .get_updates_request(TelegramRequest(connections=2))
        .rate_limiter(SendLimiter())
        .updater(None)
        .build()
    )


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
    gate = FloodGate(house.settings.max_messages_per_minute, house.clock, house.desk.orders.rules.staff_ids)
    lanes = Lanes(house.store, entrance.processor(house.application, house.desk, gate), house.clock, bot)
    polls = TelegramRequest(connections=1)
    receiver = Receiver(UpdateFeed(bot.base_url, polls), house.store, lanes, house.clock)
    await house.delivery.recover()
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
        house.desk.orders.close(FINISH_POSTS),
        house.delivery.close(FINISH_NEWS),
    )
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
    ticks: list[tuple[str, Callable[[], Awaitable[float]], Nudge]] = [
        ("outbox", OutboxWorker(house.delivery, house.clock).tick, house.nudge_outbox),
        ("poller", house.poller.tick, Nudge()),
        ("expiries", sweeps.expiries, Nudge()),
        ("lapses", sweeps.lapses, Nudge()),
        ("reconciler", sweeps.reconciling, Nudge()),
        ("housekeeping", sweeps.housekeeping, Nudge()),
        ("wishes", leaving.wishes, Nudge()),
        ("retention", leaving.retention, Nudge()),
        ("commands", partial(_set_commands, house), Nudge()),
    ]
    return [(name, run_forever(name, tick, nudge)) for name, tick, nudge in ticks]


async def _set_commands(house: House) -> float:
    """Once a day, beside all the rest: a failure to must not keep the bot from serving."""
    await entrance.set_commands(house.application, house.desk)
    return timedelta(days=1).total_seconds()

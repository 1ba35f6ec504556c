"""One bot runs before others are forked from its process. They inherit the modules it loaded and the SQL it compiled.

That takes more processor time than anything else that a story's bot does.
"""

import asyncio
import gc
import importlib
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from unittest.mock import patch

from prometheus_client.values import MutexValue
from structlog.testing import capture_logs

from bot import process
from bot.config import load
from bot.infra.i18n import Translations
from bot.sandbox.run import SandboxOptions, bot_environment, servers
from tests.e2e.faults import wait_until_idle
from tests.e2e.new_users import new_user
from tests.e2e.orders.steps import complete_order, order_of, tap_to_invoice
from tests.e2e.support.tickets import open_ticket
from tests.e2e.system import USUAL, System
from tests.texts import like
from tests.waiting import TIMEOUT_SECONDS

OF_OTHERS = ("asyncpg", "bot.infra.db.wakeups", "bot.infra.watchdog", "bot.web_servers")
"""What a bot on PostgreSQL or with web servers loads, but not the one that runs here."""


def warm_up() -> None:
    """Run a bot in this process to its end. It leaves no thread behind, and counts nothing in the metrics."""
    Translations.load()
    for name in OF_OTHERS:
        importlib.import_module(name)
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="kirim-warm-"))
        stack.enter_context(capture_logs())
        for change in ("inc", "set"):
            stack.enter_context(patch.object(MutexValue, change, lambda *_, **__: None))
        asyncio.run(_run_a_bot(Path(folder)))
    _replace_executors()
    for thread in set(threading.enumerate()) - {threading.main_thread()}:
        thread.join(TIMEOUT_SECONDS)
    assert threading.active_count() == 1, threading.enumerate()
    gc.collect()


def _replace_executors() -> None:
    """End the threads of all executors. A thread isn't forked, so the executor of a fork would wait for it."""
    for name, module in list(sys.modules.items()):
        for attribute, executor in list(vars(module).items()) if name.startswith("bot.") else ():
            if isinstance(executor, ThreadPoolExecutor):
                executor.shutdown()
                setattr(
                    module, attribute, ThreadPoolExecutor(executor._max_workers, executor._thread_name_prefix or "")
                )


async def _run_a_bot(state: Path) -> None:
    async with servers(SandboxOptions(state=state, page_port=0, service_port=0)) as addresses:
        environment = bot_environment(state, addresses) | USUAL
        stop = asyncio.Event()
        settings = load(None, **{name.lower(): value for name, value in environment.items()})
        running = asyncio.create_task(process.run(settings, stop))
        system = System(addresses, environment, state)
        try:
            await system.service.does("settings", speedSeconds=None)
            await _use(system)
        finally:
            stop.set()
            await running
            await system.close()


async def _use(system: System) -> None:
    """Send rupiah, and get help with an order that failed."""
    user = await new_user(system)
    await user.says("/start")
    await user.sees(like("home.start.text"))
    await tap_to_invoice(system, user)
    order = await order_of(system, user)
    await system.service.pays(order)
    await complete_order(system, order)
    await user.sees(like("orders.notification.sent_bank"))
    ticket = await open_ticket(system)
    await ticket.answers("It is on its way")
    await ticket.user.sees("It is on its way")
    await ticket.user.says("/orders")
    await ticket.user.sees(like("orders.history.title"))
    await wait_until_idle(system)

"""The workers of the house, each a loop of its own."""

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from bot.house import House
from bot.infra.outbox.cleanup import OutboxCleanup
from bot.infra.outbox.worker import OutboxWorker
from bot.infra.telegram.inbound.cleanup import InboxCleanup
from bot.infra.workers.loop import Wakeup, run_forever
from bot.orders.tables import NEEDS_MESSAGE_IDS


def loops(house: House) -> list[tuple[str, Coroutine[Any, Any, None]]]:
    """Return the workers that act again and again, each under its name."""
    cleanup = OutboxCleanup(
        house.store, house.clock, house.delivery, keep=(NEEDS_MESSAGE_IDS,), on_recovered=house.wake_outbox
    )
    ticks: list[tuple[str, Callable[[], Awaitable[float]], Wakeup]] = [
        ("outbox", OutboxWorker(house.delivery, house.clock).tick, house.wake_outbox),
        ("outbox-cleanup", cleanup.tick, Wakeup()),
        ("inbox-cleanup", InboxCleanup(house.store, house.clock).tick, Wakeup()),
    ]
    ticks += [(worker.name, worker.tick, worker.wakeup) for feature in house.features for worker in feature.workers]
    return [(name, run_forever(name, tick, nudge)) for name, tick, nudge in ticks]

"""The workers of the house, each a loop of its own."""

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from bot.house import House
from bot.infra.outbox.worker import OutboxWorker
from bot.infra.telegram.inbound.chat_queues import ChatQueues
from bot.infra.workers.loop import Wakeup, run_forever
from bot.operations.sweeps import Sweeps
from bot.orders.tables import NEEDS_MESSAGE_IDS


def loops(house: House, lanes: ChatQueues) -> list[tuple[str, Coroutine[Any, Any, None]]]:
    """Return the workers that act again and again, each under its name; `lanes` are the chats' queues."""
    sweeps = Sweeps(
        store=house.store,
        clock=house.clock,
        drafts=house.desk.drafts,
        delivery=house.delivery,
        run_in_lane=lanes.run_in_lane,
        on_news=house.nudge_outbox,
        keep=(NEEDS_MESSAGE_IDS,),
    )
    ticks: list[tuple[str, Callable[[], Awaitable[float]], Wakeup]] = [
        ("outbox", OutboxWorker(house.delivery, house.clock).tick, house.nudge_outbox),
        ("lapses", sweeps.lapses, Wakeup()),
        ("housekeeping", sweeps.housekeeping, Wakeup()),
    ]
    ticks += [(worker.name, worker.tick, worker.wakeup) for feature in house.features for worker in feature.workers]
    return [(name, run_forever(name, tick, nudge)) for name, tick, nudge in ticks]

"""The workers of the house, each a loop of its own."""

from collections.abc import Awaitable, Callable, Coroutine
from datetime import timedelta
from functools import partial
from typing import Any

from bot.house import House
from bot.infra.outbox.worker import OutboxWorker
from bot.infra.telegram.inbound.chat_queues import ChatQueues
from bot.infra.telegram.ui import commands
from bot.infra.workers.loop import Wakeup, run_forever
from bot.operations.sweeps import Sweeps
from bot.orders.tables import NEEDS_MESSAGE_IDS


def loops(house: House, lanes: ChatQueues) -> list[tuple[str, Coroutine[Any, Any, None]]]:
    """Return the workers that act again and again, each under its name; `lanes` are the chats' queues."""
    sweeps = Sweeps(
        store=house.store,
        clock=house.clock,
        observer=house.desk.observer,
        drafts=house.desk.drafts,
        reconciler=house.reconciler,
        delivery=house.delivery,
        run_in_lane=lanes.run_in_lane,
        on_news=house.nudge_outbox,
        keep=(NEEDS_MESSAGE_IDS,),
    )
    ticks: list[tuple[str, Callable[[], Awaitable[float]], Wakeup]] = [
        ("outbox", OutboxWorker(house.delivery, house.clock).tick, house.nudge_outbox),
        ("poller", house.poller.tick, Wakeup()),
        ("watch", house.watch.look, house.nudge_watch),
        ("probe", house.watch.probe, Wakeup()),
        ("expiries", sweeps.expiries, Wakeup()),
        ("lapses", sweeps.lapses, Wakeup()),
        ("reconciler", sweeps.reconciling, Wakeup()),
        ("housekeeping", sweeps.housekeeping, Wakeup()),
        ("broadcasts", house.broadcasting.tick, house.nudge_broadcasts),
        ("live", house.live_show.tick, house.nudge_live),
        ("commands", partial(_set_commands, house), Wakeup()),
        ("descriptions", partial(_set_descriptions, house), Wakeup()),
    ]
    ticks += [(worker.name, worker.tick, worker.wakeup) for feature in house.features for worker in feature.workers]
    return [(name, run_forever(name, tick, nudge)) for name, tick, nudge in ticks]


async def _set_commands(house: House) -> float:
    """Once a day, beside all the rest: a failure to must not keep the bot from serving.

    An operator who has yet to press Start gets a list of their own soon after it.
    """
    if await commands.set_commands(house.application, house.desk):
        return timedelta(days=1).total_seconds()
    return timedelta(minutes=10).total_seconds()


async def _set_descriptions(house: House) -> float:
    """Once a day, as commands are, but apart from them: Telegram limits how often descriptions are set."""
    await commands.set_descriptions(house.application, house.desk)
    return timedelta(days=1).total_seconds()

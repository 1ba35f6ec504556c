"""(j) What metrics cost: the layers of `updates_per_second` with and without them, by the processor time of an update.

Both take turns. The least of all rounds is compared, because other work on the machine only ever adds to it.
"""

import tempfile
from pathlib import Path

from tests.benchmarks import skeleton
from tests.benchmarks.bot_api_stub import Stub, serving
from tests.benchmarks.processes import processor_seconds, running, until
from tests.benchmarks.report import Row, times_as_much
from tests.benchmarks.updates_per_second import CHATS, TIMEOUT_SECONDS

ROUNDS, UPDATES, FEW_UPDATES = 8, 4000, 300
WITH, WITHOUT = "tests.benchmarks.layered_bot", "tests.benchmarks.unmeasured_bot"


async def run(*, quick: bool) -> list[Row]:
    """Run the benchmark. Return its rows."""
    found: dict[str, list[float]] = {WITH: [], WITHOUT: []}
    for _ in range(1 if quick else ROUNDS):
        for module, seconds in found.items():
            seconds.append(await _measure(module, FEW_UPDATES if quick else UPDATES))
    ours, theirs = (1_000_000 * min(found[module]) for module in (WITH, WITHOUT))
    return [
        Row(
            part="j",
            measured="processor time of an update that is received, answered and finished, layers alone",
            ours=f"{ours:.0f} µs",
            versus="the same without metrics",
            theirs=f"{theirs:.0f} µs",
            ratio=times_as_much(ours, theirs),
        )
    ]


async def _measure(module: str, count: int) -> float:
    """Return the processor seconds of one update."""
    updates = [skeleton.update(number, 1000 + number % CHATS, "/send") for number in range(1, count + 1)]
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "bot.log"
        async with (
            serving(Stub(updates=updates, answer_seconds=0.0)) as stub,
            running(module, stub.address, f"sqlite:///{folder}/bot.db", log=log) as process,
        ):
            await until(stub.polled, process, log, TIMEOUT_SECONDS)
            before = processor_seconds(process)
            await until(stub.done, process, log, TIMEOUT_SECONDS)
            return (processor_seconds(process) - before) / count

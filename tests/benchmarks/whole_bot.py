"""(a) The whole bot in a separate process: 200 users on their way to a review, compared with one user alone.

The service takes 300 ms for each read. An answer time is the time from a user's message until the sandbox's Telegram
shows the answer. Telegram accepts 30 messages a second, so 200 simultaneous messages take seven seconds to answer.
That is compared with the limit alone. Users who pause to think are compared with one user. Without the limit, the
benchmark measures how many answers a second the bot can give.
"""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from tests.benchmarks.report import Row, Spread, seconds, times_as_much
from tests.benchmarks.sandbox_system import Json, SandboxSystem, open_system
from tests.texts import label, like

SERVICE_SECONDS = 0.3
PEOPLE, FEW_PEOPLE = 200, 10
THINKING = (6.0, 18.0)
PER_SECOND = 29.7
UNLIMITED = "tests.benchmarks.unlimited_bot"


@dataclass(frozen=True, slots=True)
class Step:
    """A user's action (a label in brackets is a button), and the text that they then see."""

    does: str
    sees: str


WAY = (
    Step("/send", like("checkout.destination.ask")),
    Step("bca", like("checkout.number.ask_bank")),
    Step("1234567890", like("checkout.holder.ask")),
    Step(f"[{label('checkout.holder.skip')}]", like("checkout.amount.ask")),
    Step("500rb", like("checkout.review.title")),
)


async def run(*, quick: bool) -> list[Row]:
    """Run the benchmark. Return its rows."""
    count = FEW_PEOPLE if quick else PEOPLE
    async with _served() as system, system.bot(UNLIMITED):
        people = [await system.user(number) for number in range(count + 3)]
        alone = Spread.from_times([took for user in people[count:] for took in await _walk(system, user, WAY)])
        began = time.perf_counter()
        answers = len(await _all_walk(system, people[:count], WAY))
        rate = answers / (time.perf_counter() - began)
    async with _served() as system, system.bot():
        people = [await system.user(number) for number in range(2 * count)]
        same_moment = Spread.from_times(await _all_walk(system, people[:count], WAY[:1]))
        pauses = Spread.from_times(await _all_walk(system, people[count:], WAY[:2], (0.5, 1.5) if quick else THINKING))
    limit = Spread.from_times([turn / PER_SECOND for turn in range(1, count + 1)])
    what = f"whole bot, service {seconds(SERVICE_SECONDS)} a read, {count} people"
    thinking = f"{THINKING[0]:.0f} to {THINKING[1]:.0f} s of thinking"
    return [
        _row(
            f"{what}, {thinking}, within Telegram's limit",
            pauses,
            "one person alone, Kirim (p99: its caches were empty)",
            alone,
        ),
        _row(f"{what}, all in one moment, within Telegram's limit", same_moment, "only that limit (calculated)", limit),
        Row(
            part="a",
            measured=f"{what} who never pause, no Telegram limit: answers a second",
            ours=f"{rate:.0f}/s",
            versus="Telegram's limit",
            theirs=f"{PER_SECOND}/s",
            ratio=times_as_much(rate, PER_SECOND),
        ),
    ]


def _row(what: str, ours: Spread, versus: str, theirs: Spread) -> Row:
    return Row(
        part="a",
        measured=f"{what}: answer time, median / p99",
        ours=str(ours),
        versus=versus,
        theirs=str(theirs),
        ratio=ours.over(theirs),
    )


@asynccontextmanager
async def _served() -> AsyncIterator[SandboxSystem]:
    async with open_system() as made:
        await made.service.fails_with("delay", method="GET", path="/v1", seconds=SERVICE_SECONDS)
        yield made


async def _all_walk(
    system: SandboxSystem, people: Sequence[int], way: Sequence[Step], thinking: tuple[float, float] = (0.0, 0.0)
) -> list[float]:
    walks = await asyncio.gather(*(_walk(system, user, way, thinking) for user in people))
    return [took for walk in walks for took in walk]


async def _walk(
    system: SandboxSystem, user: int, way: Sequence[Step], thinking: tuple[float, float] = (0.0, 0.0)
) -> list[float]:
    """Let one user take all steps. Return the answer times."""
    pauses, last = random.Random(user), Json()
    times: list[float] = []
    for step in way:
        await asyncio.sleep(pauses.uniform(*thinking))
        began = time.perf_counter()
        acting = asyncio.create_task(_act(system, user, step, last))
        event = await system.chat_events.first(user, step.sees, began)
        times.append(event.at - began)
        last = event.message
        await acting
    return times


async def _act(system: SandboxSystem, user: int, step: Step, last: Json) -> None:
    if not step.does.startswith("["):
        await system.says(user, step.does)
        return
    buttons = [button for row in last["reply_markup"]["inline_keyboard"] for button in row]
    data = next(button["callback_data"] for button in buttons if step.does.strip("[]") in button["text"])
    press = {"from": user, "message_id": last["message_id"], "data": data, "timeout": 0}
    (await system.telegram.post(f"/sandbox/chats/{user}/press", json=press)).raise_for_status()

"""The bot's workers: if one of them ends, the process ends too, and logs which one it was."""

from collections.abc import AsyncIterator
from functools import partial

import pytest
import pytest_asyncio

from bot import process
from bot.infra.db import migrate
from bot.infra.workers import WorkerGroup
from bot.sandbox.run import SandboxOptions, bot_environment, servers
from tests.app.app_process import running
from tests.waiting import until

pytestmark = pytest.mark.asyncio(loop_scope="module")

OURS = {
    "receiver",
    "poller",
    "outbox",
    "watch",
    "probe",
    "broadcasts",
    "live",
    "masking",
    "lost-orders",
    "web",
    "unreadable-rows",
}
"""Some of the workers that must run."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def environment(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[dict[str, str]]:
    """Return the settings of a bot in a sandbox, with a web server."""
    state = tmp_path_factory.mktemp("servers")
    async with servers(SandboxOptions(state=state, page_port=0, service_port=0, wallet_port=0)) as addresses:
        made = bot_environment(state, addresses)
        await migrate.upgrade(made["DATABASE_URL"])
        yield made


@pytest.fixture
def groups(monkeypatch: pytest.MonkeyPatch) -> list[WorkerGroup]:
    """Record the workers of each bot that is started."""
    made: list[WorkerGroup] = []

    def group() -> WorkerGroup:
        made.append(WorkerGroup())
        return made[-1]

    monkeypatch.setattr(process, "WorkerGroup", group)
    return made


async def leads(groups: list[WorkerGroup], turn: int) -> bool:
    """Return whether the workers of the leader run in the bot that was started in this turn."""
    return len(groups) > 2 * turn + 1 and any(task.get_name() == "receiver" for task in groups[2 * turn + 1]._tasks)


async def test_the_end_of_any_worker_ends_the_process_and_says_which(
    environment: dict[str, str], groups: list[WorkerGroup]
) -> None:
    for turn, name in enumerate(("", "receiver", "web")):
        async with running(environment["DATABASE_URL"], **environment) as bot:
            await bot.logs("bot_started")
            await bot.logs("leadership_gained")
            await until(partial(leads, groups, turn), what="the leader's workers")
            tasks = {task.get_name(): task for group in groups[2 * turn :] for task in group._tasks}
            if not name:
                assert set(tasks) >= OURS
                continue
            tasks[name].cancel()
            assert await bot.ends() == process.WORKER_ENDED, name
            (ended,) = bot.log_entries("worker_ended")
            assert (ended["worker"], ended["error"], ended["log_level"]) == (name, "CancelledError", "error")


async def test_a_worker_that_fails_or_returns_ends_the_process_too(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails() -> None:
        raise ValueError

    async def returns() -> None:
        return

    for work, why in ((fails, "ValueError"), (returns, "it returned")):
        monkeypatch.setattr(process, "create_leader_loops", lambda *_, work=work: [("poller", work())])
        async with running(environment["DATABASE_URL"], **environment) as bot:
            assert await bot.ends() == process.WORKER_ENDED
            assert [(each["worker"], each["error"]) for each in bot.log_entries("worker_ended")] == [("poller", why)]

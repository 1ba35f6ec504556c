"""Fixtures of the end-to-end tests."""

from collections.abc import AsyncIterator, Generator
from pathlib import Path

import pytest
import pytest_asyncio
from structlog.testing import capture_logs

from tests.e2e import failure_report
from tests.e2e.faults import restore_defaults, wait_until_idle
from tests.e2e.system import System, running_system

SHARED_SYSTEM = pytest.StashKey[System]()
KILLED = pytest.StashKey[bool]()


@pytest.fixture
async def kirim(tmp_path: Path) -> AsyncIterator[System]:
    """A world with the documented service."""
    async with running_system(tmp_path) as made:
        yield made


@pytest.fixture(params=["documented", "live"])
async def either(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[System]:
    """A world with each profile of the service in turn."""
    async with running_system(tmp_path, request.param) as made:
        yield made


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def long_lived(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[System]:
    """One world, with one bot, for all stories that need no bot of their own."""
    async with running_system(tmp_path_factory.mktemp("shared")) as made:
        request.session.stash[SHARED_SYSTEM] = made
        yield made


@pytest_asyncio.fixture(loop_scope="session")
async def shared_system(request: pytest.FixtureRequest, long_lived: System) -> AsyncIterator[System]:
    """The long-lived world, calm again after each story. Its tests are marked for the session's loop.

    What the bot still has to do for the story before is waited for: its messages would be taken for this story's.
    """
    if request.session.stash.get(KILLED, False):
        # In another order of files more stories follow, and its end may not have been noticed yet.
        request.session.stash[KILLED] = False
        await long_lived.kill_bot()
    if long_lived.bot is None or long_lived.bot.returncode is not None:
        await long_lived.start_bot()
    await wait_until_idle(long_lived)
    yield long_lived
    await restore_defaults(long_lived)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Generator[None, object, object]:
    """Let the report of a failure begin where the test does; what the sandbox logs belongs there alone."""
    with capture_logs() as logged:
        failure_report.begins(logged)
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(call: pytest.CallInfo[None]) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Print below an error what the users, the bot and the service have seen of it."""
    report = yield
    if report.failed:
        report.sections += failure_report.sections(call.excinfo and call.excinfo.value)
    return report


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """After stories in a row the shared bot ends: a bot that waits costs the other tests a share of their processor."""
    long_lived = item.session.stash.get(SHARED_SYSTEM, None)
    if long_lived is not None and long_lived.bot is not None and not _is_story(nextitem):
        long_lived.bot.kill()
        item.session.stash[KILLED] = True


def _is_story(item: pytest.Item | None) -> bool:
    return item is not None and Path(__file__).parent in item.path.parents

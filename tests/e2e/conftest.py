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
    """A system with the documented service."""
    async with running_system(tmp_path) as made:
        yield made


@pytest.fixture(params=["documented", "live"])
async def either(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[System]:
    """A system with each profile of the service in turn."""
    async with running_system(tmp_path, request.param) as made:
        yield made


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def long_lived(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[System]:
    """One system with one bot, for all tests that don't need their own."""
    async with running_system(tmp_path_factory.mktemp("shared")) as made:
        request.session.stash[SHARED_SYSTEM] = made
        yield made


@pytest_asyncio.fixture(loop_scope="session")
async def shared_system(request: pytest.FixtureRequest, long_lived: System) -> AsyncIterator[System]:
    """The long-lived system, with defaults restored after each test. Its tests use the session's event loop.

    It waits until the bot is idle, because messages of the previous test could be mistaken for this test's.
    """
    if request.session.stash.get(KILLED, False):
        # With another order of files more tests can follow before the end of the bot is noticed.
        request.session.stash[KILLED] = False
        await long_lived.kill_bot()
    if long_lived.bot is None or long_lived.bot.returncode is not None:
        await long_lived.start_bot()
    await wait_until_idle(long_lived)
    yield long_lived
    await restore_defaults(long_lived)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Generator[None, object, object]:
    """Begin the failure report with the test, and capture what the sandbox logs."""
    with capture_logs() as logged:
        failure_report.begins(logged)
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Print below an error what users, bot and service did."""
    report = yield
    if report.failed:
        report.sections += failure_report.sections()
    return report


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Stop the shared bot after a row of end-to-end tests, so that it takes no processor time from others."""
    long_lived = item.session.stash.get(SHARED_SYSTEM, None)
    if long_lived is not None and long_lived.bot is not None and not _is_story(nextitem):
        long_lived.bot.kill()
        item.session.stash[KILLED] = True


def _is_story(item: pytest.Item | None) -> bool:
    return item is not None and Path(__file__).parent in item.path.parents

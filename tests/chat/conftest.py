"""Fixtures of the stories in the process of the tests, named as those in `tests/e2e`, so that stories can move."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.chat.system import InProcessSystem, running_in_process
from tests.e2e.conftest import pytest_runtest_makereport, pytest_runtest_protocol  # noqa: F401  hooks, for the reports
from tests.e2e.faults import restore_defaults, wait_until_idle


@pytest.fixture
async def kirim(tmp_path: Path) -> AsyncIterator[InProcessSystem]:
    """A system with the documented service."""
    async with running_in_process(tmp_path) as made:
        yield made


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def long_lived(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[InProcessSystem]:
    """One system with one bot, for all stories that don't need their own."""
    async with running_in_process(tmp_path_factory.mktemp("shared")) as made:
        yield made


@pytest_asyncio.fixture(loop_scope="session")
async def shared_system(long_lived: InProcessSystem) -> AsyncIterator[InProcessSystem]:
    """The long-lived system when it is idle, with defaults restored after each test."""
    await wait_until_idle(long_lived)
    yield long_lived
    await restore_defaults(long_lived)

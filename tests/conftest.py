"""The fixtures of all tests: a browser, a database server, and the number of examples of property tests."""

from __future__ import annotations

import asyncio
import functools
import ssl
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio
import uvicorn.server
from hypothesis import settings

import bot.tables  # noqa: F401  encryption goes through the tables of all features
from tests.examples import CHOSEN, be_quick, examples
from tests.harness.chromium import chromium
from tests.harness.machine import BROWSER, POSTGRESQL, get_program

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from playwright.async_api import Browser

pytest_plugins = [
    "pytester",
    "tests.harness.economy",
    "tests.harness.selection",
    "tests.harness.order",
    "tests.harness.balance",
    "tests.harness.databases",
    "tests.orders.fixtures",
]


def pytest_configure(config: pytest.Config) -> None:
    if config.option.quick:
        be_quick()
    # Each run tries the same examples, unless `HYPOTHESIS_EXAMPLES` is set. No test asserts durations.
    settings.register_profile("kirim", settings(), max_examples=examples(), derandomize=not CHOSEN, deadline=None)
    settings.load_profile("kirim")


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser(request: pytest.FixtureRequest) -> AsyncIterator[Browser]:
    """One Chromium for all tests of a process, because its start takes longer than most tests.

    Its tests use the session's event loop. Each opens its own context, which is like a new browser.
    """
    async with chromium(get_program(request.config, BROWSER)) as made:
        yield made


@pytest.fixture(scope="session")
def postgresql_server(request: pytest.FixtureRequest) -> str:
    """The URL of a PostgreSQL server on which tests may create databases."""
    return get_program(request.config, POSTGRESQL)


@pytest.fixture(scope="session", autouse=True)
def one_ssl_context() -> Iterator[None]:
    """Share one SSL context between all clients: making one takes 20 ms, and tests don't need it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ssl, "create_default_context", functools.cache(ssl.create_default_context))
        yield


@pytest.fixture(scope="session", autouse=True)
def prompt_servers() -> Iterator[None]:
    """Let uvicorn check for its end a hundred times a second instead of ten: most servers live for one test."""

    class Prompt:
        def __getattr__(self, name: str) -> object:
            return getattr(asyncio, name)

        @staticmethod
        async def sleep(seconds: float) -> None:
            await asyncio.sleep(seconds / 10)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(uvicorn.server, "asyncio", Prompt())
        yield

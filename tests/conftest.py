"""The plugins and fixtures of all tests, and the number of examples of property tests."""

from __future__ import annotations

import asyncio
import functools
import ssl
from typing import TYPE_CHECKING

import pytest
import uvicorn.server
from hypothesis import settings

import bot.tables  # noqa: F401  encryption goes through the tables of all features
from tests.examples import CHOSEN, be_quick, examples

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest_plugins = [
    "pytester",
    "tests.harness.economy",
    "tests.harness.selection",
    "tests.harness.databases",
    "tests.orders.fixtures",
]


def pytest_configure(config: pytest.Config) -> None:
    if config.option.quick:
        be_quick()
    # Each run tries the same examples, unless `HYPOTHESIS_EXAMPLES` is set. No test asserts durations.
    settings.register_profile("kirim", settings(), max_examples=examples(), derandomize=not CHOSEN, deadline=None)
    settings.load_profile("kirim")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # Stories over processes take longest. What begins last, others wait for.
    items.sort(key=lambda item: not item.nodeid.startswith(("tests/replicas/", "tests/e2e/")))


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

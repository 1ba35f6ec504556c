"""Fixtures of the tests that open the chat page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest_asyncio

from tests.sandbox.chat_page import ChatPage, Host, open_host, running_chat

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from playwright.async_api import Browser


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def host(browser: Browser) -> AsyncIterator[Host]:
    """One tab for all tests of a module."""
    async with open_host(browser) as host:
        yield host


@pytest_asyncio.fixture(loop_scope="session")
async def chat(host: Host) -> AsyncIterator[ChatPage]:
    """The chat page with new sandboxes. The test fails if the browser had an error."""
    async with running_chat(host) as chat:
        yield chat

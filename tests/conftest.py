"""What all tests share: a browser, and how long property tests look for a counterexample.

They look a little in each run, and long when somebody wishes.
"""

import os
from collections.abc import AsyncIterator

import pytest_asyncio
from hypothesis import settings
from playwright.async_api import Browser

from tests.integration.chromium import chromium

EXAMPLES = int(os.environ.get("HYPOTHESIS_EXAMPLES", "40"))

# The parent is Hypothesis's own choice for this machine: in CI the same examples in each run. Time is never asserted.
settings.register_profile("kirim", settings(), max_examples=EXAMPLES, deadline=None)
settings.load_profile("kirim")


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    """One Chromium for all tests of a process: starting it costs more than most of them do.

    Its tests are marked for the session's loop, and each has a context of its own, as fresh as a new browser.
    """
    async with chromium() as made:
        yield made

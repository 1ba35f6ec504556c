"""Fixtures of the end-to-end tests."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.e2e.world import World, world


@pytest.fixture
async def kirim(tmp_path: Path) -> AsyncIterator[World]:
    """A world with the documented service."""
    async with world(tmp_path) as made:
        yield made


@pytest.fixture(params=["documented", "live"])
async def either(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[World]:
    """A world with each profile of the service in turn."""
    async with world(tmp_path, request.param) as made:
        yield made

"""Pytest hooks that save time without leaving anything out.

The tests' files are kept in memory where there is room: most tests make a database, and waiting for the disk is what
none of them is about. `TMPDIR` or `--basetemp` names another place.

What was imported while the tests were collected stays until the end, so the garbage collector doesn't look at it; and
it looks rarely: at Python's own pace it takes a tenth of a run's time.
"""

from __future__ import annotations

import gc
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping

MEMORY: Final = Path("/dev/shm")  # noqa: S108  pytest makes folders of its own in it
ROOM: Final = 2 * 2**30
"""A run needs up to 0.5 GB; containers often give 64 MB."""
THRESHOLDS: Final = (100_000, 20, 50)
"""How many new objects the garbage collector waits for, by generation: some 20 MB a process."""
ROOT: Final = "PYTEST_DEBUG_TEMPROOT"


def in_memory(environment: Mapping[str, str], folder: Path = MEMORY, room: int = ROOM) -> Path | None:
    """Return where to keep temporary files in memory, or None where there is no room or another place is named."""
    if environment.get("TMPDIR") or environment.get(ROOT):
        return None
    try:
        free = shutil.disk_usage(folder).free
    except OSError:
        return None
    return folder if free >= room and os.access(folder, os.W_OK | os.X_OK) else None


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    folder = None if config.option.basetemp else in_memory(os.environ)
    if folder is not None:
        os.environ[ROOT] = str(folder)
    gc.disable()


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
    gc.enable()


def pytest_unconfigure() -> None:
    gc.enable()

"""Pytest hooks that save time without skipping tests.

Temporary files are in memory if there is enough space, because most tests create a database and none needs the disk.
That holds for those of pytest and, through `TMPDIR`, for those of bots, PostgreSQL and Chromium. `TMPDIR` or
`--basetemp` sets another folder.

Objects from the collection of tests stay until the end, so the garbage collector ignores them. It also runs less
often: with Python's defaults it takes a tenth of the time of a run.
"""

from __future__ import annotations

import gc
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping

MEMORY: Final = Path("/dev/shm")  # noqa: S108  pytest creates private folders in it
MIN_FREE_BYTES: Final = 2 * 2**30
"""Bytes that must be free. A run needs up to 0.8 GB, and containers often have 64 MB."""
THRESHOLDS: Final = (100_000, 20, 50)
"""The thresholds of the garbage collector by generation. They cost about 20 MB in each process."""
ROOT: Final = "PYTEST_DEBUG_TEMPROOT"
TMPDIR: Final = "TMPDIR"


def in_memory(environment: Mapping[str, str], folder: Path = MEMORY, room: int = MIN_FREE_BYTES) -> Path | None:
    """Return the folder in memory for temporary files, or None if it is too small or another folder is set."""
    if environment.get(TMPDIR) or environment.get(ROOT):
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
        os.environ[ROOT] = os.environ[TMPDIR] = str(folder)
        tempfile.tempdir = None  # pytest has asked for it already
    gc.disable()


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
    gc.enable()


def pytest_unconfigure() -> None:
    gc.enable()

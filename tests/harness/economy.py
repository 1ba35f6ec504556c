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
from typing import Final

import pytest

MEMORY: Final = "/dev/shm"  # noqa: S108  pytest creates private folders in it
MIN_FREE_BYTES: Final = 2 * 2**30
"""Bytes that must be free. A run needs up to 0.8 GB, and containers often have 64 MB."""
THRESHOLDS: Final = (100_000, 20, 50)
"""The thresholds of the garbage collector by generation. They cost about 20 MB in each process."""


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    chosen = config.option.basetemp or os.environ.get("TMPDIR") or os.environ.get("PYTEST_DEBUG_TEMPROOT")
    if not chosen and os.access(MEMORY, os.W_OK | os.X_OK) and shutil.disk_usage(MEMORY).free >= MIN_FREE_BYTES:
        os.environ["PYTEST_DEBUG_TEMPROOT"] = os.environ["TMPDIR"] = MEMORY
        tempfile.tempdir = None  # pytest has asked for it already
    gc.disable()


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
    gc.enable()


def pytest_unconfigure() -> None:
    gc.enable()

"""Imports of a whole program, in less time."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collection() -> Iterator[None]:
    """Import within the block without garbage collections, and exempt what was imported from later ones.

    Each collection goes through all modules that were imported so far, and almost nothing in them is garbage. At the
    start that was a fifth of the time, and later each full collection would go through them again.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()

"""Imports without garbage collections."""

import gc

import pytest

from bot.core.imports import without_collection


def test_collections_pause_and_what_was_imported_is_exempt() -> None:
    gc.unfreeze()
    try:
        with without_collection():
            assert not gc.isenabled()
        assert gc.isenabled()
        assert gc.get_freeze_count() > 0
    finally:
        gc.freeze()  # as it was: the harness exempts what all tests share


def test_after_a_failed_import_collections_go_on() -> None:
    try:
        with pytest.raises(ModuleNotFoundError), without_collection():
            import bot.nothing_of_that_name  # type: ignore[import-not-found]  # noqa: F401, PLC0415
        assert gc.isenabled()
    finally:
        gc.freeze()

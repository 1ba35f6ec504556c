"""Temporary files of tests are in memory only if there is enough space and no other folder is set."""

import gc
from pathlib import Path

from tests.harness.economy import ROOT, in_memory


def test_files_are_kept_in_memory_where_there_is_room(tmp_path: Path) -> None:
    assert in_memory({}, tmp_path, room=1) == tmp_path


def test_they_are_not_where_there_is_too_little_room(tmp_path: Path) -> None:
    assert in_memory({}, tmp_path, room=2**60) is None


def test_they_are_not_where_no_such_folder_is(tmp_path: Path) -> None:
    assert in_memory({}, tmp_path / "none", room=1) is None


def test_they_are_where_somebody_wants_them(tmp_path: Path) -> None:
    assert in_memory({"TMPDIR": "/elsewhere"}, tmp_path, room=1) is None
    assert in_memory({ROOT: "/elsewhere"}, tmp_path, room=1) is None


def test_the_collector_is_on_while_tests_run() -> None:
    assert gc.isenabled()
    assert gc.get_freeze_count() > 0

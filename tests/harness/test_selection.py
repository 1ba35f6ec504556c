"""The selection of tests by machine, tested with a small suite in a separate pytest."""

from pathlib import Path

import pytest

from tests.harness import chromium, postgresql, selection

pytestmark = pytest.mark.process

SUITE = """
import pytest

@pytest.fixture
def postgresql_server(): return "a server"
@pytest.fixture
def browser(): return "a browser"
@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def database(request): return request.param

def test_needs_nothing(): pass
def test_needs_a_server(postgresql_server): pass
def test_needs_a_browser(browser): pass
@pytest.mark.process
def test_needs_a_process(): pass
def test_runs_on_both(database): pass
def test_is_slow(): pass
@pytest.mark.parametrize("number", range(9))
def test_has_many_cases(number): pass
"""


@pytest.fixture(autouse=True)
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """A project with the tests above and our hooks, on a machine without server and browser."""
    pytester.makepyfile(test_it=SUITE)
    pytester.makeconftest("pytest_plugins = ['tests.harness.selection']")
    pytester.makeini("[pytest]\nmarkers =\n  postgresql\n  process\nasyncio_default_fixture_loop_scope = function")
    monkeypatch.setenv("CHROMIUM", "/nowhere")
    monkeypatch.delenv("TEST_POSTGRES_URL", raising=False)
    monkeypatch.setattr(postgresql, "installed", lambda: iter(()))
    monkeypatch.delenv("CI", raising=False)


def test_quick_takes_what_needs_nothing(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selection, "SLOW_TESTS", pytester.path / "slow.txt")
    (pytester.path / "slow.txt").write_text("test_it.py::test_is_slow\n")
    result = pytester.runpytest_inprocess("--quick", "-v")
    assert [line.split("::")[1].split()[0] for line in result.outlines if "PASSED" in line] == [
        "test_needs_nothing",
        "test_runs_on_both[sqlite]",
        *(f"test_has_many_cases[{number}]" for number in (0, 4, 8)),
    ]


def test_what_cannot_run_is_one_line_with_how_to_get_it(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = pytester.runpytest_inprocess()
    assert result.ret == 0
    result.stdout.fnmatch_lines_random(["2 left out: PostgreSQL not found. Install *", "1 left out: Chromium not *"])
    monkeypatch.setenv("CI", "true")
    assert pytester.runpytest_inprocess().ret == 1
    assert pytester.runpytest_inprocess("-k", "nothing").ret == 0


def test_a_chromium_that_does_not_start_is_passed_over_unless_it_was_named(tmp_path: Path) -> None:
    for name, text in (("chromium", "echo requires the snap\nexit 1"), ("google-chrome", "")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    assert chromium.find({"PATH": str(tmp_path)}, []) == str(tmp_path / "google-chrome")
    with pytest.raises(chromium.NoChromium, match="/nowhere doesn't start"):
        chromium.find({"PATH": str(tmp_path), "CHROMIUM": "/nowhere"}, [])

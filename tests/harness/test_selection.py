"""The selection of tests by machine, tested with a small suite in a separate pytest."""

import sys
from pathlib import Path

import pytest

from tests.harness import selection

pytestmark = pytest.mark.process

ROOT = Path(__file__).resolve().parents[2]
SUITE = """
import subprocess
import pytest

@pytest.fixture
def postgresql_server():
    return "a server"

@pytest.fixture
def browser():
    return "a browser"

@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def database(request):
    return request.param

def test_needs_nothing(): pass
def test_needs_a_server(postgresql_server): pass
def test_needs_a_browser(browser): pass
@pytest.mark.process
def test_needs_a_process(): subprocess.run(["true"], check=True)
def test_runs_on_both(database): pass
"""
SETTINGS = """[pytest]
markers =
  postgresql
  browser
  process
asyncio_default_fixture_loop_scope = function"""
NOTHING_HERE = {"TEST_POSTGRES_URL": "postgresql://postgres@127.0.0.1:1/none", "CHROMIUM": "/nowhere"}


@pytest.fixture(autouse=True)
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """A project with the tests above and our hooks, on a machine without server and browser."""
    pytester.makepyfile(SUITE)
    pytester.makeconftest("pytest_plugins = ['tests.harness.selection']")
    pytester.makeini(SETTINGS)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.delenv("CI", raising=False)
    for name, value in NOTHING_HERE.items():
        monkeypatch.setenv(name, value)


def run(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    """Run the suite in this process, or in workers."""
    if "-n" in arguments:
        return pytester.run(sys.executable, "-m", "pytest", *arguments)
    return pytester.runpytest_inprocess(*arguments)


def names(result: pytest.RunResult) -> list[str]:
    """Return the names of the tests that passed."""
    return sorted(line.split("::")[1].split()[0] for line in result.outlines if "::" in line and "PASSED" in line)


def test_quick_takes_what_needs_nothing(pytester: pytest.Pytester) -> None:
    result = run(pytester, "--quick", "-v")
    assert names(result) == ["test_needs_nothing", "test_runs_on_both[sqlite]"]
    assert result.ret == 0
    result.stdout.no_fnmatch_line("*left out*")


def test_quick_leaves_out_stories_and_slow_tests(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selection, "STORIES", pytester.path / "chat")
    monkeypatch.setattr(selection, "SLOW_TESTS", pytester.path / "slow.txt")
    (pytester.path / "slow.txt").write_text("elsewhere/test_b.py::test_second\n")
    for path in ("chat/test_a.py", "elsewhere/test_b.py"):
        file = pytester.path / path
        file.parent.mkdir(exist_ok=True)
        file.write_text("def test_first(): pass\ndef test_second(): pass\n")
    assert names(run(pytester, "--quick", "-v", "--import-mode=importlib", "-k", "first or second")) == ["test_first"]


@pytest.mark.parametrize(("cases", "chosen"), [(1, [0]), (2, [0, 1]), (3, [0, 1, 2]), (9, [0, 4, 8])])
def test_quick_takes_three_cases_of_a_test(pytester: pytest.Pytester, cases: int, chosen: list[int]) -> None:
    pytester.makepyfile(f"""
        import pytest
        @pytest.mark.parametrize("case", range({cases}))
        def test_many(case): pass
    """)
    assert names(run(pytester, "--quick", "-v")) == [f"test_many[{case}]" for case in chosen]


def test_slow_tests_are_found_by_their_processor_time_and_their_waits(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    list_of_slow = pytester.path / "slow.txt"
    monkeypatch.setattr(selection, "SLOW_TESTS", list_of_slow)
    pytester.makepyfile(
        test_times=f"""
        import time, pytest
        def works(seconds):
            end = time.process_time() + seconds
            while time.process_time() < end: pass
        @pytest.mark.parametrize("seconds", [0, 0, 0, {2 * selection.SLOW_SECONDS}])
        def test_is_slow_once(seconds): works(seconds)
        def test_waits(): time.sleep({2 * selection.SLOW_SECONDS})
        def test_waits_long(): time.sleep({1.2 * selection.LONG_SECONDS})
        def test_is_quick(): pass
    """
    )
    assert run(pytester, "--quick", "--find-slow", "test_times.py").ret == 0
    assert list_of_slow.read_text().split() == ["test_times.py::test_is_slow_once", "test_times.py::test_waits_long"]


def test_every_slow_test_exists() -> None:
    gone = set()
    for name in selection.SLOW_TESTS.read_text().split():
        path, _, function = name.partition("::")
        if not (ROOT / path).is_file() or f"def {function}(" not in (ROOT / path).read_text():
            gone.add(name)
    assert gone == set(), "make quick ARGS=--find-slow"


@pytest.mark.parametrize("workers", [(), ("-n", "2", "-p", "xdist", "-p", "asyncio")], ids=["alone", "two workers"])
def test_what_cannot_run_is_counted_in_one_line_for_each_reason(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, workers: tuple[str, ...]
) -> None:
    if workers:
        monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # they start faster
    result = run(pytester, *workers)
    assert result.ret == 0
    assert result.outlines[-1].startswith("3 passed in")
    (server,) = (line for line in result.outlines if "PostgreSQL" in line)
    (browser,) = (line for line in result.outlines if "Chromium" in line)
    assert "2 tests left out. Install" in server
    assert "1 test left out. Install" in browser
    result.stdout.no_fnmatch_line("*SKIPPED*")


def test_ci_fails_when_something_is_left_out(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    assert run(pytester).ret == 1
    assert run(pytester, "-k", "nothing").ret == 0


def test_what_was_not_asked_for_is_not_counted(pytester: pytest.Pytester) -> None:
    result = run(pytester, "-k", "both")
    assert any("1 test left out" in line for line in result.outlines)
    assert not any("Chromium" in line for line in result.outlines)


def test_a_passing_run_is_dots_and_one_line(pytester: pytest.Pytester) -> None:
    result = run(pytester, "-k", "nothing")
    dots, last = (line for line in result.outlines if line)
    assert dots.startswith(". ")
    assert last.startswith("1 passed, 5 deselected in")


def test_a_failure_shows_the_whole_difference(pytester: pytest.Pytester) -> None:
    assert "verbosity_assertions = 2" in (ROOT / "pyproject.toml").read_text()
    pytester.makeini(f"{SETTINGS}\nverbosity_assertions = 2")
    pytester.makepyfile("def test_fails(): assert list(range(90)) == [*range(89), 'last']")
    result = run(pytester)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*Full diff*", "*-     'last',*", "*FAILED*test_fails*", "1 failed*"])


def test_a_test_that_starts_a_process_has_to_say_so(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
        import asyncio, os, subprocess, pytest
        def run(): subprocess.run(["true"])
        def shell(): os.system("true")
        def fork(): os.fork() or os._exit(0)
        async def starts(): await (await asyncio.create_subprocess_exec("true")).wait()
        def loop(): asyncio.run(starts())
        ways = pytest.mark.parametrize("way", [run, shell, fork, loop])
        @ways
        @pytest.mark.process
        def test_says_so(way): way()
        @ways
        def test_is_silent(way): way()
    """)
    result = run(pytester)
    result.assert_outcomes(passed=4, failed=4)
    result.stdout.fnmatch_lines(4 * ["E *test_is_silent* starts a process: mark it with @pytest.mark.process"])


def test_a_process_of_a_fixture_counts_for_the_test_that_uses_it(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
        import subprocess, pytest
        @pytest.fixture(scope="session")
        def started(): subprocess.run(["true"])
        def test_uses_it(started): pass
    """)
    run(pytester).stdout.fnmatch_lines(["*test_uses_it starts a process: mark it with @pytest.mark.process*"])


def test_a_test_that_asks_for_a_server_without_saying_so_fails_where_there_is_none(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
        from tests.conftest import postgresql_server
        def test_asks_late(request): request.getfixturevalue("postgresql_server")
    """)
    run(pytester).stdout.fnmatch_lines(["*uses PostgreSQL, but isn't marked with it*"])

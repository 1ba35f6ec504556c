"""A run spreads the files that wait, and starts the longest first. The lengths are those of the last whole run."""

import itertools

import pytest

from tests.harness.balance import WAITING_UNTIL

FILES = {
    "test_a_short": "def test_it(): pass\n",
    "test_long": "import time\ndef test_it(): time.sleep(0.2)\ndef test_last(): pass\n",
    "test_with_processes": "import pytest\npytestmark = pytest.mark.process\ndef test_it(): pass\n",
}
SETTINGS = "[pytest]\nmarkers =\n  process"
PLUGINS = ("-p", "tests.harness.selection", "-p", "tests.harness.order", "-p", "tests.harness.balance")


@pytest.fixture
def suite(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makepyfile(**FILES)
    pytester.makeini(SETTINGS)
    return pytester


def order_of(suite: pytest.Pytester, *arguments: str) -> list[str]:
    """Return the files in the order of their first tests."""
    run = suite.runpytest_inprocess("-vv", *PLUGINS, "-p", "no:asyncio", *arguments)
    return list(dict.fromkeys(line.partition(".py::")[0] for line in run.outlines if ".py::" in line))


@pytest.mark.process
def test_the_longest_files_come_first(suite: pytest.Pytester) -> None:
    assert order_of(suite) == ["test_with_processes", "test_a_short", "test_long"]
    assert order_of(suite) == ["test_with_processes", "test_long", "test_a_short"]


@pytest.mark.process
def test_files_that_wait_are_spread_over_the_run_but_not_to_its_end(suite: pytest.Pytester) -> None:
    waits, works = FILES["test_with_processes"], FILES["test_a_short"]
    suite.makepyfile(**{f"test_{n}_waits": waits for n in range(9)}, **{f"test_{n}_works": works for n in range(18)})
    order = [name.removesuffix("s").rpartition("_")[2] for name in order_of(suite, "-k", "waits or works")]
    places = [place for place, kind in enumerate(order) if kind == "wait"]
    assert len(places) == 9
    assert {later - earlier for earlier, later in itertools.pairwise(places)} <= {2, 3, 4}
    assert places[-1] < WAITING_UNTIL * len(order)


@pytest.mark.process
def test_a_part_of_the_tests_changes_no_lengths(suite: pytest.Pytester) -> None:
    order_of(suite)
    order_of(suite, "-k", "last")
    order_of(suite, "test_a_short.py")
    assert order_of(suite)[1] == "test_long"


@pytest.mark.process
def test_the_tests_of_a_file_keep_their_order(suite: pytest.Pytester) -> None:
    order_of(suite)
    run = suite.runpytest_inprocess("-vv", *PLUGINS, "-p", "no:asyncio", "test_long.py")
    named = [line.split("::")[1].split()[0] for line in run.outlines if ".py::" in line]
    assert named == ["test_it", "test_last"]


@pytest.mark.process
def test_a_shuffled_run_keeps_its_order(suite: pytest.Pytester) -> None:
    order_of(suite)
    shuffled = [order_of(suite, "--order-seed", str(seed)) for seed in range(6)]
    assert len({files[0] for files in shuffled}) > 1


@pytest.mark.process
def test_all_workers_know_the_lengths(suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    order_of(suite)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # the workers start faster
    suite.runpytest_inprocess("-n2", "-p", "xdist", *PLUGINS).assert_outcomes(passed=4)

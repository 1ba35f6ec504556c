"""Tests can run in another order, which a seed repeats. The tests of a file stay together."""

from itertools import pairwise

import pytest

FILES = {
    "test_one": "".join(f"def test_{n}(): pass\n" for n in range(6)),
    "test_two": "".join(f"def test_{n}(): pass\n" for n in range(6)),
    "test_three": "def test_0(): assert False\n",
}


def order_of(pytester: pytest.Pytester, *arguments: str) -> list[str]:
    pytester.makepyfile(**FILES)
    run = pytester.runpytest_inprocess(
        "-v", "-p", "tests.harness.order", "-p", "no:cacheprovider", "-p", "no:asyncio", *arguments
    )
    return [line.split()[0] for line in run.outlines if "::" in line and "%" in line]


def test_the_same_number_gives_the_same_order_and_another_one_another(pytester: pytest.Pytester) -> None:
    usual, first = order_of(pytester), order_of(pytester, "--order-seed", "7")
    assert order_of(pytester, "--order-seed", "7") == first
    assert order_of(pytester, "--order-seed", "8") != first
    assert sorted(first) == sorted(usual)
    assert first != usual


def test_a_file_stays_in_one_piece(pytester: pytest.Pytester) -> None:
    files = [test.partition("::")[0] for test in order_of(pytester, "--order-seed", "7")]
    changes = sum(here != there for here, there in pairwise(files))
    assert changes == len(FILES) - 1


def test_the_chosen_number_is_shown_where_something_fails(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(**FILES)
    run = pytester.runpytest_inprocess(
        "-p", "tests.harness.order", "-p", "no:cacheprovider", "-p", "no:asyncio", "--order-seed"
    )
    run.stdout.re_match_lines([r"order: shuffled, again with --order-seed \d+"])


@pytest.mark.process
def test_all_workers_use_the_number_that_is_chosen(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    pytester.makepyfile(**FILES)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # the workers start faster
    run = pytester.runpytest_inprocess(
        "-n2", "-p", "xdist", "-p", "tests.harness.order", "-p", "no:cacheprovider", "--order-seed"
    )
    run.assert_outcomes(passed=12, failed=1)

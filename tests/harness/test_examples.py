"""The number of random examples in a quick run, a full run and a long run."""

import pytest

from tests import examples
from tests.examples import _Part


@pytest.fixture(autouse=True)
def as_usual(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_Part, "of_usual", 1.0)
    monkeypatch.setattr(examples, "CHOSEN", None)


def test_a_whole_run_looks_at_the_usual_number() -> None:
    assert [examples.examples(), examples.examples(300)] == [40, 300]


def test_a_quick_run_looks_at_a_tenth_and_at_one_at_least() -> None:
    examples.be_quick()
    assert [examples.examples(), examples.examples(300), examples.examples(1)] == [4, 30, 1]


def test_a_whole_run_kills_at_every_moment_a_quick_one_at_every_tenth_and_a_long_one_at_no_fewer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert examples.kill_every() == 1
    examples.be_quick()
    assert examples.kill_every() == 10
    monkeypatch.setattr(_Part, "of_usual", 50.0)
    assert examples.kill_every() == 1


def test_a_whole_run_tries_all_similar_cases_and_a_quick_one_some() -> None:
    assert list(examples.some(range(20))) == list(range(20))
    examples.be_quick()
    assert list(examples.some(range(20))) == [0, 10]


def test_who_asks_for_a_number_gets_it_in_a_quick_run_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examples, "CHOSEN", "2000")
    examples.be_quick()
    assert examples.examples() == 40

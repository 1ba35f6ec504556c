"""A quick run looks at a part of the random examples, a whole run at all of them, a long one at as many as wished."""

import pytest

from tests import examples
from tests.examples import _Part


@pytest.fixture(autouse=True)
def as_usual(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_Part, "of_usual", 1.0)
    monkeypatch.setattr(examples, "CHOSEN", None)


def test_a_whole_run_looks_at_the_usual_number() -> None:
    assert [examples.examples(), examples.examples(300)] == [40, 300]


def test_a_quick_run_looks_at_a_quarter_and_at_one_at_least() -> None:
    examples.be_quick()
    assert [examples.examples(), examples.examples(300), examples.examples(1)] == [10, 75, 1]


def test_who_asks_for_a_number_gets_it_in_a_quick_run_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examples, "CHOSEN", "2000")
    examples.be_quick()
    assert examples.examples() == 40

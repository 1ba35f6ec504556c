"""Tests of drafts: they ask for missing answers, and a change clears only the answers that depend on it."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.checkout.draft import (
    OrderDraft,
    Step,
    new_draft,
    with_method,
    with_number,
    without_method,
)
from bot.checkout.flow import STEPS, is_complete, missing, step_back
from bot.checkout.open_draft import DRAFT, LATE, is_late
from bot.core.money import Amount
from bot.settlement.model import PayoutMethod
from tests.checkout.builders import a_draft_at_review
from tests.settlement.builders import LISTED_BCA, LISTED_GOPAY

NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
BCA = PayoutMethod("014", "BANK BCA", "bank", None)
OVO = PayoutMethod("ovo", "OVO", "ewallet", None)
EMPTY = new_draft(chat_id=1, user_id=2, now=NOW)
WHOLE = replace(
    EMPTY,
    step=Step.REVIEW,
    method=BCA,
    number="8620123456",
    holder="SARI",
    holder_asked=True,
    amount=Amount("IDR", 50_000),
)
methods, numbers = st.sampled_from([None, BCA, OVO]), st.sampled_from([None, "1234567890", "0812345678"])
drafts = st.builds(
    replace,
    st.just(EMPTY),
    step=st.sampled_from(list(STEPS)),
    method=methods,
    number=numbers,
    holder_asked=st.booleans(),
    amount=st.sampled_from([None, Amount("SAT", 5)]),
)


@pytest.mark.parametrize(
    ("lacks", "step"),
    [
        ({"method": None}, Step.DESTINATION),
        ({"number": None}, Step.NUMBER),
        ({"holder_asked": False}, Step.HOLDER),
        ({"amount": None}, Step.AMOUNT),
        ({}, Step.REVIEW),
        ({"holder": None}, Step.REVIEW),
        ({"amount": None, "number": None}, Step.NUMBER),
    ],
)
def test_the_first_thing_that_is_missing_is_asked_for(lacks: dict[str, None], step: Step) -> None:
    draft = replace(WHOLE, **lacks)  # type: ignore[arg-type]
    assert missing(draft) is step
    assert is_complete(draft) is (step is Step.REVIEW)


def test_another_destination_makes_the_number_wrong() -> None:
    changed = with_method(replace(WHOLE, doubtful_number="86"), OVO)
    assert (changed.method, changed.number, changed.doubtful_number) == (OVO, None, None)
    assert changed.amount == WHOLE.amount


def test_another_number_has_another_holder() -> None:
    changed = with_number(WHOLE, "1112223334")
    assert (changed.number, changed.holder, changed.holder_asked) == ("1112223334", None, False)


def test_the_same_number_keeps_its_holder_and_settles_the_doubt() -> None:
    changed = with_number(replace(WHOLE, doubtful_number="86201"), "8620123456")
    assert (changed.holder, changed.holder_asked, changed.doubtful_number) == ("SARI", True, None)


def test_a_vanished_destination_is_asked_for_again_and_the_sum_is_kept() -> None:
    changed = without_method(WHOLE)
    assert (changed.step, changed.method, changed.number) == (Step.DESTINATION, None, None)
    assert changed.amount == WHOLE.amount


@pytest.mark.parametrize(
    ("step", "before"),
    [
        (Step.DESTINATION, Step.DESTINATION),
        (Step.NUMBER, Step.DESTINATION),
        (Step.HOLDER, Step.NUMBER),
        (Step.AMOUNT, Step.HOLDER),
    ],
)
def test_back_goes_to_the_question_before(step: Step, before: Step) -> None:
    assert step_back(replace(WHOLE, step=step, amount=None)).step is before


@given(drafts, st.sampled_from([BCA, OVO]), st.sampled_from(["1234567890", "0812345678"]))
def test_answering_what_is_missing_always_ends_at_the_review(
    draft: OrderDraft, method: PayoutMethod, number: str
) -> None:
    answers: dict[Step, Any] = {
        Step.DESTINATION: lambda known: with_method(known, method),
        Step.NUMBER: lambda known: with_number(known, number),
        Step.HOLDER: lambda known: replace(known, holder_asked=True),
        Step.AMOUNT: lambda known: replace(known, amount=Amount("IDR", 50_000)),
    }
    for _ in range(4):
        if (step := missing(draft)) is not Step.REVIEW:
            draft = answers[step](draft)
    assert is_complete(draft)


def test_two_drafts_ask_the_same_while_all_that_was_answered_is_the_same() -> None:
    draft = a_draft_at_review()
    assert draft.asks_the_same_as(a_draft_at_review(id="another", quote=None, revision=1, channel="cbbtc"))
    assert draft.asks_the_same_as(a_draft_at_review(method=replace(LISTED_BCA, cap=1)))
    others = ({"step": Step.AMOUNT}, {"method": LISTED_GOPAY}, {"method": None}, {"number": "1"}, {"holder": None})
    for changed in (*others, {"amount": Amount("IDR", 1)}, {"amount": Amount("SAT", 500_000)}):
        assert not draft.asks_the_same_as(a_draft_at_review(**changed)), changed


class LateSession(dict[object, object]):
    """The session of an update whose draft had taken a later one."""

    now = NOW


def test_an_update_that_came_late_answers_no_later_question_while_its_draft_is_open() -> None:
    session: Any = LateSession({DRAFT: EMPTY, LATE: True})
    assert is_late(session)
    session[DRAFT] = replace(EMPTY, expires_at=NOW)
    assert not is_late(session), "the ids of updates tell it only for minutes"
    session |= {DRAFT: EMPTY, LATE: False}
    assert not is_late(session)

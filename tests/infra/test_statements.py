"""Statements that are built once, in the method that uses them."""

import pytest
from sqlalchemy import Select, bindparam, literal, select

from bot.infra.db.repository import once


def build() -> Select[int]:
    return once(lambda: select(literal(1) + bindparam("more")))


def test_a_statement_is_built_at_its_first_use() -> None:
    assert build() is build()


def test_two_lambdas_are_two_statements() -> None:
    assert once(lambda: select(literal(1))) is not once(lambda: select(literal(1)))


def test_a_variable_of_the_function_is_refused_because_its_first_value_would_stay() -> None:
    wanted = 7
    with pytest.raises(ValueError, match="parameters"):
        once(lambda: select(literal(wanted)))

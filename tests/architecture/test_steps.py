"""The screens of a step stand in the file of the step, and are as pure as those in folders named `screens`.

import-linter holds both to the same imports. A function that builds a screen gets values alone, and awaits nothing.
"""

import ast
from collections.abc import Iterator

import pytest

from tests.architecture.source import ROOT, paths

BUILDERS = frozenset({"Button", "Screen"})
"""What only the functions of a screen call."""

VALUES = frozenset(
    {
        *("Amount", "Choices", "Decimal", "Estimate", "Html", "Order", "OrderDraft", "PayoutMethod", "Remark"),
        *("SavedRecipient", "Sequence", "Translator", "bool", "int", "str", "tzinfo"),
    }
)
"""The types of what they get."""

STEPS = tuple(path for path in paths() if path.match("bot/checkout/steps/*.py"))


def impurities(source: str) -> Iterator[str]:
    """Yield what a function of a screen gets that isn't a value, and what else builds a screen."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef) and _is_of_screen(node):
            wrong = {name for each in _arguments(node) for name in _names(each.annotation)} - VALUES
            yield from (f"{node.name} gets {name}" for name in sorted(wrong))
        elif _builds(node):
            yield f"line {node.lineno} builds a screen elsewhere"


def _is_of_screen(function: ast.FunctionDef) -> bool:
    first = next(iter(_arguments(function)), None)
    return (first is not None and "Translator" in _names(first.annotation)) or _builds(function)


def _builds(node: ast.stmt) -> bool:
    calls = (each.func for each in ast.walk(node) if isinstance(each, ast.Call))
    return any(isinstance(each, ast.Name) and each.id in BUILDERS for each in calls)


def _arguments(function: ast.FunctionDef) -> list[ast.arg]:
    return [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]


def _names(annotation: ast.expr | None) -> Iterator[str]:
    return (each.id for each in ast.walk(annotation) if isinstance(each, ast.Name)) if annotation else iter(())


@pytest.mark.parametrize("path", STEPS, ids=lambda path: path.stem)
def test_the_screens_of_a_step_are_pure(path: object) -> None:
    assert list(impurities((ROOT / str(path)).read_text("utf-8"))) == []


def test_every_step_is_looked_at() -> None:
    assert {"amount", "review"} < {path.stem for path in STEPS}


@pytest.mark.parametrize(
    "source",
    [
        "def show_question(t: Translator, session: Session) -> Screen: ...",
        "def show_question(t: Translator, orders: OrderService) -> Screen: ...",
        "def _ask(session: Session):\n    return Screen(session.t('users.button.back'))",
        "async def show_question(t: Translator):\n    return Screen(t('users.button.back'))",
        "class Step:\n    async def show(self, session):\n        return Screen('')",
        "class Step:\n    def _back(self, t):\n        return Button('', data='')",
    ],
)
def test_a_screen_that_gets_more_than_values_is_found(source: str) -> None:
    assert list(impurities(source))

"""Texts steer nothing: no code compares the key of a text, so a renamed text changes no more than a text.

What happens next depends on a rejection's class (`bot/core/errors.py`).
"""

import ast
from collections.abc import Iterator

import pytest

from bot.infra.i18n import read_catalogue
from tests.architecture.source import ROOT, paths

SEARCHES = frozenset({"count", "endswith", "find", "index", "partition", "removeprefix", "split", "startswith"})
"""Methods that look into a text."""

OTHER_KEYS = frozenset({"column"})
"""Variables with a `key` that isn't a text's."""

KEYS = frozenset(read_catalogue("en").sentences)


def _constants(tree: ast.Module) -> frozenset[str]:
    """Return the names of the module that stand for a key."""
    assigned = (node for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign))
    named = ((node.targets if isinstance(node, ast.Assign) else [node.target], node.value) for node in assigned)
    targets = (target for targets, value in named if _is_literal(value) for target in targets)
    return frozenset(target.id for target in targets if isinstance(target, ast.Name))


def _is_literal(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Constant) and node.value in KEYS


def _is_key(node: ast.AST, constants: frozenset[str]) -> bool:
    """Return whether the expression is a key, or holds keys to compare with."""
    match node:
        case ast.Attribute(value=ast.Name(id=name), attr="key"):
            return name not in OTHER_KEYS
        case ast.Attribute(attr="key"):
            return True
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in constants
        case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Set(elts=elements):
            return any(_is_key(each, constants) for each in elements)
        case _:
            return _is_literal(node)


def compared_keys(source: str) -> Iterator[int]:
    """Yield the lines that compare a key, or look into one."""
    tree = ast.parse(source)
    constants = _constants(tree)
    for node in ast.walk(tree):
        match node:
            case ast.Compare(left=left, comparators=others):
                compared = [left, *others]
            case ast.Match(subject=subject):
                compared = [subject]
            case ast.Call(func=ast.Attribute(value=looked_into, attr=method)) if method in SEARCHES:
                compared = [looked_into]
            case _:
                continue
        if any(_is_key(each, constants) for each in compared):
            yield compared[0].lineno


def test_nothing_is_decided_by_the_key_of_a_text() -> None:
    found = [f"{path}:{line}" for path in paths() for line in compared_keys((ROOT / path).read_text("utf-8"))]
    assert found == []


@pytest.mark.parametrize(
    "source",
    [
        'rejection.key == "core.amount.foreign"',
        "rejection.key != STALE",
        '".amount." in rejection.key',
        'rejection.key.startswith("orders.limits.")',
        'rejection.key in {"core.amount.foreign", "core.amount.unreadable"}',
        'key == "core.amount.foreign"',
        'STALE = "users.stale.button"\nis_old = key == STALE',
        'match rejection.key:\n    case "core.amount.foreign":\n        pass',
        "any(each.key == remark for each in line.rejections)",
    ],
)
def test_a_decision_by_a_key_is_found(source: str) -> None:
    assert list(compared_keys(source))


@pytest.mark.parametrize(
    "source",
    [
        't("core.amount.foreign") == shown',
        "t.translate(rejection)",
        "refusal = Refusal(key=rejection.key)",
        'column.key == "evidence"',
        "method.key() == order.method.key()",
        "key = FIRST if is_first else SECOND",
    ],
)
def test_choosing_a_text_is_no_decision_by_one(source: str) -> None:
    assert list(compared_keys(source)) == []

"""Which sentences the code speaks of: the keys it names, those it builds, and what it fills them with."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.architecture.source import nodes


@cache
def _speakers() -> frozenset[str]:
    """Return the names of what takes a key first, as `session.t(…)`, `t.plural(…)` and `Rejection(…)` do."""
    names, bases = {"Rejection", "Remark"}, [node for _, node in nodes() if isinstance(node, ast.ClassDef)]
    for _ in bases:
        found = {each.name for each in bases if any(isinstance(b, ast.Name) and b.id in names for b in each.bases)}
        if found <= names:
            break
        names |= found
    return frozenset({"t", "plural", "plain", "translator", *names})


KEY = re.compile(r"[a-z0-9_]+(\.[a-z0-9_]+)+")
UNFORMATTED = frozenset({"Button", "acknowledge", "plain", "BotCommand"})


@dataclass(frozen=True)
class Spoken:
    """One key that code passes to a speaker; `arguments` is None where they can't be told from the source."""

    key: str
    arguments: frozenset[str] | None
    place: str


def spoken() -> list[Spoken]:
    """Every key that is passed literally to a speaker anywhere in the bot."""
    return [each for path, node in nodes() for each in _in_call(node, path)]


def literals() -> set[str]:
    """Every string in the bot: a key may be named in a table and spoken elsewhere."""
    constants = (node for _, node in nodes() if isinstance(node, ast.Constant))
    return {node.value for node in constants if isinstance(node.value, str)}


def beginnings() -> set[str]:
    """The fixed beginnings of keys that are built: `f"channel.{name}"` gives `channel.`."""
    joined = (node.values[0] for _, node in nodes() if isinstance(node, ast.JoinedStr) and node.values)
    starts = {str(first.value) for first in joined if isinstance(first, ast.Constant)}
    return {start for start in starts if re.fullmatch(r"[a-z_]+\.[a-z_.]*", start)}


def shown_without_markup() -> set[str]:
    """The keys of what Telegram shows as plain text: labels of buttons, answers to presses."""
    calls = (node for _, node in nodes() if isinstance(node, ast.Call) and _name(node) in UNFORMATTED and node.args)
    return {key for call in calls for key in (*_keys(call.args[0]), *_inner_keys(call.args[0]))}


def _inner_keys(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Call) and _name(node) in _speakers() and node.args:
        yield from _keys(node.args[0])


def _name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _in_call(node: ast.AST, path: Path) -> Iterator[Spoken]:
    if not isinstance(node, ast.Call) or not node.args:
        return
    name = _name(node)
    if name == "__init__" and any(KEY.fullmatch(key) for key in _keys(node.args[0])):
        name = "Rejection"  # a class that always has the same key
    if name not in _speakers():
        return
    for key in _keys(node.args[0]):
        yield Spoken(key, _arguments(node, name), f"{path}:{node.lineno}")


def _keys(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    if isinstance(node, ast.IfExp):
        yield from _keys(node.body)
        yield from _keys(node.orelse)


def _arguments(call: ast.Call, name: str) -> frozenset[str] | None:
    names = [keyword.arg for keyword in call.keywords]
    if None in names or name in {"Remark", "LikeMobile"}:
        return None
    counted = {"count"} if name == "plural" else set()
    return frozenset({each for each in names if each} | counted)

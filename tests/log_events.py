"""Which events the code logs."""

import ast
from typing import Final

from tests.source import nodes

METHODS: Final = frozenset({"debug", "info", "warning", "error", "exception"})


def log_events() -> dict[str, set[str]]:
    """Return the places of each event that the bot and its tools log, by its name; the sandbox's are left out.

    Raises:
        ValueError: an event's name is not a literal, so it can't be found in the source.
    """
    found: dict[str, set[str]] = {}
    for path, node in nodes():
        if isinstance(node, ast.Call) and _is_log(node.func):
            place = f"{path}:{node.lineno}"
            found.setdefault(_event(node, place), set()).add(place)
    return found


def _is_log(called: ast.expr) -> bool:
    return (
        isinstance(called, ast.Attribute)
        and called.attr in METHODS
        and isinstance(called.value, ast.Name)
        and called.value.id == "log"
    )


def _event(call: ast.Call, place: str) -> str:
    first = call.args[0] if call.args else None
    if isinstance(first, ast.Constant) and isinstance(first.value, str):
        return first.value
    raise ValueError(f"{place}: write the event's name as a literal")

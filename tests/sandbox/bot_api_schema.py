"""Checks the sandbox's answers against a machine-readable description of the Bot API 10.1."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SCHEMA: dict[str, Any] = json.loads((Path(__file__).parent / "data" / "bot-api-extract.json").read_text())
_PLAIN: dict[str, type] = {"Integer": int, "String": str, "Float": float}


def problems(value: Any, kinds: list[str], where: str) -> list[str]:
    """Return what is wrong with a value that should be one of `kinds`, or an empty list."""
    found = [_problems(value, kind, where) for kind in kinds]
    return min(found, key=len)


def _problems(value: Any, kind: str, where: str) -> list[str]:
    if kind.startswith("Array of "):
        if not isinstance(value, list):
            return [f"{where}: no list"]
        inner = kind.removeprefix("Array of ")
        return [each for index, item in enumerate(value) for each in _problems(item, inner, f"{where}[{index}]")]
    if kind in {"Boolean", "True"}:
        return [] if value is True or (kind == "Boolean" and value is False) else [f"{where}: no {kind}"]
    if kind in _PLAIN:
        fits = isinstance(value, _PLAIN[kind]) and not isinstance(value, bool)
        return [] if fits else [f"{where}: no {kind}: {value!r}"]
    if kind in SCHEMA["unions"]:
        known = [name for name in SCHEMA["unions"][kind] if name in SCHEMA["types"]]
        return problems(value, known, where)
    return _object_problems(value, kind, where)


def _object_problems(value: Any, kind: str, where: str) -> list[str]:
    fields = SCHEMA["types"].get(kind)
    if fields is None:
        return [f"{where}: the sandbox serves no {kind}"]
    if not isinstance(value, dict):
        return [f"{where}: no object"]
    found = [f"{where}: {kind} has no {name}" for name in value if name not in fields]
    for name, field in fields.items():
        if name in value:
            found += problems(value[name], field["types"], f"{where}.{name}")
        elif field["required"]:
            found.append(f"{where}: {kind} lacks {name}")
    return found

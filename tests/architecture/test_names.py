"""No name in the code is one of the terms that the first version invented: newcomers can't know what they mean."""

import ast
import re
from pathlib import Path
from typing import Final

import pytest

from tests.architecture.source import ROOT

INVENTED: Final = frozenset(
    {
        "clerk",
        "courier",
        "desk",
        "entrance",
        "errand",
        "foretold",
        "house",
        "lane",
        "news",
        "nudge",
        "nursery",
        "oddity",
        "patience",
        "teller",
        "town",
        "untellable",
        "unshown",
        "visit",
    }
)
"""What to say instead is in the glossary of docs/architecture.md."""

SOMEWHERE: Final = re.compile("|".join(sorted(INVENTED)), re.IGNORECASE)

FOREIGN: Final = frozenset({"visit", "visit_Name", "generic_visit"})
"""Names that libraries give: Python's `ast.NodeVisitor`."""

FILES: Final = tuple(path for folder in ("bot", "tests") for path in sorted((ROOT / folder).rglob("*.py")))


def _words(name: str) -> set[str]:
    """Return the words of a name, in small letters and without the plural: `OrderDesks` gives order and desk."""
    words = {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)}
    return words | {word.removesuffix("s") for word in words}


def _names(path: Path) -> set[str]:
    """Return what a module is called, and all that it names if one of the terms is in its source.

    The names of tests are sentences, so they are left out.
    """
    found = {path.stem, *path.relative_to(ROOT).parts[:-1]}
    source = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(source)) if SOMEWHERE.search(source) else ():
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name) | ast.keyword(arg=str(name)):
                found.add(name)
    return {name for name in found - FOREIGN if not name.startswith("test_")}


def test_no_name_is_a_term_that_was_invented_here() -> None:
    assert FILES
    found = {f"{path.relative_to(ROOT)}: {name}" for path in FILES for name in _names(path) if _words(name) & INVENTED}
    assert found == set()


def test_a_name_is_found_anywhere_in_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.architecture.test_names.ROOT", tmp_path)
    for line in ("def serve_desks(): ...", "class DeskTable: ...", "x.DESK = 1", "f(my_desk=1)", "lambda desk: 1"):
        (tmp_path / "module.py").write_text(line)
        assert [name for name in _names(tmp_path / "module.py") if _words(name) & INVENTED], line


def test_an_invented_term_is_found_in_any_spelling() -> None:
    for name in ("Desk", "order_desks", "OrderDesk", "_DESK", "visitors_town"):
        assert _words(name) & INVENTED, name
    assert not _words("desktop") & INVENTED

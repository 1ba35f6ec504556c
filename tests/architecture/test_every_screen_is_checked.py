"""Each screen is built by a test that reads it as Telegram does.

Those tests use `check_screen` (`tests/screens.py`), or give their screens to `every_screen.py`.
"""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.architecture.source import ROOT, paths

TESTS: Final = ROOT / "tests"
COLLECTED: Final = "*_screens.py"
"""The files whose screens `every_screen.py` yields."""

FIXED: Final = {
    "bot.checkout.screens.draft": {"cancelled", "damaged", "nothing_to_cancel"},
}
"""Module -> screens that are one text with buttons from the catalogue: nothing from outside can make them wrong."""


def _screens() -> Iterator[tuple[str, str]]:
    """Yield the module and the name of each public function in `screens` that returns a screen."""
    for path in paths():
        parts = path.with_suffix("").parts
        if "screens" in parts:
            for node in ast.parse((ROOT / path).read_text("utf-8")).body:
                if not isinstance(node, ast.FunctionDef) or node.returns is None or node.name.startswith("_"):
                    continue
                if ast.unparse(node.returns).startswith("Screen"):
                    yield ".".join(parts), node.name


def _checked(path: Path) -> Iterator[tuple[str, str]]:
    """Yield what a file of tests uses of other modules, as module and name."""
    tree = ast.parse(path.read_text("utf-8"))
    modules: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                modules[alias.asname or alias.name] = f"{node.module}.{alias.name}"
                yield node.module, alias.name
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            yield modules[node.value.id], node.attr


def _files() -> set[Path]:
    """Return the files of tests that read screens as Telegram does."""
    using = {path for path in TESTS.rglob("*.py") if "check_screen" in path.read_text("utf-8")}
    return using | set(TESTS.rglob(COLLECTED)) | {TESTS / "architecture" / "every_screen.py"}


def test_each_screen_is_read_as_telegram_does() -> None:
    checked = {each for path in _files() for each in _checked(path)}
    missing = [
        f"{module.replace('.', '/')}.py: {name}"
        for module, name in _screens()
        if (module, name) not in checked and name not in FIXED.get(module, ())
    ]
    assert missing == [], "yield these screens in tests/architecture/every_screen.py, with what comes from outside"


def test_each_fixed_screen_exists() -> None:
    assert {(module, name) for module, names in FIXED.items() for name in names} <= set(_screens())

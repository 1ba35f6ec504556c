"""What pyproject.toml asks for, and what the lock files have."""

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from typing import Final

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.architecture.source import BOT, ROOT, pins

PYPROJECT: Final = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT: Final = PYPROJECT["project"]
ONLY_AT_RUN_TIME: Final = {"aiosqlite", "sniffio", "tzdata"}
"""SQLAlchemy imports the first by the database's URL, httpcore the second, and `zoneinfo` reads the third."""

LOCKS: Final = {
    "requirements.lock": PROJECT["dependencies"],
    "requirements-mcp.lock": PYPROJECT["dependency-groups"]["agents"],
    "requirements-build.lock": PYPROJECT["dependency-groups"]["build"],
}
COMPLETE: Final = pins((ROOT / "requirements-dev.lock").read_text(encoding="utf-8"))


def _names(requirements: list[str]) -> set[str]:
    return {canonicalize_name(Requirement(each.partition(" --hash")[0]).name) for each in requirements}


def test_every_library_that_is_imported_is_declared_and_no_other() -> None:
    imported = set()
    for path in BOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                imported.add(node.module.partition(".")[0])
    providers = packages_distributions()
    needed = {
        canonicalize_name(provider)
        for module in imported - sys.stdlib_module_names - {"bot"}
        for provider in providers[module]
    }
    assert needed | ONLY_AT_RUN_TIME == _names(LOCKS["requirements.lock"])


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_file_has_what_is_declared_as_the_tests_have_it(lock: str) -> None:
    pinned = pins((ROOT / lock).read_text(encoding="utf-8"))
    assert _names(LOCKS[lock]) <= _names(pinned)
    # A condition can be simpler where fewer packages ask for one.
    assert {re.sub(" ;.*?(?= --hash)", "", each) for each in pinned} <= {
        re.sub(" ;.*?(?= --hash)", "", each) for each in COMPLETE
    }
    assert all(" --hash=sha256:" in each for each in pinned)


@pytest.mark.parametrize("lock", [*LOCKS, "requirements-dev.lock"])
def test_a_lock_file_names_no_index(lock: str) -> None:
    lines = (ROOT / lock).read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if not re.match(r"[a-z0-9.-]+==|    --hash=sha256:[0-9a-f]{64}", line)] == []


def test_the_build_backend_is_the_locked_one() -> None:
    assert PYPROJECT["build-system"]["requires"] == LOCKS["requirements-build.lock"]
    [backend] = PYPROJECT["build-system"]["requires"]
    assert [each for each in COMPLETE if each.startswith(f"{backend} ")]

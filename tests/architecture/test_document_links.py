"""Links and paths in the documents lead somewhere, and every document can be reached from the README."""

import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.architecture.documents import DOCUMENTS, ROOT, anchors, links


def targets(path: Path) -> list[tuple[Path, str]]:
    """Return the files and anchors that a document links to, without links to other sites."""
    local = [urlsplit(link) for link in links(DOCUMENTS[path]) if not urlsplit(link).scheme]
    return [((path.parent / each.path).resolve() if each.path else path, each.fragment) for each in local]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_relative_links_lead_to_files_and_headings(path: Path) -> None:
    for target, anchor in targets(path):
        assert target.exists(), f"{target} doesn't exist"
        if anchor:
            assert anchor in anchors(DOCUMENTS[target]), f"{target} has no heading #{anchor}"


def test_every_document_can_be_reached_from_the_readme() -> None:
    reached, waiting = set(), [ROOT / "README.md"]
    while waiting:
        path = waiting.pop()
        if path in DOCUMENTS and path not in reached:
            reached.add(path)
            waiting += [target for target, _ in targets(path)]
    assert reached == set(DOCUMENTS)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_and_modules_that_a_document_names_exist(path: Path) -> None:
    assert [name for name in _paths_in(DOCUMENTS[path]) if not _exists(name)] == []


def _paths_in(text: str) -> list[str]:
    packages = {each.parent.name for each in (ROOT / "bot").glob("*/__init__.py")}
    known = packages | {"bot", "docs", "locales", "ops", "tests"}
    return [name for name in re.findall(r"`([a-z_]+/[\w/.*-]*)`", text) if name.partition("/")[0] in known]


def _exists(name: str) -> bool:
    """Return whether a file, folder or module has this name, written from the root or from `bot/`."""
    module = re.sub(r"\.\w+$", "", name)  # without a function's name
    return any(any(base.glob(each)) for base in (ROOT, ROOT / "bot") for each in (name, f"{name}.py", f"{module}.py"))

"""Each promise in `tests/README.md`, and each point of the agents' contract, names tests that exist."""

import re
from collections.abc import Iterator

from tests.architecture.documents import ROOT, rows

TABLES = re.compile(r"^\|.*\| tests? \|\n\|[-| ]+\|\n((?:\|.*\n)+)", re.MULTILINE | re.IGNORECASE)


def test_each_promise_is_listed_once_with_tests_that_exist() -> None:
    lines = "".join(TABLES.findall((ROOT / "tests/README.md").read_text(encoding="utf-8"))).splitlines()
    promises = [line.split("|")[1].strip() for line in lines]
    assert len(promises) > 100, "the tables aren't found"
    assert sorted(set(promises)) == sorted(promises)
    assert [(line, name) for line in lines for name in find_missing(line.split("|")[-2])] == []


def test_each_point_of_the_agents_contract_has_tests_that_exist() -> None:
    contract = rows("agent-contract")
    assert {section.partition(".")[0] for section, *_ in contract} == {"4", "5", "7", "8"}
    assert [(point, name) for _, point, tests in contract for name in find_missing(tests)] == []


def find_missing(cell: str) -> Iterator[str]:
    """Yield names of files without tests, and of tests that their file, or that of the name before, doesn't have."""
    file = ""
    for name in re.findall("`([^`]*)`", cell) or [""]:
        file, test = name.partition("::")[0] or file, name.partition("::")[2]
        path = ROOT / "tests" / file
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        if not re.search(rf"def {test}\(" if test else "def test_", text):
            yield name

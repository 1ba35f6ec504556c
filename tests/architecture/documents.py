"""The documents, and parts of them found by markers, so that headings and files can change."""

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
DOCUMENTS: Final = {
    path: path.read_text(encoding="utf-8")
    for path in (
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        ROOT / "CHANGELOG.md",
        ROOT / "SECURITY.md",
        *sorted((ROOT / "docs").rglob("*.md")),
    )
}


def part(name: str) -> str:
    """Return what is between `<!-- name:begin -->` and `<!-- name:end -->`, in the document that has it.

    Raises:
        ValueError: a marker is missing, or there is more than one.
    """
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    lines = [(path, line) for path, text in DOCUMENTS.items() for line in text.splitlines()]
    marks = [(path, line) for path, line in lines if line in (begin, end)]
    if len(marks) != 2 or marks[0][1] != begin or marks[1] != (marks[0][0], end):
        raise ValueError(f"the documents need one line {begin} and after it one line {end}, in the same file")
    return DOCUMENTS[marks[0][0]].partition(f"{begin}\n")[2].partition(f"\n{end}")[0]


def check_listed(name: str, listed: Iterable[str], known: Iterable[str]) -> None:
    """Assert that the documents list in this part what the code has, once each.

    Raises:
        AssertionError: something is missing or too much. The error says what, and in which document.
    """
    there, here = Counter(listed), Counter(dict.fromkeys(known, 1))
    missing, extra = sorted((here - there).elements()), sorted((there - here).elements())
    path = next(path for path, text in DOCUMENTS.items() if f"<!-- {name}:begin -->" in text.splitlines())
    where = f"{path.relative_to(ROOT)}, between <!-- {name}:begin --> and <!-- {name}:end -->"
    assert not missing, f"add a row for each of {missing} to {where}"
    assert not extra, f"remove the rows of {extra} from {where}: the code doesn't have them, or they are there twice"


def rows(name: str) -> list[list[str]]:
    """Return the cells of the tables in that part, row by row, without their heads."""
    tables = re.findall(r"^\|.*\n\|[-| :]+\n((?:\|.*(?:\n|$))*)", part(name), re.MULTILINE)
    lines = [line for table in tables for line in table.splitlines()]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]


def without_code(text: str) -> str:
    """Return a document without fenced blocks and code spans."""
    fenceless = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", "", fenceless)


def links(text: str) -> list[str]:
    """Return the targets of a document's links and pictures, in order."""
    return re.findall(r"\]\(([^)\s]+)\)", without_code(text))


def anchors(text: str) -> set[str]:
    """Return the anchors that GitHub gives a document's headings."""
    fenceless = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    seen: Counter[str] = Counter()
    found = set()
    for heading in re.findall(r"^#{1,6} +(.+?) *$", fenceless, re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
        found.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
        seen[slug] += 1
    return found

"""Parts of the README, found by their markers, so that a heading's wording can change."""

from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
README: Final = (ROOT / "README.md").read_text(encoding="utf-8")


def part(name: str) -> str:
    """Return what is between `<!-- name:begin -->` and `<!-- name:end -->`.

    Raises:
        ValueError: a marker is missing, or there is more than one.
    """
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    if (README.count(begin), README.count(end)) != (1, 1):
        raise ValueError(f"the README needs one {begin} and one {end}")
    return README.partition(begin)[2].partition(end)[0]


def rows(name: str) -> list[list[str]]:
    """Return the cells of the table in that part, row by row, without its head."""
    lines = [line for line in part(name).splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2:]]

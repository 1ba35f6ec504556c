"""What stands in a database's files, byte by byte."""

from collections.abc import Iterable
from pathlib import Path


def files_of(database: str | Path) -> list[Path]:
    """All files of an SQLite database: itself, its log, its index, its lock."""
    path = Path(str(database).removeprefix("sqlite:///"))
    return sorted(each for each in path.parent.iterdir() if each.name.startswith(path.name))


def found_in(database: str | Path, texts: Iterable[str]) -> dict[str, list[str]]:
    """File -> which of `texts` stand in it, as UTF-8, as UTF-16 or in hexadecimal."""
    wanted = {text: (text.encode(), text.encode("utf-16-le"), text.encode().hex().encode()) for text in texts}
    found = {}
    for file in files_of(database):
        content = file.read_bytes()
        there = [text for text, forms in wanted.items() if any(form in content for form in forms)]
        if there:
            found[file.name] = there
    return found

"""The bot's source and lock files as the tests look through it, read once for all of them."""

import ast
import re
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
BOT: Final = ROOT / "bot"


@cache
def paths() -> tuple[Path, ...]:
    """Return the files of the bot and its tools, from the root; the sandbox is left out."""
    return tuple(
        path.relative_to(ROOT) for path in sorted(BOT.rglob("*.py")) if "sandbox" not in path.relative_to(BOT).parts
    )


@cache
def nodes() -> tuple[tuple[Path, ast.AST], ...]:
    """Return every node of these files' source, with the path of its file."""
    return tuple((path, node) for path in paths() for node in ast.walk(ast.parse((ROOT / path).read_text("utf-8"))))


def pins(lock: str) -> list[str]:
    """Return each requirement of a lock file with its condition and its hashes, on one line."""
    joined = lock.replace("\\\n", " ").splitlines()
    return [" ".join(line.split()) for line in joined if re.match(r"[A-Za-z0-9]", line)]

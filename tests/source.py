"""The bot's source as the tests look through it, read once for all of them."""

import ast
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
BOT: Final = ROOT / "bot"


@cache
def nodes() -> tuple[tuple[Path, ast.AST], ...]:
    """Return every node of the bot and its tools, with the path of its file from the root; the sandbox is left out."""
    paths = [
        path.relative_to(ROOT) for path in sorted(BOT.rglob("*.py")) if "sandbox" not in path.relative_to(BOT).parts
    ]
    return tuple((path, node) for path in paths for node in ast.walk(ast.parse((ROOT / path).read_text("utf-8"))))

"""An older version of the program, to measure the same before and after in one run."""

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]

BEFORE: Final = "cba80ada"
"""The commit to compare with. Later ones ask an order's questions in the same words."""


@contextmanager
def older_version(commit: str = BEFORE) -> Iterator[Path | None]:
    """Yield a folder with that version, or None if this copy of the repository doesn't have the commit."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / commit
        if _git("worktree", "add", "--detach", str(folder), commit) != 0:
            yield None
            return
        try:
            yield folder
        finally:
            _git("worktree", "remove", "--force", str(folder))


def _git(*arguments: str) -> int:
    command = ("git", "-C", str(ROOT), *arguments)
    return subprocess.run(command, capture_output=True, check=False).returncode

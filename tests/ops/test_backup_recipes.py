"""The commands for backups in docs/setup.md make files that only their owner reads, and that git doesn't take along."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.architecture.documents import ROOT

PROGRAMS = {
    "pg_dump": 'echo dump > "$4"',
    "sqlite3": 'name=${2#.backup }; echo dump > "$name"',
    "docker": 'echo dump > "$4/kirim-1.dump"',
}
"""Programs that write a file where the real ones do, with the rights that the shell gives it."""

SECTION = (ROOT / "docs" / "setup.md").read_text(encoding="utf-8").partition("\n## Backup and restore\n")[2]
RECIPES = re.findall(r"^\$ (.*?) +#", re.search(r"```console\n(.*?)```", SECTION, re.DOTALL)[1], re.MULTILINE)  # type: ignore[index]


@pytest.mark.process
def test_only_their_owner_reads_backups_and_git_ignores_them(tmp_path: Path) -> None:
    programs, folder = tmp_path / "programs", tmp_path / "kirim"
    programs.mkdir()
    folder.mkdir()
    for name, script in PROGRAMS.items():
        (programs / name).write_text(f"#!/bin/sh\n{script}\n")
        (programs / name).chmod(0o755)
    assert len(RECIPES) == len(PROGRAMS)
    for recipe in RECIPES:
        environment = {"PATH": f"{programs}:/usr/bin:/bin"}
        subprocess.run(["/bin/sh", "-c", f"umask 022; {recipe}"], cwd=folder, env=environment, check=True)
    made = [path for path in folder.rglob("*") if path.is_file()]
    assert len(made) == len(RECIPES)
    for path in made:
        guard = path if path.parent == folder else path.parent
        assert guard.stat().st_mode & 0o077 == 0, path
    names = [str(path.relative_to(folder)) for path in made]
    ignored = subprocess.run(["git", "check-ignore", *names], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ignored.stdout.split() == names

"""The commands for backups in docs/setup.md: only their owner reads the files, and SQLite's can be restored."""

import re
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest

from bot.infra.db.database import Database
from bot.users.model import User
from bot.users.repository import UserRepository
from tests.architecture.documents import ROOT
from tests.infra.keys import VAULT
from tests.times import NOW

COPY = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).backup(sqlite3.connect(sys.argv[2].removeprefix('.backup ')))"
PROGRAMS = {
    "pg_dump": 'echo dump > "$4"',
    "sqlite3": f'{sys.executable} -c "{COPY}" "$@"',
    "docker": 'echo dump > "$4/kirim-1.dump"',
}
"""Programs that write a file where the real ones do, with the rights that the shell gives it."""

SECTION = (ROOT / "docs" / "setup.md").read_text(encoding="utf-8").partition("\n## Backup and restore\n")[2]
RECIPES = re.findall(r"^\$ (.*?) +#", re.search(r"```console\n(.*?)```", SECTION, re.DOTALL)[1], re.MULTILINE)  # type: ignore[index]
RESTORE = re.search(r"\$ (rm .*)", SECTION)[1].replace(" -o kirim", "")  # type: ignore[index]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder where the commands run."""
    for name, script in PROGRAMS.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "kirim" / "data").mkdir(parents=True)
    return tmp_path / "kirim"


def run(recipe: str, folder: Path) -> None:
    environment = {"PATH": f"{folder.parent}:/usr/bin:/bin"}
    subprocess.run(["/bin/sh", "-c", f"umask 022; {recipe}"], cwd=folder, env=environment, check=True)


@pytest.mark.process
async def test_a_backup_of_sqlite_is_made_beside_the_bot_and_restored(folder: Path) -> None:
    database = Database(str(folder / "data" / "kirim.db"), VAULT)
    await database.upgrade()
    (recipe,) = (each for each in RECIPES if "sqlite3" in each)
    for user_id in (1001, 1002):
        async with database.transaction() as tx:
            await UserRepository(tx).save(User(id=user_id, created_at=NOW))
        if user_id == 1001:
            run(recipe, folder)
    await database.close()
    run(RESTORE, folder)
    assert await database.join() == ""
    async with database.reading() as tx:
        assert [await UserRepository(tx).get(each) is not None for each in (1001, 1002)] == [True, False]
    await database.close()


@pytest.mark.process
def test_only_their_owner_reads_backups_and_git_and_the_image_leave_them_out(folder: Path) -> None:
    (folder / "data" / "kirim.db").touch()
    assert len(RECIPES) == len(PROGRAMS)
    for recipe in RECIPES:
        run(recipe, folder)
    (folder / "data" / "kirim.db").unlink()
    made = [path for path in folder.rglob("*") if path.is_file()]
    assert len(made) == len(RECIPES)
    for path in made:
        guard = path if path.parent == folder else path.parent
        assert guard.stat().st_mode & 0o077 == 0, path
    names = [str(path.relative_to(folder)) for path in made]
    ignored = subprocess.run(["git", "check-ignore", *names], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ignored.stdout.split() == names
    patterns = [each.removeprefix("**/") for each in (ROOT / ".dockerignore").read_text().split()]
    assert [name for name in names if not any(fnmatch(name, each) for each in patterns)] == []

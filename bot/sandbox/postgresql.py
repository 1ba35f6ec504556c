"""The PostgreSQL server of a sandbox with several replicas.

It listens only on a socket in its own folder, and keeps its data over a restart of the sandbox.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final
from urllib.parse import quote

from bot.sandbox import process_locks
from bot.sandbox.postgresql_programs import (
    LONGEST_FOLDER,
    NoServer,
    Runner,
    install_postgresql,
    installed,
    other_user,
)

FOLDER: Final = "postgresql"
LOCK: Final = "postgresql.lock"
STOP_SECONDS: Final = "20"
# Five replicas with ten connections each, and some for a look from outside.
SETTINGS: Final = """\
listen_addresses = ''
unix_socket_directories = '{folder}'
unix_socket_permissions = 0700
port = 5432
max_connections = 100
dynamic_shared_memory_type = mmap
"""


def start(state: Path) -> str:
    """Start the server with the data in `state`, and return the URL of its database.

    Raises:
        NoServer: it isn't installed, or doesn't start. The text is one sentence for the user.
    """
    problem = f"Several replicas need PostgreSQL. {install_postgresql()}, or name a database in DATABASE_URL."
    for programs in installed():
        try:
            return _start(state, programs)
        except NoServer as error:
            problem = (
                f"PostgreSQL doesn't start ({error}). Start over with --fresh, or name a database in DATABASE_URL."
            )
    raise NoServer(problem)


def stop(state: Path) -> None:
    """Stop the server with the data in `state`, if it runs."""
    if not process_locks.is_held(state / LOCK):
        return
    folder = (state / FOLDER).resolve()
    for programs in installed():
        run = Runner(programs, folder, other_user(), os.environ)
        # `fast` ends all connections first. `immediate` always works.
        for way in ("fast", "immediate"):
            try:
                run("pg_ctl", "stop", "-m", way, "-t", STOP_SECONDS, "-D", str(folder / "data"))
            except NoServer:
                continue
            # The program returns when the server has deleted its file, just before the server's own end.
            process_locks.is_held(state / LOCK, wait_seconds=process_locks.END_SECONDS)
            return


def delete(state: Path) -> None:
    """Delete the data of a server that has stopped."""
    folder = state / FOLDER
    if folder.is_symlink():
        shutil.rmtree(folder.resolve(), ignore_errors=True)
        folder.unlink()
    elif folder.exists():
        shutil.rmtree(folder)


def _start(state: Path, programs: Path) -> str:
    user = other_user()
    folder = _get_folder(state, user)
    run = Runner(programs, folder, user, os.environ)
    data, unfinished = folder / "data", folder / "data.new"
    if not data.exists():
        # Renamed when it is complete: a kill in the middle leaves no half of a database.
        shutil.rmtree(unfinished, ignore_errors=True)
        run("initdb", "--no-locale", "--encoding=UTF8", "--auth=trust", "--username=postgres", str(unfinished))
        unfinished.rename(data)
    (data / "postgresql.conf").write_text(SETTINGS.format(folder=str(folder).replace("'", "''")), encoding="utf-8")
    try:
        with process_locks.locked(state / LOCK) as lock:
            # The lock shows that no server uses this data. After a power cut the number in the file can be that of
            # another program, and the server wouldn't start.
            (data / "postmaster.pid").unlink(missing_ok=True)
            log = folder / "log"
            log.unlink(missing_ok=True)
            try:
                run("pg_ctl", "start", "--wait", "-D", str(data), "-l", str(log), pass_fds=[lock])
            except NoServer as error:
                raise NoServer(_find_reason(log) or str(error)) from None
    except process_locks.LockHeld:
        raise NoServer("it is still running") from None
    return f"postgresql://postgres@/postgres?host={quote(str(folder), safe='')}"


def _find_reason(log: Path) -> str:
    """Return why the server didn't start, from its log, or nothing."""
    if not log.exists():
        return ""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return next((line.partition("FATAL:")[2].strip() for line in lines if "FATAL:" in line), "")


def _get_folder(state: Path, user: str | None) -> Path:
    """Return the folder of the server's files, created on first use.

    It is in `state`, or `state` has a link to it: a socket's path is short, and the server's user must reach it.
    """
    folder = state.resolve() / FOLDER
    if not folder.exists():
        folder.unlink(missing_ok=True)  # a link to a folder that is gone
        folder.mkdir(mode=0o700)
        _give(folder, user)
        if len(os.fsencode(folder)) > LONGEST_FOLDER or not _can_write(folder, user):
            folder.rmdir()
            elsewhere = Path(tempfile.mkdtemp(prefix="kirim-sandbox-", dir="/var/tmp"))
            _give(elsewhere, user)
            folder.symlink_to(elsewhere)
    return folder.resolve()


def _give(folder: Path, user: str | None) -> None:
    if user:
        shutil.chown(folder, user)


def _can_write(folder: Path, user: str | None) -> bool:
    if user is None:
        return True
    group = pwd.getpwnam(user).pw_gid
    done = subprocess.run(
        ["test", "-w", str(folder)], cwd="/", user=user, group=group, extra_groups=[], check=False, timeout=30
    )
    return done.returncode == 0

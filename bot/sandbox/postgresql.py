"""The PostgreSQL server of a sandbox with several replicas, by the programs that are installed on this machine.

The tests start their own servers with the same programs. The sandbox's listens only on a socket in its own folder, and
keeps its data over a restart of the sandbox.
"""

from __future__ import annotations

import os
import platform
import pwd
import re
import shutil
import subprocess
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from bot.sandbox import process_locks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

PROGRAMS: Final = ("initdb", "pg_ctl", "postgres")
PLACES: Final = (
    "/usr/lib/postgresql/*/bin",
    "/usr/pgsql-*/bin",
    "/usr/libexec/postgresql*",
    "/usr/local/pgsql/bin",
    "/opt/homebrew/opt/postgresql*/bin",
    "/usr/local/opt/postgresql*/bin",
    "/opt/local/lib/postgresql*/bin",
    "/Applications/Postgres.app/Contents/Versions/*/bin",
)
"""Where packages install the server's programs. These folders are often not on the PATH."""
TIMEOUT_SECONDS: Final = 120
"""A limit against hanging."""
LONGEST_FOLDER: Final = 85
"""The maximum length of a folder with a server's socket. A socket's address is limited to 103 bytes on some systems."""
WAIT_APART: Final = 'exec 3<&0; { read -r _; exec "$@"; } <&3 3<&- &'
"""A script whose first process ends at once, so that init becomes the parent of the waiting process."""

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


class NoServer(Exception):
    """There is no usable PostgreSQL server. The text says what was tried last."""


def installed(environment: Mapping[str, str] = os.environ, places: Sequence[str] = PLACES) -> Iterator[Path]:
    """Yield the folders with the programs of a server, without duplicates."""
    path = environment.get("PATH", os.defpath)
    candidates: list[Path] = []
    if config := shutil.which("pg_config", path=path):
        with suppress(OSError, subprocess.SubprocessError):
            shown = subprocess.run([config, "--bindir"], capture_output=True, text=True, check=True, timeout=30)
            candidates.append(Path(shown.stdout.strip()))
    if initdb := shutil.which("initdb", path=path):
        candidates += [Path(initdb).parent, Path(initdb).resolve().parent]
    for place in places:
        found = Path("/").glob(place.lstrip("/"))
        candidates += sorted(found, key=_version_in_path, reverse=True)
    seen: set[Path] = set()
    for candidate in candidates:
        folder = candidate.resolve()
        if folder not in seen and all(os.access(folder / program, os.X_OK) for program in PROGRAMS):
            seen.add(folder)
            yield folder


@dataclass(frozen=True)
class Runner:
    """Runs the programs of the server in its folder, as its user."""

    programs: Path
    folder: Path
    user: str | None
    environment: Mapping[str, str]

    def __call__(self, program: str, *arguments: str, pass_fds: Sequence[int] = ()) -> None:
        """Run one program to its end.

        Raises:
            NoServer: it failed; the text is its last line.
        """
        # Variables for clients, such as PGPORT, must not affect the server. Messages must be in English.
        kept = {name: value for name, value in self.environment.items() if not name.startswith(("PG", "LC_", "LANG"))}
        try:
            done = subprocess.run(
                [self.programs / program, *arguments],
                cwd=self.folder,
                env={**kept, "LC_ALL": "C"},
                user=self.user,
                group=pwd.getpwnam(self.user).pw_gid if self.user else None,
                extra_groups=[] if self.user else None,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
                timeout=TIMEOUT_SECONDS,
                pass_fds=pass_fds,
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise NoServer(f"{program}: {one_line(error)}") from None
        if done.returncode:
            lines = (done.stderr.strip() or done.stdout.strip() or f"exit code {done.returncode}").splitlines()
            raise NoServer(f"{program}: {lines[-1]}")


def other_user() -> str | None:
    """Return the user that runs the server if we are root, else None. PostgreSQL refuses to run as root.

    Raises:
        NoServer: we are root and there is no other user.
    """
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "_postgres", "nobody"):
        with suppress(KeyError):
            return pwd.getpwnam(name).pw_name
    raise NoServer("it can't run as root, and there is no user 'postgres' or 'nobody'")


def install(package: str, *, brew: str) -> str:
    """Return the beginning of a sentence, with the install command of this system."""
    if platform.system() == "Darwin":
        return f"Install it with `brew install {brew}`"
    for manager, command in (("apt-get", "apt install"), ("dnf", "dnf install"), ("pacman", "pacman -S")):
        if shutil.which(manager):
            return f"Install it with `{command} {package}`"
    return f"Install the package {package}"


def install_postgresql() -> str:
    """Return the beginning of a sentence, with the command that installs PostgreSQL on this system."""
    return install("postgresql", brew="postgresql@17")


def run_at_end(
    command: Sequence[str], *, folder: Path, environment: Mapping[str, str] | None = None
) -> Callable[[], None]:
    """Run `command` in `folder` once this process has ended, or when the returned function is called.

    A shell waits for that. It reads a pipe that only this process writes to, and that closes when this process ends,
    even on SIGKILL. It has a session of its own, so that Ctrl-C doesn't reach it, and no parent among our processes,
    so that whoever kills this process with all its descendants doesn't find it.
    """
    waiting = subprocess.Popen(
        ["sh", "-c", WAIT_APART, "sh", *command],
        cwd=folder,
        env={**os.environ, **(environment or {})},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    waiting.wait(TIMEOUT_SECONDS)

    def end() -> None:
        # It writes nothing. Its output closes when it ends.
        waiting.communicate(b"\n", TIMEOUT_SECONDS)

    return end


def one_line(error: BaseException) -> str:
    """Return the text of an error on one line, or its kind if it has none."""
    return " ".join(str(error).split()) or type(error).__name__


def _version_in_path(folder: Path) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", str(folder)))


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

    It is in `state`, or `state` has a link to it: a socket's path is short, and the server's user may not enter it.
    """
    folder = state.resolve() / FOLDER
    if not folder.exists():
        folder.unlink(missing_ok=True)  # a link to a folder that is gone
        folder.mkdir(mode=0o700)
        if len(os.fsencode(folder)) > LONGEST_FOLDER or user is not None:
            folder.rmdir()
            elsewhere = Path(tempfile.mkdtemp(prefix="kirim-sandbox-", dir="/var/tmp"))
            if user is not None:
                shutil.chown(elsewhere, user)
            folder.symlink_to(elsewhere)
    return folder.resolve()

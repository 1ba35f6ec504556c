"""The programs of a PostgreSQL server that are installed on this machine: find them, and run them.

The sandbox starts a server of its own for several replicas, and so do the tests.
"""

from __future__ import annotations

import os
import platform
import pwd
import re
import shutil
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

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

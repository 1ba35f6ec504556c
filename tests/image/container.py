"""Run programs in the built image as a container engine would, with the least that it can give.

A program has the image's files read-only, with an empty `/data` and `/tmp` of its own, the image's user, no capability,
and no way to get one. It shares the network with the tests, so that it reaches their servers.
"""

import asyncio
import json
import os
import shlex
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.waiting import TIMEOUT_SECONDS

BUILT: Final = Path(os.environ["KIRIM_IMAGE"])
CONFIG: Final[dict[str, Any]] = json.loads((BUILT / "config.json").read_text(encoding="utf-8"))["Docker"]["config"]
ENVIRONMENT: Final = dict(each.split("=", 1) for each in CONFIG["Env"])
PREPARE: Final = """
set -eu
mount --rbind {root} {root}
mount -o remount,bind,ro {root}
mount -t proc proc {root}/proc
mount --rbind /dev {root}/dev
mount -t tmpfs -o mode=1777,size=16m tmpfs {root}/tmp
mount --bind {data} {root}/data
exec chroot {root} setpriv --reuid {user} --regid {group} --clear-groups --bounding-set=-all --inh-caps=-all \
  --no-new-privs -- sh -c 'cd {folder} && exec "$@"' sh {command}
"""


@dataclass(frozen=True)
class Container:
    """A running program of the image. `pid` is the program itself."""

    process: asyncio.subprocess.Process
    log: Path

    def read_log(self) -> str:
        """Return what it has written so far."""
        return self.log.read_text(encoding="utf-8")

    async def says(self, words: str) -> str:
        """Wait until it has written `words`, and return its output so far."""
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while words not in self.read_log():
                assert self.process.returncode is None, self.read_log()
                await asyncio.sleep(0.1)
        return self.read_log()


@asynccontextmanager
async def running(
    data: Path, command: Sequence[str] = CONFIG["Cmd"], *, log: Path, **settings: str
) -> AsyncIterator[Container]:
    """Run a command of the image, by default its own, with `data` as its volume."""
    with log.open("wb") as out:
        process = await asyncio.create_subprocess_exec(
            *("unshare", "--mount", "--propagation", "private", "sh", "-c", _script(data, command)),
            env=_environment(settings),
            stdout=out,
            stderr=out,
        )
    try:
        yield Container(process, log)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


def _script(data: Path, command: Sequence[str]) -> str:
    user, _, group = CONFIG["User"].partition(":")
    os.chown(data, int(user), int(group))
    root = shlex.quote(str(BUILT / "root"))
    return PREPARE.format(
        root=root,
        data=shlex.quote(str(data)),
        user=user,
        group=group,
        folder=CONFIG["WorkingDir"],
        command=shlex.join(command),
    )


def _environment(settings: Mapping[str, str]) -> dict[str, str]:
    return {**ENVIRONMENT, **settings}

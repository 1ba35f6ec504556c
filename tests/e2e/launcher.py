"""Starts bots from a process that has read all of the bot's code before: a story needs not wait for that each time.

A bot is a fork of it, a process of its own like any other: in its own words `python -m bot run`, with an environment,
a folder and a log of its own, to be killed at any time. The tools of agents, `python -m bot mcp`, come from it as well.
What starting cold is like is seen in `test_processes*.py`.

A test's own program comes from it as well, where it has a `main`.

Run as a program, this file is that process. It is asked over a socket, in one line of JSON with the bot's standard
input, output and log attached, and answers with the bot's process id, then with how it ended.
"""

import asyncio
import atexit
import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import NoReturn

import bot
from tests.waiting import TIMEOUT_SECONDS

ROOT = Path(bot.__file__).parents[1]
LONGEST_REQUEST = 65_536
MOST_FILES = 4096
BOT = "bot.__main__"
CODE = {
    "run": "bot.process",
    "mcp": "bot.mcp_server.command",
    "sandbox": "bot.sandbox.run",
    "migrate": "bot.process",
    "check": "bot.app",
    "rotate-keys": "bot.app",
}
"""What is read before the first bot of a kind is born."""


class Child:
    """A bot that was started here; it looks like a process of asyncio's, as far as the stories use one."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._ended = asyncio.ensure_future(self._end(reader, writer))

    def send_signal(self, sent: signal.Signals) -> None:
        """Send it this signal, unless it has ended, which may not have been heard of yet."""
        if self.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, sent)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Kill -9."""
        self.send_signal(signal.SIGKILL)

    async def wait(self) -> int:
        """Its exit code, once it has ended; of a killed one the signal's number, negative."""
        return await asyncio.shield(self._ended)

    async def _end(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> int:
        code = os.waitstatus_to_exitcode(int(await reader.readline()))
        self.returncode = code
        writer.close()
        return code


class Launcher:
    """The process that bots come from, as its user sees it. It ends with whoever has started it."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="kirim-nursery-")
        self._path = f"{self._folder.name}/socket"
        self._process = subprocess.Popen(
            [sys.executable, "-m", __spec__.name, self._path],
            cwd=ROOT,
            env={name: value for name, value in os.environ.items() if name in {"PATH", "HOME", "LANG"}},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == b"ready\n"

    async def start(
        self,
        arguments: Sequence[str],
        *,
        environment: Mapping[str, str],
        log: int,
        stdin: int | None = None,
        stdout: int | None = None,
        folder: Path | None = None,
        program: str = BOT,
    ) -> Child:
        """Start `python -m <program> <arguments>` with this environment and no other; all it says goes to `log`.

        It has nothing to read unless `stdin` is given; to `stdout` goes what isn't meant for the log.
        """
        request = json.dumps(
            {
                "program": program,
                "arguments": list(arguments),
                "environment": dict(environment),
                "folder": str(folder or Path.cwd()),
            }
        )
        line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        line.connect(self._path)
        nothing = os.open(os.devnull, os.O_RDONLY)
        ends = (nothing if stdin is None else stdin, log if stdout is None else stdout, log)
        socket.send_fds(line, [request.encode()], ends)
        os.close(nothing)
        reader, writer = await asyncio.open_unix_connection(sock=line)
        return Child(reader, writer, int(await asyncio.wait_for(reader.readline(), TIMEOUT_SECONDS)))

    def close(self) -> None:
        """End it."""
        self._process.communicate()
        self._folder.cleanup()


@cache
def launcher() -> Launcher:
    """The process that this process's bots come from."""
    started = Launcher()
    atexit.register(started.close)
    return started


def serve(path: str) -> None:
    """Be that process, until standard input ends."""
    # Only here: whoever asks needs none of it.
    import bot.__main__  # noqa: F401, PLC0415
    from bot.infra.i18n import Translations  # noqa: PLC0415

    Translations.load()  # what was read stays read

    ended, tell = os.pipe()
    os.set_blocking(tell, False)
    signal.set_wakeup_fd(tell)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    requests = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    requests.bind(path)
    requests.listen()
    lines: dict[int, socket.socket] = {}
    os.write(sys.stdout.fileno(), b"ready\n")
    while True:
        readable, _, _ = select.select([sys.stdin.fileno(), ended, requests], [], [])
        if sys.stdin.fileno() in readable:
            return
        if ended in readable:
            os.read(ended, 512)
            _tell_ends(lines)
        if requests in readable:
            line, _ = requests.accept()
            _bear(line, lines)


def _bear(line: socket.socket, lines: dict[int, socket.socket]) -> None:
    text, ends, _, _ = socket.recv_fds(line, LONGEST_REQUEST, 3)
    request = json.loads(text)
    program = importlib.import_module(request["program"])
    if request["program"] == BOT:
        importlib.import_module(CODE[request["arguments"][0]])
    gc.freeze()  # so that no child looks all of it through again, which copies what it would share
    pid = os.fork()
    if pid == 0:
        _be_the_program(program, request, ends)
    for end in ends:
        os.close(end)
    line.send(f"{pid}\n".encode())
    lines[pid] = line


def _be_the_program(
    program: ModuleType, request: Mapping[str, list[str] | dict[str, str] | str], ends: Sequence[int]
) -> NoReturn:
    """As if it had been started anew: nothing of the nursery's is left open, no signal is handled its way."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for there, here in enumerate(ends):
        os.dup2(here, there)
    os.closerange(3, MOST_FILES)
    os.chdir(str(request["folder"]))
    os.environ.clear()
    os.environ.update(request["environment"])  # type: ignore[arg-type]
    sys.argv = [str(request["program"]), *request["arguments"]]
    code = 1
    try:
        program.main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            sys.stderr.write(f"{end.code}\n")
    except BaseException as error:  # noqa: BLE001  as an interpreter ends
        sys.excepthook(type(error), error, error.__traceback__)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _tell_ends(lines: dict[int, socket.socket]) -> None:
    while lines:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        with lines.pop(pid) as line:
            try:
                line.send(f"{status}\n".encode())
            except OSError:
                continue  # whoever asked for it has gone


if __name__ == "__main__":
    serve(sys.argv[1])

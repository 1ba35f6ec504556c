"""Start bots from a process that has already run one, which is faster than a new interpreter.

A bot is a fork of that process: `python -m bot run` with its own environment, folder and log. It shares the modules and
the compiled SQL. Tests can kill it at any time. `python -m bot mcp` is started in the same way, and so is a test's own
program that has a `main`. Tests of cold starts run a new interpreter. The programs that a forked sandbox starts are
forks, too.

Run as a program, this file is that process. It gets requests over a socket: one line of JSON, with the bot's standard
input, output and log attached. It answers with the bot's process id, and later with its exit code.

All processes of a test run share one: the address of its socket is in an environment variable.
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
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import NoReturn

import bot
from tests.harness.economy import THRESHOLDS
from tests.waiting import TIMEOUT_SECONDS

ROOT = Path(bot.__file__).parents[1]
VARIABLE = "TEST_LAUNCHER"
"""The environment variable with the socket's path. Workers of pytest-xdist inherit it."""

LONGEST_REQUEST = 65_536
MOST_FILES = 4096
MOST_FILES_PASSED = 4
BOT = "bot.__main__"
CODE = {
    "run": "bot.process",
    "mcp": "bot.mcp_server.command",
    "sandbox": "bot.sandbox.run",
    "migrate": "bot.process",
    "check": "bot.app",
    "rotate-keys": "bot.app",
    "copy-database": "bot.operations.database_commands",
}
"""What is read before the first bot of a kind is born."""


class Child:
    """A started bot. It has the part of asyncio's process interface that the tests use."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self.stdout: asyncio.StreamReader | None = None
        self._ended = asyncio.ensure_future(self._end(reader, writer))

    def send_signal(self, sent: signal.Signals) -> None:
        """Send a signal, unless the bot has ended."""
        if self.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, sent)

    def terminate(self) -> None:
        """Ask the bot to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Kill the bot with SIGKILL."""
        self.send_signal(signal.SIGKILL)

    async def wait(self) -> int:
        """Wait for the bot's end, and return its exit code: the negative number of the signal that killed it."""
        return await asyncio.shield(self._ended)

    async def communicate(self) -> tuple[bytes, None]:
        """Return what the bot wrote until its end."""
        said = b"" if self.stdout is None else await self.stdout.read()
        await self.wait()
        return said, None

    async def _end(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> int:
        code = os.waitstatus_to_exitcode(int(await reader.readline()))
        self.returncode = code
        writer.close()
        return code


class LauncherProcess:
    """The process that starts bots. It ends when this process does."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="kirim-launcher-")
        self.path = f"{self._folder.name}/socket"
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as requests:
            # Requests wait here until the process is ready.
            requests.bind(self.path)
            requests.listen()
            self._process = subprocess.Popen(
                [sys.executable, "-m", __spec__.name, str(requests.fileno())],
                cwd=ROOT,
                env={name: value for name, value in os.environ.items() if name in {"PATH", "HOME", "LANG"}},
                stdin=subprocess.PIPE,
                pass_fds=[requests.fileno()],
            )

    def close(self) -> None:
        """End the process."""
        self._process.communicate()
        self._folder.cleanup()


class Launcher:
    """A client of the process that starts bots."""

    def __init__(self, path: str) -> None:
        self._path = path

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
        kept: Sequence[int] = (),
    ) -> Child:
        """Start `python -m <program> <arguments>` with only this environment. Its output goes to `log`.

        Without `stdin` its standard input is empty. `stdout` takes the standard output apart from the log. It inherits
        the files in `kept`, with other numbers. `program` is a module with a `main`, or another function after a colon.
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
        ends = (nothing if stdin is None else stdin, log if stdout is None else stdout, log, *kept)
        socket.send_fds(line, [request.encode()], ends)
        os.close(nothing)
        reader, writer = await asyncio.open_unix_connection(sock=line)
        return Child(reader, writer, int(await asyncio.wait_for(reader.readline(), TIMEOUT_SECONDS)))


@cache
def launcher() -> Launcher:
    """Return the launcher of this test run, or of this process if it runs the tests alone."""
    if path := os.environ.get(VARIABLE):
        return Launcher(path)
    started = LauncherProcess()
    atexit.register(started.close)
    return Launcher(started.path)


def share_launcher() -> Callable[[], None]:
    """Let all child processes of this one share one launcher, and return the function that ends it."""
    if VARIABLE in os.environ:  # a test of pytest itself
        return lambda: None
    started = LauncherProcess()
    os.environ[VARIABLE] = started.path

    def stop() -> None:
        del os.environ[VARIABLE]
        started.close()

    return stop


def serve(requests: socket.socket) -> None:
    """Start bots on request, until standard input ends."""
    # Many test runs start no bot, so nothing is loaded before the first request.
    readable, _, _ = select.select([sys.stdin.fileno(), requests], [], [])
    if sys.stdin.fileno() in readable:
        return
    import bot.__main__  # noqa: F401, PLC0415
    from tests.e2e.warm_up import warm_up  # noqa: PLC0415

    warm_up()
    ended, tell = os.pipe()
    os.set_blocking(tell, False)
    signal.set_wakeup_fd(tell)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    lines: dict[int, socket.socket] = {}
    while True:
        readable, _, _ = select.select([sys.stdin.fileno(), ended, requests], [], [])
        if sys.stdin.fileno() in readable:
            return
        if ended in readable:
            os.read(ended, 512)
            _tell_ends(lines)
        if requests in readable:
            line, _ = requests.accept()
            _bear(line, lines, requests.getsockname())


def _bear(line: socket.socket, lines: dict[int, socket.socket], path: str) -> None:
    text, ends, _, _ = socket.recv_fds(line, LONGEST_REQUEST, MOST_FILES_PASSED)
    request = json.loads(text)
    module, _, function = request["program"].partition(":")
    main = getattr(importlib.import_module(module), function or "main")
    if request["program"] == BOT:
        importlib.import_module(CODE[request["arguments"][0]])
    gc.freeze()  # the garbage collector of a child must not touch these objects, which would copy shared memory
    gc.set_threshold(*THRESHOLDS)
    pid = os.fork()
    if pid == 0:
        if request["program"] == BOT and request["arguments"][0] == "sandbox":
            asyncio.create_subprocess_exec = partial(_start_for_sandbox, Launcher(path))  # type: ignore[assignment]
        _be_the_program(main, request, ends)
    for end in ends:
        os.close(end)
    line.send(f"{pid}\n".encode())
    lines[pid] = line


def _be_the_program(
    main: Callable[[], object], request: Mapping[str, list[str] | dict[str, str] | str], ends: Sequence[int]
) -> NoReturn:
    """Become the program: close what the launcher has open, and restore the signal handlers."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for there, here in enumerate(ends):
        os.dup2(here, there)
    os.closerange(len(ends), MOST_FILES)
    os.chdir(str(request["folder"]))
    os.environ.clear()
    os.environ.update(request["environment"])  # type: ignore[arg-type]
    sys.argv = [str(request["program"]), *request["arguments"]]
    code = 1
    try:
        main()
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


async def _start_for_sandbox(
    launcher: Launcher,
    *command: str,
    env: Mapping[str, str],
    stdout: int | None = None,
    pass_fds: Sequence[int] = (),
    **_: object,
) -> Child:
    """Start a program of a sandbox as `asyncio.create_subprocess_exec` does, but as a fork. Its errors are output."""
    *interpreter, arguments = command[0], command[1:3], command[3:]
    assert interpreter == [sys.executable, ("-m", "bot")]
    if stdout != asyncio.subprocess.PIPE:
        return await launcher.start(arguments, environment=env, log=sys.stderr.fileno(), kept=pass_fds)
    reading, writing = os.pipe()
    try:
        child = await launcher.start(arguments, environment=env, log=writing, kept=pass_fds)
    finally:
        os.close(writing)
    child.stdout = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        partial(asyncio.StreamReaderProtocol, child.stdout), os.fdopen(reading, "rb")
    )
    return child


def _tell_ends(lines: dict[int, socket.socket]) -> None:
    while lines:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        with lines.pop(pid) as line:
            try:
                line.send(f"{status}\n".encode())
            except OSError:
                continue  # the client has ended


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))

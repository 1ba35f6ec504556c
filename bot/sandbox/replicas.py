"""The replicas of the bot in a sandbox: unmodified `python -m bot run` processes, which the service's panel controls.

A replica that ends or crashes is started again, as by any service manager, unless the panel killed it. The balancer
before them works on connections, and knows nothing of HTTP, as in front of real replicas.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import ssl
import sys
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import httpx
import structlog

from bot.sandbox import process_locks
from bot.sandbox.leftovers import REPLICA_LOCK

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence

log = structlog.get_logger(__name__)

HOST: Final = "127.0.0.1"
CONNECT_SECONDS: Final = 1.0
WAIT_SECONDS: Final = 10.0
"""How long a connection waits for a replica, such as while all of them are restarted."""
PAUSE_SECONDS: Final = 0.25
_PART: Final = 65_536
STOP_SECONDS: Final = 6.0
RESTART_PAUSE_SECONDS: Final = 1.0
ANSWER_SECONDS: Final = 1.0
BOT: Final = (sys.executable, "-m", "bot", "run")
CRASH: Final = "crash"
ACTIONS: Final = ("kill", "freeze", "continue", "restart", CRASH)
_METRIC: Final = re.compile(r"^(kirim_leading|kirim_chat_leases_held)(?:\{\})? (\S+)$", re.MULTILINE)
# The replicas speak plain HTTP on loopback. An empty context saves loading certificates.
_NO_CERTIFICATES: Final = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


class NoSuchAction(Exception):
    """The replica can't do this in its state. The text is for the panel."""


class Replica:
    """One process of the bot, which is started again when it ends.

    Args:
        number: from 1.
        state: the folder of the sandbox's state.
        command: what runs it.
        has_own_ports: whether it gets free ports and a prefix in the log. The only bot of a sandbox doesn't.
    """

    def __init__(self, number: int, state: Path, command: Sequence[str], *, has_own_ports: bool) -> None:
        self.number: Final = number
        self.http_port = 0
        self.metrics_port = 0
        self.is_frozen = False
        self.was_ready = False
        self._state = state
        self._command = command
        self._has_own_ports = has_own_ports
        self._process: asyncio.subprocess.Process | None = None
        self._is_ending = False
        self._wanted = asyncio.Event()
        self._wanted.set()

    @property
    def is_alive(self) -> bool:
        """Whether the process runs or is frozen."""
        return self._process is not None and self._process.returncode is None

    @property
    def can_answer(self) -> bool:
        """Whether it makes sense to ask the process anything."""
        return self.is_alive and not self.is_frozen

    def describe(self, *, is_ready: bool) -> str:
        """Return the state in one or two words."""
        if not self.is_alive:
            return "dead"
        if self.is_frozen:
            return "frozen"
        if self._is_ending:
            return "stopping"
        if is_ready:
            return "running"
        return "not ready" if self.was_ready else "starting"

    async def keep_running(self, environment: Mapping[str, str], stop: asyncio.Event) -> None:
        """Start the process whenever it has ended, until `stop` is set. Then stop it."""
        stopped = asyncio.create_task(stop.wait())
        try:
            while not stop.is_set():
                await _first(self._wanted.wait(), stopped)
                if stop.is_set():
                    return
                process = await self._start(environment)
                copying = asyncio.create_task(_copy_log(process.stdout, self.number))
                await _first(process.wait(), stopped)
                if process.returncode is None:
                    await self._end()
                await copying
                if not self._is_ending and self._wanted.is_set():
                    log.warning(
                        "bot_exited", replica=self.number, code=process.returncode, retry_in=RESTART_PAUSE_SECONDS
                    )
                    await _first(asyncio.sleep(RESTART_PAUSE_SECONDS), stopped)
        finally:
            stopped.cancel()
            if self.is_alive:
                self._send(signal.SIGKILL)

    async def act(self, action: str) -> None:
        """Do one of `ACTIONS`.

        Raises:
            NoSuchAction: it makes no sense in this state.
        """
        if action not in ACTIONS:
            raise NoSuchAction(f"a replica can {', '.join(ACTIONS)}")
        if action == "restart":
            if self.is_alive:
                await self._end()
            self._wanted.set()
        elif not self.is_alive:
            raise NoSuchAction(f"replica {self.number} is dead")
        elif action in {"kill", CRASH}:
            # Unlike after a kill, it is started again after a crash.
            if action == "kill":
                self._wanted.clear()
            self._send(signal.SIGKILL)
            await self._require_process().wait()
        else:
            self.is_frozen = action == "freeze"
            self._send(signal.SIGSTOP if self.is_frozen else signal.SIGCONT)

    async def _end(self) -> None:
        """Stop the process with SIGTERM, and kill it if that takes too long."""
        process = self._require_process()
        self._is_ending = True
        self._send(signal.SIGTERM)
        self._send(signal.SIGCONT)  # a frozen process gets SIGTERM only when it continues
        self.is_frozen = False
        try:
            async with asyncio.timeout(STOP_SECONDS):
                await process.wait()
        except TimeoutError:
            self._send(signal.SIGKILL)
            await process.wait()

    def _send(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            self._require_process().send_signal(number)

    def _require_process(self) -> asyncio.subprocess.Process:
        if self._process is None:
            raise NoSuchAction(f"replica {self.number} hasn't started")
        return self._process

    async def _start(self, environment: Mapping[str, str]) -> asyncio.subprocess.Process:
        path = self._state / REPLICA_LOCK.format(self.number)
        with process_locks.locked(path) as lock:
            os.ftruncate(lock, 0)
            process = await asyncio.create_subprocess_exec(
                *self._command,
                env={**os.environ, **environment, **self._choose_ports()},
                cwd=Path.cwd(),
                pass_fds=[lock],
                stdout=asyncio.subprocess.PIPE if self._has_own_ports else None,
                stderr=asyncio.subprocess.STDOUT if self._has_own_ports else None,
            )
            os.pwrite(lock, str(process.pid).encode("ascii"), 0)
        self._process = process
        self._is_ending = self.is_frozen = self.was_ready = False
        return process

    def _choose_ports(self) -> dict[str, str]:
        """Return settings with free ports. They are chosen at each start, in case another program took one."""
        if not self._has_own_ports:
            return {}
        with socket.create_server((HOST, 0)) as http, socket.create_server((HOST, 0)) as metrics:
            self.http_port, self.metrics_port = (int(probe.getsockname()[1]) for probe in (http, metrics))
        ports = {"HTTP_PORT": str(self.http_port), "METRICS_PORT": str(self.metrics_port)}
        # Its log goes through the sandbox, so it can't see whether that is a terminal.
        return ports | ({"LOG_FORMAT": "console"} if sys.stderr.isatty() and "LOG_FORMAT" not in os.environ else {})


class Replicas:
    """All replicas of a sandbox. A single one is the sandbox's only bot, and the panel doesn't show it.

    Args:
        count: at least 1.
        state: the folder of the sandbox's state.
        command: what runs a replica.
    """

    def __init__(self, count: int, state: Path, command: Sequence[str] = BOT) -> None:
        numbers = range(1, count + 1)
        self._all = tuple(Replica(number, state, command, has_own_ports=count > 1) for number in numbers)
        self._http = httpx.AsyncClient(verify=_NO_CERTIFICATES, trust_env=False, timeout=ANSWER_SECONDS)
        self._turns = 0
        self.on_freeze: Callable[[int], None] = lambda _port: None
        """What to do about connections to the port of a frozen replica."""

    async def run(self, environment: Mapping[str, str], stop: asyncio.Event) -> None:
        """Keep all replicas running with these settings until `stop` is set."""
        try:
            await asyncio.gather(*(replica.keep_running(environment, stop) for replica in self._all))
        finally:
            await self._http.aclose()

    async def view(self) -> list[dict[str, object]]:
        """Return what the panel shows. It is empty if there is only one."""
        if len(self._all) == 1:
            return []
        return await asyncio.gather(*(self._view(replica) for replica in self._all))

    @property
    def alive(self) -> list[int]:
        """The numbers of those whose process runs or is frozen, also of a single one."""
        return [replica.number for replica in self._all if replica.is_alive]

    async def act(self, number: int, action: str) -> None:
        """Do one of `ACTIONS` with a replica. A single one can only crash: the panel couldn't start it again.

        Raises:
            NoSuchAction: there is no such replica or action, or it makes no sense in its state.
        """
        replica = next((each for each in self._all if each.number == number), None)
        if replica is None or (len(self._all) == 1 and action != CRASH):
            raise NoSuchAction(f"there is no replica {number}")
        await replica.act(action)
        if replica.is_frozen:
            self.on_freeze(replica.http_port)

    async def find_ready_ports(self) -> list[int]:
        """Return the ports of the replicas that are ready. Another one comes first each time."""
        alive = [replica for replica in self._all if replica.can_answer]
        ready = await asyncio.gather(*(self._is_ready(replica) for replica in alive))
        ports = [replica.http_port for replica, is_ready in zip(alive, ready, strict=True) if is_ready]
        self._turns += 1
        first = self._turns % len(ports) if ports else 0
        return ports[first:] + ports[:first]

    async def _view(self, replica: Replica) -> dict[str, object]:
        """Return the state. Whether it leads and how many chats it has is None if it is unknown."""
        is_ready, figures = False, dict[str, float]()
        if replica.can_answer:
            is_ready, figures = await asyncio.gather(self._is_ready(replica), self._read_figures(replica))
        leading, chats = figures.get("kirim_leading"), figures.get("kirim_chat_leases_held")
        return {
            "number": replica.number,
            "state": replica.describe(is_ready=is_ready),
            "leader": None if leading is None else leading > 0,
            "chats": None if chats is None else int(chats),
        }

    async def _is_ready(self, replica: Replica) -> bool:
        answer = await self._get(replica.http_port, "/readyz")
        is_ready = answer is not None and answer.is_success
        replica.was_ready |= is_ready
        return is_ready

    async def _read_figures(self, replica: Replica) -> dict[str, float]:
        answer = await self._get(replica.metrics_port, "/metrics")
        return {} if answer is None else {name: float(value) for name, value in _METRIC.findall(answer.text)}

    async def _get(self, port: int, path: str) -> httpx.Response | None:
        try:
            return await self._http.get(f"http://{HOST}:{port}{path}")
        except httpx.HTTPError:
            return None


async def _first(work: Awaitable[Any], stopped: asyncio.Task[bool]) -> None:
    """Wait for `work`, or until the sandbox is stopped."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait({task, stopped}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        task.cancel()


async def _copy_log(lines: asyncio.StreamReader | None, number: int) -> None:
    """Copy a replica's log to ours, with its number before each line."""
    if lines is None:
        return
    # Lines longer than the reader's limit come in parts.
    while line := await _read_line(lines):
        sys.stderr.buffer.write(f"[{number}] ".encode() + line.rstrip(b"\n") + b"\n")
        sys.stderr.buffer.flush()


async def _read_line(lines: asyncio.StreamReader) -> bytes:
    try:
        return await lines.readuntil()
    except asyncio.IncompleteReadError as error:
        return error.partial
    except asyncio.LimitOverrunError as error:
        return await lines.readexactly(error.consumed)


Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Balancer:
    """Accepts connections, and passes each one to a port.

    Args:
        find_ports: returns the ports of the replicas that are ready, in the order in which to try them.
    """

    def __init__(self, find_ports: Callable[[], Awaitable[list[int]]]) -> None:
        self._find_ports = find_ports
        self._connected: set[tuple[int, asyncio.StreamWriter]] = set()
        self._passing: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def serve(self, port: int) -> AsyncIterator[int]:
        """Serve on `port` (0 for any free one) in the block, and yield the port. Then close all connections."""
        server = await asyncio.start_server(self._accept, HOST, port)
        try:
            yield server.sockets[0].getsockname()[1]
        finally:
            server.close()
            for task in self._passing:
                task.cancel()
            await asyncio.gather(*self._passing, return_exceptions=True)

    def cut(self, port: int) -> None:
        """Close the connections to `port`. A frozen replica doesn't answer, and its callers try again elsewhere."""
        for connected, writer in tuple(self._connected):
            if connected == port:
                writer.transport.abort()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._pass((reader, writer)))
        self._passing.add(task)
        try:
            await asyncio.wait({task})
        finally:
            self._passing.discard(task)
            writer.transport.abort()

    async def _pass(self, caller: Streams) -> None:
        found = await self._connect()
        if found is None:
            return
        port, replica = found
        entry = (port, replica[1])
        self._connected.add(entry)
        asking = asyncio.create_task(_copy(caller[0], replica[1]))
        try:
            # A replica that ends the connection, or is killed, ends it for the caller.
            await _copy(replica[0], caller[1])
        finally:
            asking.cancel()
            self._connected.discard(entry)
            replica[1].transport.abort()

    async def _connect(self) -> tuple[int, Streams] | None:
        """Connect to the first ready replica that accepts. Return None if there is none for `WAIT_SECONDS`."""
        with suppress(TimeoutError):
            async with asyncio.timeout(WAIT_SECONDS):
                while True:
                    for port in await self._find_ports():
                        with suppress(OSError, TimeoutError):
                            async with asyncio.timeout(CONNECT_SECONDS):
                                return port, await asyncio.open_connection(HOST, port)
                    await asyncio.sleep(PAUSE_SECONDS)
        return None


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    """Copy until the source ends, then end the target. A lost connection ends it, too."""
    with suppress(ConnectionError):
        while part := await source.read(_PART):
            target.write(part)
            await target.drain()
        if target.can_write_eof():
            target.write_eof()

"""The agent tool server as a client's child process, with the sandbox's service in real time."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

import bot
from bot.sandbox.settlement import SANDBOX_API_KEY, SettlementSandboxSettings, create_app
from tests.e2e.launcher import BOT, launcher
from tests.e2e.launcher import Child as Process
from tests.sandbox.serving import serving
from tests.waiting import TIMEOUT_SECONDS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

ROOT = Path(bot.__file__).parents[1]
COMMAND = (sys.executable, "-m", "bot", "mcp")
HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "a test", "version": "1"},
}


def environment(url: str, **more: str) -> dict[str, str]:
    """Return the server's whole environment, without that of the test process."""
    settings = {"SERVICE_API_KEY": SANDBOX_API_KEY, "SERVICE_BASE_URL": url, "INVOICE_NETWORK": "bcrt"}
    return {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **settings, **more}


@dataclass(slots=True)
class Child:
    """The server's process, line by line."""

    process: Process
    stdin: asyncio.StreamWriter
    stdout: asyncio.StreamReader
    log: Path
    lines: list[bytes] = field(default_factory=list)
    last_id: int = 0

    async def writes(self, *lines: bytes) -> None:
        self.stdin.write(b"".join(line + b"\n" for line in lines))
        await self.stdin.drain()

    async def asks(self, method: str, params: object = None) -> int:
        """Send a request. Return its id."""
        self.last_id += 1
        request = {"jsonrpc": "2.0", "id": self.last_id, "method": method}
        await self.writes(json.dumps(request if params is None else request | {"params": params}).encode())
        return self.last_id

    async def reads(self) -> dict[str, Any]:
        """Return the next message."""
        line = await asyncio.wait_for(self.stdout.readline(), TIMEOUT_SECONDS)
        assert line.endswith(b"\n")
        self.lines.append(line)
        message: dict[str, Any] = json.loads(line)
        return message

    async def answers(self, request_id: int) -> dict[str, Any]:
        """Return the answer to a request. Earlier messages are skipped."""
        while (message := await self.reads()).get("id") != request_id:
            pass
        return message

    async def greets(self) -> None:
        """Do the handshake."""
        assert "result" in await self.answers(await self.asks("initialize", HELLO))
        await self.writes(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')

    async def calls(self, tool: str, **arguments: Any) -> int:
        return await self.asks("tools/call", {"name": tool, "arguments": arguments})

    async def leaves(self) -> tuple[int, bytes, str]:
        """Close its stdin. Return its exit code, the rest of its output, and its logs."""
        self.stdin.close()
        async with asyncio.timeout(TIMEOUT_SECONDS):
            out = await self.stdout.read()
            return await self.process.wait(), out, self.log.read_text()

    def reads_no_more(self) -> None:
        """Close our end of its stdout."""
        self.stdout._transport.close()  # type: ignore[attr-defined]


@contextlib.asynccontextmanager
async def child(env: dict[str, str], folder: Path, program: str = BOT) -> AsyncIterator[Child]:
    """Start the server in a folder of its own, forked from a process that has imported the code."""
    log = folder / f"stderr-{time.monotonic_ns()}"
    (its_in, our_out), (our_in, its_out) = os.pipe(), os.pipe()
    stdin, stdout = await _writer(our_out), await _reader(our_in)
    with log.open("wb") as err, os.fdopen(its_in), os.fdopen(its_out, "w"):
        process = await launcher().start(
            ["mcp"],
            program=program,
            environment=env,
            log=err.fileno(),
            stdin=its_in,
            stdout=its_out,
            folder=folder,
        )
    child = Child(process, stdin, stdout, log)
    try:
        yield child
    finally:
        process.kill()
        await process.wait()
        stdin.close()
        child.reads_no_more()


async def _writer(end: int) -> asyncio.StreamWriter:
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, os.fdopen(end, "wb"))
    return asyncio.StreamWriter(transport, protocol, None, loop)


async def _reader(end: int) -> asyncio.StreamReader:
    reader = asyncio.StreamReader(limit=2**24)
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(end, "rb")
    )
    return reader


@dataclass(slots=True)
class Sandbox:
    """The sandbox's service and its control endpoints."""

    url: str
    control_client: httpx.AsyncClient

    async def control(self, where: str, /, **body: object) -> None:
        (await self.control_client.post(f"{self.url}/control/{where}", json=body)).raise_for_status()

    async def orders_made(self) -> int:
        return len((await self.control_client.get(f"{self.url}/control/orders")).json()["orders"])


@contextlib.asynccontextmanager
async def sandbox(profile: str = "documented") -> AsyncIterator[Sandbox]:
    """Serve the service on a free port, in real time."""
    app = create_app(SettlementSandboxSettings(profile=profile, clock=lambda: datetime.now(UTC)))
    async with serving(app) as url, httpx.AsyncClient() as control_client:
        yield Sandbox(url, control_client)

"""A minimal Bot API server, so that benchmarks measure the bot and not the server.

It answers the calls of a starting bot, delivers prepared updates, and counts the messages that the bot sends. The
sandbox's server checks and stores everything as Telegram does, which is too slow for a thousand messages a second.
"""

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qs, urlsplit

from tests.benchmarks.skeleton import ME, Json, message

HOST = "127.0.0.1"
BATCH = 100
IDLE_POLL_SECONDS = 0.2
FACTS: Final = {
    "getme": ME,
    "getwebhookinfo": {"url": "", "has_custom_certificate": False, "pending_update_count": 0},
}
CHAT = re.compile(rb"(?:^|&)chat_id=(-?\d+)")
OFFSET = re.compile(rb"(?:^|&)offset=(\d+)")


@dataclass(slots=True)
class Stub:
    """The updates to deliver, and what the bot has called. Times are of `time.perf_counter`.

    Attributes:
        answer_seconds: the seconds until each call is answered, as with a distant Telegram.
        acknowledged: the number of updates that polls have acknowledged. They aren't delivered again.
    """

    address: str = ""
    updates: Sequence[Json] = ()
    answer_seconds: float = 0.0
    first_poll: float | None = None
    acknowledged: int = 0
    answers: list[float] = field(default_factory=list)
    polled: asyncio.Event = field(default_factory=asyncio.Event)
    done: asyncio.Event = field(default_factory=asyncio.Event)

    def respond(self, path: str, body: bytes) -> tuple[bytes, float]:
        """Return the answer to one call, and the seconds after which it is sent."""
        address = urlsplit(path)
        method = address.path.rsplit("/", 1)[-1].lower()
        if method == "getupdates":
            return self._poll(_offset(address.query, body))
        if method == "sendmessage":
            return self._sent(body), self.answer_seconds
        return _ok(FACTS.get(method, True)), self.answer_seconds

    def _poll(self, offset: int) -> tuple[bytes, float]:
        if self.first_poll is None:
            self.first_poll = time.perf_counter()
            self.polled.set()
        self.acknowledged = max(offset - 1, self.acknowledged)
        batch = self.updates[self.acknowledged :][:BATCH]
        return _ok(batch), self.answer_seconds if batch else IDLE_POLL_SECONDS

    def _sent(self, body: bytes) -> bytes:
        found = CHAT.search(body)
        self.answers.append(time.perf_counter())
        if len(self.answers) == len(self.updates):
            self.done.set()
        return _ok(message(int(found[1]) if found else 0, len(self.answers), "answer", sender=ME))


@asynccontextmanager
async def serving(stub: Stub) -> AsyncIterator[Stub]:
    """Serve on a free port of this machine within the block."""
    server = await asyncio.get_running_loop().create_server(lambda: _Connection(stub), HOST, 0)
    stub.address = f"http://{HOST}:{server.sockets[0].getsockname()[1]}"
    try:
        yield stub
    finally:
        server.close()


class _Connection(asyncio.Protocol):
    """Minimal HTTP/1.1, for a client that sends one request after another with a Content-Length."""

    def __init__(self, stub: Stub) -> None:
        self._stub = stub
        self._received = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport for the answers."""
        if isinstance(transport, asyncio.Transport):
            self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer each complete request."""
        self._received += data
        while (end := self._received.find(b"\r\n\r\n")) >= 0:
            head = self._received[:end]
            length = re.search(rb"content-length: *(\d+)", head, re.IGNORECASE)
            whole = end + 4 + (int(length[1]) if length else 0)
            if len(self._received) < whole:
                return
            body, self._received = self._received[end + 4 : whole], self._received[whole:]
            answer, after = self._stub.respond(head.split(b" ", 2)[1].decode(), body)
            self._answer_later(answer, after)

    def _answer_later(self, answer: bytes, after: float) -> None:
        if after:
            asyncio.get_running_loop().call_later(after, self._answer, answer)
        else:
            self._answer(answer)

    def _answer(self, answer: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(answer)}\r\n\r\n"
            self._transport.write(head.encode() + answer)


def _offset(query: str, body: bytes) -> int:
    given = parse_qs(query).get("offset")
    if given:
        return int(given[0])
    found = OFFSET.search(body)
    return int(found[1]) if found else 0


def _ok(result: object) -> bytes:
    return json.dumps({"ok": True, "result": result}, separators=(",", ":")).encode()

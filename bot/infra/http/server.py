"""The web server. It opens its port at the start, runs with the workers, and closes quickly.

Its pages get security headers (`SecurityHeadersMiddleware`), and errors are logged without quoting the request.
"""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext, suppress
from typing import Final, cast

import structlog
import uvicorn
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from bot.core.reasons import list_frames

log = structlog.get_logger(__name__)

FRAMES_LOGGED = 4

# Nothing from other hosts and nothing inline. If text were interpreted as markup, the browser wouldn't run it.
_POLICY = (
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
)
CONTENT_SECURITY_POLICY = "; ".join(_POLICY)
HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "x-robots-tag": "noindex, nofollow, noarchive",
    "referrer-policy": "no-referrer",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
CACHING, PRIVATE = b"cache-control", b"no-store"
ENCRYPTED_ONLY = "max-age=31536000"

ACCEPTED_AT_ONCE = 64
"""How many connections are accepted before any of them counts towards the limit. With 128, a burst of 2,000 used up the
process's open files."""

WAITING_CONNECTIONS = 512
"""How many more wait in the system's queue. With 64, a newcomer waited a second longer in a burst of 750."""

CLOSE_SECONDS = 1
IDLE_SECONDS = 15
"""A request's head must be complete so long after the answer before it, and a client must read on within this time."""

BODY_SECONDS = 15
MAX_BODY_BYTES: Final = 1024 * 1024
DISCARD_SECONDS = 5
"""How long to wait for the rest of a body that the application doesn't need."""

CLOSE: Final = (b"connection", b"close")
MAX_CONNECTIONS = 700
"""The bot's own connections share the process's limit of open files, often 1,024, and must always get one."""


class ReplaceableApp:
    """An ASGI application that can be replaced while it is served."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the current application answer."""
        await self.app(scope, receive, send)


@asynccontextmanager
async def serve(
    app: ASGIApp, listener: socket.socket, *, close_seconds: int = CLOSE_SECONDS, name: str = "web"
) -> AsyncIterator[asyncio.Task[None]]:
    """Serve within the block. Yield the server's task, which has this name.

    At the end of the block, running requests get `close_seconds` seconds and idle connections are closed.
    """
    server = _Server(_config(app, close_seconds))
    # Connections from now on wait in the queue until the server has started.
    listener.listen(WAITING_CONNECTIONS)
    task = asyncio.create_task(server.serve(sockets=[listener]), name=name)
    try:
        yield task
    finally:
        server.should_exit = True
        # The caller that watches the task handles its failure. It must not replace an exception of the block.
        await asyncio.wait({task})


def _config(app: ASGIApp, close_seconds: int) -> uvicorn.Config:
    return uvicorn.Config(
        BodyMiddleware(app),
        http=_Connection,
        ws="none",
        lifespan="off",
        log_config=None,  # the bot's own logging removes secrets
        log_level="warning",
        access_log=False,  # the pages' addresses are secret
        proxy_headers=False,
        server_header=False,
        backlog=ACCEPTED_AT_ONCE,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=close_seconds,
    )


class _Server(uvicorn.Server):
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to accept connections. asyncio shortens the queue to the number that it accepts at once."""
        await super().startup(sockets)
        for listener in sockets or ():
            listener.listen(WAITING_CONNECTIONS)

    def capture_signals(self) -> AbstractContextManager[None]:  # type: ignore[override]
        """Do nothing: the bot handles signals."""
        return nullcontext()


class BodyMiddleware:
    """Limits the size and the time of each request's body, for every application and path.

    An application that asks for the body gets the whole of it. If it is too large (413), too slow (408) or cut off, an
    `HTTPException` says so, which the application answers like its own. A body that the application doesn't need is
    discarded as it arrives, so callers who aren't known yet fill no memory. If that takes too long, the connection is
    closed after the answer.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the application answer."""
        body = _Body(scope, receive)

        async def send_after_body(message: Message) -> None:
            is_start = message["type"] == "http.response.start"
            if is_start and CLOSE not in message.get("headers", ()) and not await body.discard():
                message = {**message, "headers": [*message.get("headers", ()), CLOSE]}
            await send(message)

        await self._app(scope, body.receive, send_after_body)


class _Body:
    def __init__(self, scope: Scope, receive: Receive) -> None:
        self._receive = receive
        self._is_requested = self._is_complete = False
        self._waits_for_leave = any(name == b"expect" for name, _ in scope["headers"])

    async def receive(self) -> Message:
        """Return the whole body. Later calls return the messages after it."""
        if self._is_requested:
            return await self._receive()
        self._is_requested = True
        body = bytearray()
        try:
            async with asyncio.timeout(BODY_SECONDS):
                while not self._is_complete:
                    body += await self._read_piece()
                    if len(body) > MAX_BODY_BYTES:
                        raise HTTPException(413, f"Request body too large. The limit is {MAX_BODY_BYTES} bytes")
        except TimeoutError:
            raise HTTPException(408, "Request body too slow", {"connection": "close"}) from None
        return {"type": "http.request", "body": bytes(body), "more_body": False}

    async def discard(self) -> bool:
        """Read what is left of the body. Return whether it was complete in time.

        A client that is still writing would find the connection closed instead of the answer. A client that waits for
        leave to send its body gets the answer at once.
        """
        if self._waits_for_leave and not self._is_requested:
            return False
        with suppress(TimeoutError, HTTPException):
            async with asyncio.timeout(DISCARD_SECONDS):
                while not self._is_complete:
                    await self._read_piece()
        return self._is_complete

    async def _read_piece(self) -> bytes:
        message = await self._receive()
        if message["type"] != "http.request":
            raise HTTPException(400, "Request body cut off")
        self._is_complete = not message.get("more_body", False)
        piece: bytes = message.get("body", b"")
        return piece


class SecurityHeadersMiddleware:
    """Adds security headers to every answer. `encrypted`: the public address is https, so browsers must use it."""

    def __init__(self, app: ASGIApp, *, encrypted: bool) -> None:
        self._app = app
        headers = {**HEADERS, "strict-transport-security": ENCRYPTED_ONLY} if encrypted else HEADERS
        self._headers = [(name.encode(), value.encode()) for name, value in headers.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Add the headers. Log errors without their text, which can quote the secret address of a page."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = message["headers"]
                headers.extend(self._headers)
                if all(name != CACHING for name, _ in headers):
                    headers.append((CACHING, PRIVATE))
            await send(message)

        try:
            await self._app(scope, receive, send_with_headers)
        except Exception as error:  # noqa: BLE001  Starlette has answered 500 before it raised this
            log.error("request_failed", error=type(error).__name__, where=list_frames(error, FRAMES_LOGGED))  # noqa: TRY400


class _Connection(H11Protocol):
    """HTTP/1.1 with a limit of connections, and of the time that a client is waited for.

    At the limit, a newcomer takes the place of the connection that has waited longest for its client. So nobody can
    shut others out by opening connections and leaving their requests unfinished.
    """

    waiting_since = 0.0
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        # An answer is sent in two pieces. Nagle's algorithm would delay the second by 40 ms.
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._wait_for_client()
        if len(self.connections) > MAX_CONNECTIONS:
            others = cast("set[_Connection]", self.connections) - {self}
            waiting = [each for each in others if each.is_waiting and not each.transport.is_closing()]
            min(waiting, key=lambda each: each.waiting_since, default=self).transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self._timer is not None:
            self._timer.cancel()

    def on_response_complete(self) -> None:
        """Wait for the next request, which may have arrived already."""
        self._wait_for_client()
        super().on_response_complete()

    def pause_writing(self) -> None:
        """Wait for the client to read on."""
        super().pause_writing()
        self._wait_for_client()

    @property
    def is_waiting(self) -> bool:
        """Return whether the client is next: to send a request, to send the rest of it, or to read the answer."""
        return self._is_idle or self.cycle.more_body

    @property
    def _is_idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete or self.flow.write_paused

    def _wait_for_client(self) -> None:
        self.waiting_since = self.loop.time()
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self.loop.call_later(IDLE_SECONDS, self._end_if_idle)

    def _end_if_idle(self) -> None:
        if self._is_idle:
            self.transport.abort()

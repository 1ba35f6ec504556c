"""The web server. It opens its port at the start, runs with the workers, and closes quickly."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext, suppress
from typing import Any, Final

import h11
import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

WAITING_CONNECTIONS = 512
ACCEPTED_AT_ONCE = 64
"""How many connections are accepted before any of them counts towards the limit."""

CLOSE_SECONDS = 1
IDLE_SECONDS = 15
BODY_SECONDS = 30
"""A request's body must be complete so long after its head. Applications can be stricter."""

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
    # Connections from now on wait in the backlog until the server has started.
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
        app,
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
    """uvicorn without its signal handlers: the bot handles signals."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to accept connections. Those that aren't accepted yet wait in the system's queue."""
        await super().startup(sockets)
        # asyncio has set the length of the queue to the number that it accepts at once.
        for listener in sockets or ():
            listener.listen(WAITING_CONNECTIONS)

    def capture_signals(self) -> AbstractContextManager[None]:  # type: ignore[override]
        return nullcontext()


class _Connection(H11Protocol):
    """HTTP/1.1 with a limit of connections. A client that sends or reads too slowly loses its connection.

    At the limit, a newcomer takes the place of the connection that has waited longest for its client. So nobody can
    shut others out by opening connections and leaving their requests unfinished.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._inner_app, self.app = self.app, self._answer
        self._head_due: float | None = None
        self._body_of: object = None
        self._body_timer: asyncio.TimerHandle | None = None
        self._reading_timer: asyncio.TimerHandle | None = None
        self.waiting_since = 0.0
        self.is_dropped = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.waiting_since = self.loop.time()
        if len(self.connections) > MAX_CONNECTIONS and not self._drop_another():
            transport.abort()
            return
        # An answer is sent in two pieces. Nagle's algorithm would delay the second by 40 ms.
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.timeout_keep_alive_task = self.loop.call_later(IDLE_SECONDS, self.timeout_keep_alive_handler)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._unset_keepalive_if_required()
        for timer in (self._body_timer, self._reading_timer):
            if timer is not None:
                timer.cancel()

    def data_received(self, data: bytes) -> None:
        """Receive data. A request's head must be complete within the idle time after its first byte."""
        super().data_received(data)
        self._time_body()
        if self.conn.their_state is not h11.IDLE:
            self._head_due = None
            return
        if self.timeout_keep_alive_task is not None:
            self.timeout_keep_alive_task.cancel()
        self._head_due = self._head_due or self.loop.time() + IDLE_SECONDS
        self.timeout_keep_alive_task = self.loop.call_at(self._head_due, self.timeout_keep_alive_handler)

    def send_400_response(self, msg: str) -> None:
        """Answer a request that isn't HTTP, in JSON like every other error."""
        head = h11.Response(status_code=400, headers=[(b"content-type", b"application/json"), CLOSE])
        for event in (head, h11.Data(data=json.dumps({"error": msg}).encode()), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def on_response_complete(self) -> None:
        """Wait for the next request, which may have arrived already."""
        self.waiting_since = self.loop.time()
        super().on_response_complete()
        self._time_body()

    def pause_writing(self) -> None:
        """Wait for the client to read. It must read on within the idle time."""
        super().pause_writing()
        self._reading_timer = self.loop.call_later(IDLE_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on writing."""
        super().resume_writing()
        if self._reading_timer is not None:
            self._reading_timer.cancel()

    def _time_body(self) -> None:
        """Start the timer of a body when its head is complete. No more data of the same body extends it."""
        is_incomplete = self.conn.their_state is h11.SEND_BODY
        if is_incomplete and self._body_of is self.cycle:
            return
        if self._body_timer is not None:
            self._body_timer.cancel()
        self._body_of, self._body_timer = None, None
        if is_incomplete:
            self.waiting_since = self.loop.time()
            self._body_of = self.cycle
            self._body_timer = self.loop.call_later(BODY_SECONDS, self.transport.abort)

    def _drop_another(self) -> bool:
        """Close the connection that has waited longest for its client. Return False if there is none."""
        others = (each for each in self.connections if isinstance(each, _Connection) and each is not self)
        waiting = [each for each in others if each.is_waiting_for_client and not each.is_dropped]
        if not waiting:
            return False
        longest = min(waiting, key=lambda each: each.waiting_since)
        longest.is_dropped = True
        longest.transport.abort()
        return True

    @property
    def is_waiting_for_client(self) -> bool:
        """Return whether the client is next: to send a request, to send the rest of it, or to read the answer."""
        is_idle = self.cycle is None or self.cycle.response_complete
        return is_idle or self.conn.their_state is h11.SEND_BODY or self.flow.write_paused

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the application answer. Close the connection afterwards if the request's body wasn't complete by then."""

        async def send_and_close(message: Message) -> None:
            is_start = message["type"] == "http.response.start"
            if is_start and CLOSE not in message.get("headers", ()) and not await self._discard_body(receive):
                message = {**message, "headers": [*message.get("headers", ()), CLOSE]}
            await send(message)

        await self._inner_app(scope, receive, send_and_close)

    async def _discard_body(self, receive: Receive) -> bool:
        """Read what is left of the body. Return whether it was complete in time.

        A client that is still writing would find the connection closed instead of the answer. A client that waits for
        leave to send its body gets the answer at once.
        """
        if self.conn.they_are_waiting_for_100_continue:
            return False
        with suppress(TimeoutError):
            async with asyncio.timeout(DISCARD_SECONDS):
                while self.conn.their_state is h11.SEND_BODY and (await receive())["type"] == "http.request":
                    pass
        return self.conn.their_state is not h11.SEND_BODY

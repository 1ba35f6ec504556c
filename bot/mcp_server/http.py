"""The http transport: `POST /mcp` and `GET /healthz` behind one guard, and the SDK's own transport after it.

No body is kept before the bearer token was checked. `infra/http/server` limits its size and time.
"""

import asyncio
import hmac
import json
import math
import os
import re
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from typing import Any, Final

import structlog
from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    PARSE_ERROR,
    JSONRPCNotification,
    RequestId,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError
from pydantic_core import from_json
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bot.core.reasons import list_frames
from bot.infra.http import ports
from bot.infra.http import server as web
from bot.mcp_server.config import AgentSettings
from bot.mcp_server.orders import HUNG_UP

ENDS_WITHIN_SECONDS = 4
"""A running call can be an order. Most services have answered after this time."""

MINUTE = 60
FRAMES_LOGGED = 4
HEADERS: Final = ((b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff"))
OF_STRANGERS: Final = frozenset({401, 403, 404, 405})
"""Anyone can cause these refusals, so they aren't worth a line at the usual level."""

METHODS: Final = {"/mcp": ("POST",), "/healthz": ("GET", "HEAD")}
HOST: Final = r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::[0-9]{1,5})?"

STREAMED: Final = frozenset({"wait_for_offramp_order"})
"""The tools that report progress. They must only read: the SDK ends a streamed call when its caller hangs up."""

FORMS: Final = frozenset({"application/json", "text/event-stream"})
"""What a caller must accept, because the SDK chooses between both in a stream's first seconds."""

log = structlog.get_logger(__name__)


async def serve(server: MCPServer, settings: AgentSettings, stop: asyncio.Event) -> int:
    """Serve until `stop` is set. Return the process's exit code.

    Raises:
        ports.PortTaken: the port can't be opened.
    """
    application = running_app(
        server,
        token=settings.bearer,
        allowed_hosts=settings.service_mcp_allowed_hosts,
        per_minute=settings.service_mcp_rate_limit_per_minute,
    )
    with closing(await ports.bind(settings.service_mcp_host, settings.http_port)) as listener:
        host, port = listener.getsockname()[:2]
        async with application as app, web.serve(app, listener, close_seconds=ENDS_WITHIN_SECONDS):
            log.info("server_started", pid=os.getpid(), host=host, port=port, name=server.name)
            await stop.wait()
    log.info("server_stopped")
    return 0


@asynccontextmanager
async def running_app(
    server: MCPServer,
    *,
    token: str,
    allowed_hosts: Collection[str],
    per_minute: int,
    seconds: Callable[[], float] = time.monotonic,
) -> AsyncIterator[ASGIApp]:
    """Yield the application. It can serve within the block.

    Args:
        server: with its tools. The health check returns its name and version.
        token: the bearer token that every caller needs.
        allowed_hosts: for the `Host` header, in lower case. An empty collection allows any.
        per_minute: the maximum calls in a minute.
        seconds: a monotonic clock.
    """
    if not token:
        raise ValueError("a server without a token would be open to everybody")
    async with _running_sdk(server, json_response=True) as plain, _running_sdk(server, json_response=False) as streams:
        yield Guard(
            plain=plain,
            streams=streams,
            health={"ok": True, "name": server.name, "version": server.version},
            token=token.encode(),
            allowed=frozenset(allowed_hosts),
            limit=CallLimit(per_minute),
            seconds=seconds,
        )


@asynccontextmanager
async def _running_sdk(server: MCPServer, *, json_response: bool) -> AsyncIterator[ASGIApp]:
    """Yield the SDK's application, which answers calls in plain JSON or as streams of events."""
    sdk = server.streamable_http_app(
        json_response=json_response,
        # Without sessions, any process can handle any call.
        stateless_http=True,
        # The SDK's check of hosts covers only `/mcp`, takes anything after a colon for a port, and logs what was sent.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    async with server.session_manager.run():
        yield sdk


@dataclass(frozen=True, slots=True)
class LimitState:
    """The limit after one call.

    Attributes:
        is_granted: whether the call is within the limit.
        remaining: how many more calls are possible right now.
        reset_seconds: whole seconds until one more call becomes possible, 1 to 60.
    """

    is_granted: bool
    remaining: int
    reset_seconds: int


class CallLimit:
    """Up to `limit` calls in any 60 seconds. Rejected calls don't count."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._granted_at: deque[float] = deque()

    def take(self, now: float) -> LimitState:
        """Count a call if it is within the limit. `now` is in monotonic seconds."""
        while self._granted_at and self._granted_at[0] <= now - MINUTE:
            self._granted_at.popleft()
        is_granted = len(self._granted_at) < self.limit
        if is_granted:
            self._granted_at.append(now)
        seconds = math.ceil(self._granted_at[0] + MINUTE - now)
        return LimitState(is_granted, self.limit - len(self._granted_at), max(1, min(seconds, MINUTE)))


class NotAMessage(HTTPException):
    """A body that isn't one message of JSON-RPC 2.0. Its answer doesn't repeat the body, as the SDK's would."""

    def __init__(self, code: int, text: str, request_id: RequestId | None = None) -> None:
        super().__init__(400, text)
        self.content = _failure(request_id, code, text)


class _Answer:
    """Sends an answer with the headers that every answer has, and those of the limit if the call was counted."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.headers = list(HEADERS)
        self.has_begun = False
        self.streamed_id: RequestId | None = None

    async def __call__(self, message: Message) -> None:
        """Send a message."""
        if message["type"] == "http.response.start":
            self.has_begun = True
            message["headers"] = [*message["headers"], *self.headers]
        await self._send(message)


@dataclass(frozen=True, kw_only=True, repr=False)
class Guard:
    """Checks each request from the cheapest to the most expensive question, and passes calls to the SDK.

    The SDK's bearer check is for tokens of an OAuth server, and overlooks a second `Authorization` header. Failed
    attempts aren't counted. Nobody can guess 32 random bytes, and a limit on attempts could lock out the owner.

    Attributes:
        plain: the SDK's application that answers in JSON.
        streams: the one that answers as a stream of events, so that progress reaches callers over http, too.
        health: the answer of the health check, which is public.
        token: the bearer token.
        allowed: hosts, with or without their port. Empty for any.
        limit: the limit of calls. There is one token, and so one limit.
        seconds: a monotonic clock.
    """

    plain: ASGIApp
    streams: ASGIApp
    health: dict[str, object]
    token: bytes
    allowed: frozenset[str]
    limit: CallLimit
    seconds: Callable[[], float]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request. An error is answered and logged without its text, which can quote a recipient."""
        answer = _Answer(send)
        response: Response | None = None
        try:
            response = await self._handle(Request(scope, receive), answer)
        except HTTPException as refusal:
            if refusal.status_code in OF_STRANGERS:
                log.debug("request_rejected", status=refusal.status_code)
            else:
                log.info("request_rejected", status=refusal.status_code)
            content = refusal.content if isinstance(refusal, NotAMessage) else {"error": refusal.detail}
            response = JSONResponse(content, refusal.status_code, refusal.headers)
        except asyncio.CancelledError:
            # Only the server's shutdown cancels a call that takes longer than the shutdown waits.
            response = JSONResponse({"error": "Shutting down"}, 503, {"connection": "close"})
            if answer.has_begun and answer.streamed_id is not None:
                event = json.dumps(_failure(answer.streamed_id, INTERNAL_ERROR, "Shutting down"))
                await send({"type": "http.response.body", "body": f"event: message\r\ndata: {event}\r\n\r\n".encode()})
        except Exception as error:  # noqa: BLE001  nobody else can answer
            log.error("request_failed", error=type(error).__name__, where=list_frames(error, FRAMES_LOGGED))  # noqa: TRY400
            response = JSONResponse({"error": "Internal server error"}, 500)
        if response is not None and not answer.has_begun:
            await response(scope, receive, answer)

    async def _handle(self, request: Request, answer: _Answer) -> Response | None:
        """Return the answer. None: the SDK has answered. A slash at the end of the path makes no difference."""
        self._check_hosts(request.headers)
        path = request.scope["path"].removesuffix("/")
        if path not in METHODS:
            raise HTTPException(404, "Not found")
        if request.method not in METHODS[path]:
            raise HTTPException(405, "Method not allowed", {"allow": ", ".join(METHODS[path])})
        if path == "/healthz":
            return JSONResponse(self.health)
        self._check_token(request.scope)
        self._take_call(answer)
        if not request.headers.get("content-type", "").lower().startswith("application/json"):
            raise HTTPException(415, "Content-Type must be application/json")
        body = await request.body()
        message = _parse(body)
        headers = MutableHeaders(scope=request.scope)
        if not headers.get("accept"):
            headers["accept"] = "*/*"
        app = self.plain
        if _wants_stream(message, headers):
            app, answer.streamed_id = self.streams, message["id"]
        await _pass_on(app, {**request.scope, "path": path}, body, request.receive, answer)
        return None

    def _check_hosts(self, headers: Headers) -> None:
        """Reject a `Host` or an `Origin` that isn't allowed. It protects against DNS rebinding.

        Browsers send the page's address as `Origin`, programs don't. The page must be on an allowed host. If any host
        is allowed, the page must be on the requested host. So no other site can make its visitors' browsers call.
        """
        hosts = headers.getlist("host")
        if self.allowed and not (len(hosts) == 1 and self._is_listed(hosts[0])):
            raise HTTPException(403, "Host not allowed")
        for origin in headers.getlist("origin"):
            page = re.fullmatch(f"https?://(?P<host>{HOST})", origin.lower())
            is_own = page is not None and [_name(host) for host in hosts] == [page["name"]]
            if page is None or not (self._is_listed(page["host"]) if self.allowed else is_own):
                raise HTTPException(403, "Origin not allowed")

    def _is_listed(self, host: str) -> bool:
        return not self.allowed.isdisjoint({host.lower(), _name(host)} - {""})

    def _check_token(self, scope: Scope) -> None:
        given = [value.partition(b" ") for name, value in scope["headers"] if name == b"authorization"]
        if len(given) != 1 or not hmac.compare_digest(given[0][2], self.token) or given[0][0].lower() != b"bearer":
            raise HTTPException(401, "Unauthorized", {"www-authenticate": "Bearer"})

    def _take_call(self, answer: _Answer) -> None:
        """Count the call. Its answer has the `RateLimit` fields of the IETF's draft 7."""
        state, limit = self.limit.take(self.seconds()), self.limit.limit
        value = f"limit={limit}, remaining={state.remaining}, reset={state.reset_seconds}"
        answer.headers += [(b"ratelimit", value.encode()), (b"ratelimit-policy", f"{limit};w={MINUTE}".encode())]
        if not state.is_granted:
            raise HTTPException(429, "Too many requests", {"retry-after": str(state.reset_seconds)})


def _name(host: str) -> str:
    """Return a host without its port. Return an empty string for text that isn't a host."""
    found = re.fullmatch(HOST, host.lower())
    return found["name"] if found else ""


def _failure(request_id: RequestId | None, code: int, text: str) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": text}}


def _parse(body: bytes) -> dict[str, Any]:
    """Return the one message in the body. The SDK would take a request with a bad id for a notification."""
    try:
        message = from_json(body)
    except ValueError:
        raise NotAMessage(PARSE_ERROR, "Parse error") from None
    if not isinstance(message, dict):
        raise NotAMessage(INVALID_REQUEST, "Invalid Request: send one message")
    try:
        parsed = jsonrpc_message_adapter.validate_python(message, by_name=False)
    except ValidationError:
        parsed = None
    if parsed is None or (isinstance(parsed, JSONRPCNotification) and "id" in message):
        sent_id = message.get("id")
        is_id = isinstance(sent_id, str | int) and not isinstance(sent_id, bool)
        raise NotAMessage(INVALID_REQUEST, "Invalid Request", sent_id if is_id else None)
    return message


def _wants_stream(message: dict[str, Any], headers: Headers) -> bool:
    """Return whether a call wants progress and accepts a stream."""
    match message:
        case {
            "method": "tools/call",
            "id": _,
            "params": {"name": str() as tool, "_meta": {"progressToken": str() | int()}},
        } if tool in STREAMED:
            return {each.partition(";")[0].strip().lower() for each in headers["accept"].split(",")} >= FORMS
    return False


async def _pass_on(app: ASGIApp, scope: Scope, body: bytes, receive: Receive, answer: _Answer) -> None:
    """Let the SDK handle the call, and notice at the same time if its caller hangs up.

    A call that changes something continues. It checks `has_hung_up` only at points where it can stop.
    """
    rest, hung_up = [body], asyncio.Event()

    async def receive_body() -> Message:
        if rest:
            return {"type": "http.request", "body": rest.pop(), "more_body": False}
        await hung_up.wait()
        return {"type": "http.disconnect"}

    async def watch() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        hung_up.set()

    watching = asyncio.create_task(watch())
    token = HUNG_UP.set(hung_up)
    try:
        await app(scope, receive_body, answer)
    finally:
        HUNG_UP.reset(token)
        watching.cancel()

"""Checks of a request's body: its size, its speed, and whether it is one message of JSON-RPC 2.0."""

import asyncio

import structlog
from mcp_types import INVALID_REQUEST, PARSE_ERROR, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse
from mcp_types import JSONRPCError as Failure
from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bot.mcp_server.http.responses import error_response

log = structlog.get_logger(__name__)

MAX_BYTES = 1024 * 1024
"""The longest sensible call has a few hundred bytes."""

READ_WITHIN_SECONDS = 15.0
NOT_JSON = "Content-Type must be application/json"

REQUEST: TypeAdapter[object] = TypeAdapter(JSONRPCRequest)
NOTIFICATION: TypeAdapter[object] = TypeAdapter(JSONRPCNotification)
REPLY: TypeAdapter[object] = TypeAdapter(JSONRPCResponse | Failure)


class CallerLeft(Exception):
    """The client closed the connection before the end of the body."""


class TooLarge(Exception):
    """A body of more than `MAX_BYTES`."""


class BodyMiddleware:
    """Reads a request's whole body before the next layer, with or without an announced length.

    Starlette and the SDK limit the size too. But they don't limit the time, and don't answer a client that is too slow.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request when its body is complete."""
        try:
            body = await _read_body(receive)
        except CallerLeft:
            return
        except TooLarge:
            log.info("request_rejected", status=413)
            response = error_response(413, f"Request body too large. The limit is {MAX_BYTES} bytes")
            await response(scope, receive, send)
        except TimeoutError:
            log.info("request_rejected", status=408)
            await error_response(408, "Request body too slow", {"connection": "close"})(scope, receive, send)
        else:
            await self._app(scope, replay_body(body, receive), send)


async def _read_body(receive: Receive) -> bytes:
    body = bytearray()
    async with asyncio.timeout(READ_WITHIN_SECONDS):
        while (message := await receive())["type"] == "http.request":
            body += message.get("body", b"")
            if len(body) > MAX_BYTES:
                raise TooLarge
            if not message.get("more_body", False):
                return bytes(body)
    raise CallerLeft


def replay_body(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that first delivers `body` in one piece, then the messages of the original."""
    first: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return first.pop() if first else await receive()

    return receive_again


class MessageMiddleware:
    """Rejects a body that isn't one message. It must be behind `BodyMiddleware`, which delivers it in one piece.

    The SDK's own error would repeat the body at length, and a request with a bad id would count as a notification.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a body that is one message."""
        body = (await receive())["body"]
        is_json = Headers(scope=scope).get("content-type", "").lower().startswith("application/json")
        rejection = _find_rejection(body) if is_json else _rejection(None, INVALID_REQUEST, NOT_JSON, 415)
        if rejection is None:
            await self._app(scope, replay_body(body, receive), send)
            return
        log.info("request_rejected", status=rejection.status_code)
        await rejection(scope, receive, send)


def _find_rejection(body: bytes) -> Response | None:
    try:
        message = from_json(body)
    except ValueError:
        return _rejection(None, PARSE_ERROR, "Parse error")
    if not isinstance(message, dict):
        return _rejection(None, INVALID_REQUEST, "Invalid Request: send one message")
    try:
        _form_of(message).validate_python(message)
    except ValidationError:
        sent_id = message.get("id")
        valid_id = sent_id if isinstance(sent_id, str | int) and not isinstance(sent_id, bool) else None
        return _rejection(valid_id, INVALID_REQUEST, "Invalid Request")
    return None


def _form_of(message: dict[str, object]) -> TypeAdapter[object]:
    if "method" not in message:
        return REPLY
    return REQUEST if "id" in message else NOTIFICATION


def _rejection(request_id: str | int | None, code: int, text: str, status: int = 400) -> Response:
    return JSONResponse({"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": text}}, status)

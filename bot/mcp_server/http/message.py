"""Whether a body is one message of JSON-RPC 2.0. The SDK's own words on what isn't repeat it at length."""

import structlog
from mcp_types import INVALID_REQUEST, PARSE_ERROR, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse
from mcp_types import JSONRPCError as Failure
from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from bot.mcp_server.http.answers import answer
from bot.mcp_server.http.body import told_again

log = structlog.get_logger(__name__)

REQUEST: TypeAdapter[object] = TypeAdapter(JSONRPCRequest)
NOTIFICATION: TypeAdapter[object] = TypeAdapter(JSONRPCNotification)
REPLY: TypeAdapter[object] = TypeAdapter(JSONRPCResponse | Failure)


class OneMessage:
    """Refuses what is no message, so that a request with a bad id isn't taken for a notification either.

    Its place is behind `Body`, which brings the body in one piece.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a body that is one message."""
        body = (await receive())["body"]
        refusal = _refusal_of(body)
        if refusal is None:
            await self._app(scope, told_again(body, receive), send)
            return
        log.info("request_rejected", status=400)
        await answer(refusal, scope, told_again(b"", receive), send)


def _refusal_of(body: bytes) -> Response | None:
    try:
        message = from_json(body)
    except ValueError:
        return _failure(None, PARSE_ERROR, "Parse error")
    if not isinstance(message, dict):
        return _failure(None, INVALID_REQUEST, "Invalid Request: send one message")
    try:
        _form_of(message).validate_python(message)
    except ValidationError:
        asked = message.get("id")
        known = asked if isinstance(asked, str | int) and not isinstance(asked, bool) else None
        return _failure(known, INVALID_REQUEST, "Invalid Request")
    return None


def _form_of(message: dict[str, object]) -> TypeAdapter[object]:
    if "method" not in message:
        return REPLY
    return REQUEST if "id" in message else NOTIFICATION


def _failure(asked: str | int | None, code: int, said: str) -> Response:
    return JSONResponse({"jsonrpc": "2.0", "id": asked, "error": {"code": code, "message": said}}, 400)

"""Which calls are answered as a stream of events, so that progress reaches callers over http as over stdio.

All other calls are answered in plain JSON. A stream belongs to one call and ends with its answer.
"""

import asyncio
from typing import Final

from mcp_types import INTERNAL_ERROR, ErrorData, JSONRPCError, RequestId
from pydantic_core import from_json
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bot.mcp_server.http.bodies import replay_body

STREAMED: Final = frozenset({"wait_for_offramp_order"})
"""The tools that report progress. They must only read: the SDK ends a streamed call when its caller hangs up."""

FORMS: Final = frozenset({"application/json", "text/event-stream"})
"""What a caller must accept, because the SDK chooses between both in a stream's first seconds."""


class StreamRouter:
    """Sends calls that want progress to `streams`, and all others to `plain`.

    It must be behind `DisconnectMiddleware`, where the body is complete and is one message.
    """

    def __init__(self, plain: ASGIApp, streams: ASGIApp) -> None:
        self._plain, self._streams = plain, streams

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on the call. A caller that doesn't say what it accepts, accepts anything."""
        body, headers = (await receive())["body"], MutableHeaders(scope=scope)
        if not headers.get("accept"):
            headers["accept"] = "*/*"
        request_id = _streamed_id(body) if _accepts_stream(scope) else None
        if request_id is None:
            await self._plain(scope, replay_body(body, receive), send)
        else:
            await self._stream(request_id, scope, replay_body(body, receive), send)

    async def _stream(self, request_id: RequestId, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on the call. If the shutdown cuts its stream off, end the stream with an error."""
        has_begun = False

        async def send_event(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            await self._streams(scope, receive, send_event)
        except asyncio.CancelledError:
            if not has_begun:
                raise
            failure = ErrorData(code=INTERNAL_ERROR, message="Shutting down")
            error = JSONRPCError(jsonrpc="2.0", id=request_id, error=failure)
            event = f"event: message\r\ndata: {error.model_dump_json(exclude_none=True)}\r\n\r\n"
            await send({"type": "http.response.body", "body": event.encode(), "more_body": False})


def _accepts_stream(scope: Scope) -> bool:
    accepted = Headers(scope=scope).get("accept", "").split(",")
    return {each.partition(";")[0].strip().lower() for each in accepted} >= FORMS


def _streamed_id(body: bytes) -> RequestId | None:
    """Return the id of a call that wants progress, or None."""
    match from_json(body):
        case {
            "method": "tools/call",
            "id": str() | int() as request_id,
            "params": {"name": str() as tool, "_meta": {"progressToken": str() | int()}},
        } if tool in STREAMED:
            return request_id
    return None

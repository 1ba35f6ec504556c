"""Answers to `/bot{token}/{method}` and `/file/bot{token}/{path}`, faults included.

Plain ASGI, because benchmarks send thousands of calls per second.
"""

from __future__ import annotations

import asyncio
import json
import re
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from bot.sandbox.bot_api.calls import ApiError, NotFound, TooManyRequests, read_call
from bot.sandbox.bot_api.methods import RawJson, find_method, run
from bot.sandbox.bot_api.model import ALERT_BOT_TOKEN
from bot.sandbox.bot_api.sending import send_alert
from bot.sandbox.wire import drop_connection

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from bot.sandbox.bot_api.box import Fault, Sandbox
    from bot.sandbox.bot_api.calls import Params

MAX_BODY_BYTES = 60_000_000
_TOKEN = re.compile(r"\d+:[\w-]{30,}")
_ALERT_PATH = f"/bot{ALERT_BOT_TOKEN}/sendMessage"
_GATEWAY_PAGE = "<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>"


class _Dropped(Exception):
    """The connection must be closed without an answer."""


class BotApi:
    """The Bot API as an ASGI application."""

    def __init__(self, box: Sandbox) -> None:
        self._box = box

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one call."""
        try:
            response = await self._respond(scope, receive)
        except _Dropped:
            await drop_connection(scope)
            return
        await response(scope, receive, send)

    async def _respond(self, scope: Scope, receive: Receive) -> Response:
        name, chat_id = "", ""
        try:
            if scope["path"] == _ALERT_PATH:
                # Faults and the log of calls are about the first bot.
                return _success(send_alert(self._box, await _read(scope, receive)))
            name = self._method_name(scope["path"])
            params = await _read(scope, receive)
            chat_id = params.text("chat_id")
            response = await self._with_faults(name, chat_id, params, receive)
        except ApiError as error:
            response = _refusal(error)
            if name:
                self._box.log_call(name, chat_id, error.code)
        return response

    def _method_name(self, path: str) -> str:
        token, _, name = path.removeprefix("/bot").partition("/")
        check_token(self._box, token)
        find_method(name)
        return name

    async def _with_faults(self, name: str, chat_id: str, params: Params, receive: Receive) -> Response:
        fault = self._box.faults.take(name.lower(), chat_id)
        if fault is not None:
            early = await _before(fault, receive)
            if early is not None:
                self._box.log_call(name, chat_id, early.status_code)
                return early
        dropped = fault is not None and fault.fault == "drop_after"
        try:
            result = await _while_connected(self._box, name, params, receive)
        except ApiError as error:
            if dropped:
                raise _Dropped from error
            raise
        self._box.log_call(name, chat_id, None)
        if dropped:
            raise _Dropped
        if fault is not None and fault.fault == "delay_after":
            await _hung_up_within(receive, fault.seconds)
        return _success(result)


async def download(box: Sandbox, path: str) -> Response:
    """Answer `/file/bot{token}/{path}`."""
    token, _, file_path = path.partition("/")
    try:
        check_token(box, token)
        file = next((file for file in box.world.files.values() if file.path == file_path), None)
        content = None if file is None else box.world.journal.blob(file.file_id)
        if file is None or content is None:
            raise NotFound
    except ApiError as error:
        return _refusal(error)
    return Response(content, media_type=file.mime)


def check_token(box: Sandbox, token: str) -> None:
    """Reject a token that isn't the bot's.

    Raises:
        ApiError: 404, it is malformed; 401, it is another bot's.
    """
    if token != box.world.settings.bot_token:
        raise ApiError(401, "Unauthorized") if _TOKEN.fullmatch(token) else NotFound


async def _read(scope: Scope, receive: Receive) -> Params:
    chunks: list[bytes] = []
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _Dropped
        chunks.append(message.get("body", b""))
        size += len(chunks[-1])
        if size > MAX_BODY_BYTES:
            raise ApiError(413, "Request Entity Too Large")
        more = message.get("more_body", False)
    content_type = next((value for name, value in scope["headers"] if name == b"content-type"), b"")
    return read_call(scope["query_string"], content_type.decode("latin-1"), b"".join(chunks))


async def _while_connected(box: Sandbox, name: str, params: Params, receive: Receive) -> Any:  # noqa: ANN401
    """Run a method. If the caller hangs up, only a wait for updates ends early."""
    if name.lower() != "getupdates" or not params.integer("timeout"):
        return await run(box, name, params)
    call = asyncio.ensure_future(run(box, name, params))
    hung_up = asyncio.ensure_future(_hang_up(receive))
    try:
        await asyncio.wait({call, hung_up}, return_when=asyncio.FIRST_COMPLETED)
        if not call.done():
            raise _Dropped
        return call.result()
    finally:
        hung_up.cancel()
        call.cancel()


async def _hang_up(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _hung_up_within(receive: Receive, seconds: float) -> bool:
    try:
        await asyncio.wait_for(_hang_up(receive), seconds)
    except TimeoutError:
        return False
    return True


async def _before(fault: Fault, receive: Receive) -> Response | None:
    match fault.fault:
        case "delay":
            # The caller hung up in the meantime, so the call counts as never received.
            if await _hung_up_within(receive, fault.seconds):
                raise _Dropped
        case "drop_before":
            raise _Dropped
        case "500":
            return _refusal(ApiError(500, "Internal Server Error"))
        case "429":
            return _refusal(TooManyRequests(fault.retry_after))
        case "html":
            return Response(_GATEWAY_PAGE, 502, media_type="text/html")
    return None


def _success(result: Any) -> Response:  # noqa: ANN401  each method has its own result
    text = result if isinstance(result, RawJson) else json.dumps(result, ensure_ascii=False)
    return Response(f'{{"ok":true,"result":{text}}}', media_type="application/json")


def _refusal(error: ApiError) -> Response:
    return Response(json.dumps(error.as_json()), error.code, media_type="application/json")

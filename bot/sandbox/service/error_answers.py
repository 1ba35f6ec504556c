"""Error answers of the service: JSON by the document, or a web server's page where the live service sends one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, JSONResponse, Response

from bot.sandbox.service.api import MalformedJson
from bot.sandbox.service.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request

    from bot.sandbox.service.service import Service

    Answer = Callable[[Request, Exception], Awaitable[Response]]

log = structlog.get_logger(__name__)


def exception_handlers(service: Service) -> dict[type[Exception] | int, Answer]:
    """Return the handlers for refusals, unknown paths and internal errors (settlement API, 7)."""

    async def refused(_request: Request, error: Exception) -> Response:
        refusal = error if isinstance(error, Refusal) else Refusal(500, "internal server error")
        if isinstance(refusal, MalformedJson) and service.switches.profile.html_for_bad_json:
            return _page(400, "Bad Request")
        headers = {} if refusal.retry_after is None else {"retry-after": str(refusal.retry_after)}
        return JSONResponse({"error": refusal.message}, status_code=refusal.status, headers=headers)

    async def not_routed(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        headers = error.headers if isinstance(error, HTTPException) else None
        if service.switches.profile.html_for_unknown_paths and not request.url.path.startswith("/control"):
            return _page(404, f"Cannot {request.method} this path")
        text = "method not allowed" if status == 405 else "no such path"  # noqa: PLR2004  the status says it best
        return JSONResponse({"error": text}, status_code=status, headers=headers)

    async def broken(_request: Request, error: Exception) -> Response:
        log.error("request_failed", error=type(error).__name__)
        return JSONResponse({"error": "internal server error"}, status_code=500)

    return {Refusal: refused, HTTPException: not_routed, Exception: broken}


def _page(status: int, text: str) -> Response:
    page = f"<!DOCTYPE html>\n<html lang='en'><head><title>Error</title></head><body><pre>{text}</pre></body></html>\n"
    return HTMLResponse(page, status_code=status)

"""The chat page: shows the bot at work without any account.

It serves the page and its files. It also passes requests of the page's wallet and service panel to the settlement
sandbox's control endpoints, so that the browser needs only one address. `/replicas` controls several replicas of the
bot.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from bot.payments.tokens import TOKENS
from bot.sandbox.replicas import NoSuchAction, Replicas

if TYPE_CHECKING:
    import os

    from starlette.requests import Request
    from starlette.types import ASGIApp, Receive, Scope, Send

SERVICE: Final = "/service"
STATIC: Final = Path(__file__).parent / "static"

# Messages hold foreign text. If any of it were taken for markup, the browser would refuse to run it.
_POLICY: Final = (
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' blob:",
    "connect-src 'self'",
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "object-src 'none'",
)
CONTENT_SECURITY_POLICY: Final = "; ".join(_POLICY)
HEADERS: Final = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-cache",
}


def routes(service: ASGIApp, replicas: Replicas | None = None) -> list[BaseRoute]:
    """Return the routes of the page (``/``), its files (``/static``), ``/service`` and ``/replicas``.

    Args:
        service: the settlement sandbox.
        replicas: the replicas of the bot, if the sandbox runs it.
    """
    controls = _ReplicaControls(replicas)
    return [
        Route("/", _page, methods=["GET"]),
        Route("/static/tokens.js", _tokens, methods=["GET"]),
        Mount("/static", _Static(directory=STATIC)),
        Mount(SERVICE, _Controls(service)),
        Route("/replicas", controls.show, methods=["GET"]),
        Route("/replicas/{number:int}/{action}", controls.act, methods=["POST"]),
    ]


async def _page(_request: Request) -> Response:
    return FileResponse(STATIC / "index.html", headers=HEADERS)


async def _tokens(_request: Request) -> Response:
    """Return a JavaScript module with the tokens for the page's wallet."""
    known = [
        {
            "channel": token.code,
            "symbol": token.symbol,
            "chain": token.chain.name,
            "chainId": token.chain.id,
            "contract": token.contract,
            "decimals": token.decimals,
        }
        for token in TOKENS.values()
    ]
    return Response(f"export const TOKENS = {json.dumps(known)};\n", media_type="text/javascript", headers=HEADERS)


class _Static(StaticFiles):
    """Static files with the page's headers, so that modules have the same policy as the page."""

    def file_response(
        self,
        full_path: str | os.PathLike[str],
        stat_result: os.stat_result,
        scope: Scope,
        status_code: int = 200,
    ) -> Response:
        """Return the file, or 304, with the page's headers."""
        response = super().file_response(full_path, stat_result, scope, status_code)
        response.headers.update(HEADERS)
        return response


class _ReplicaControls:
    """Show the replicas of the bot, and do what the panel asks."""

    def __init__(self, replicas: Replicas | None) -> None:
        self._replicas = replicas

    async def show(self, _request: Request) -> Response:
        """Answer ``{replicas, alive}``: the list, which is empty if there is only one bot, and the numbers that run."""
        views = await self._replicas.view() if self._replicas is not None else []
        alive = self._replicas.alive if self._replicas is not None else []
        return JSONResponse({"replicas": views, "alive": alive}, headers=HEADERS)

    async def act(self, request: Request) -> Response:
        """Do what the path says, and answer as `show` does. 415 without JSON, 409 ``{error}`` if it can't be done."""
        # Pages of other sites can't send this type without permission, so they can't kill a process.
        if not request.headers.get("content-type", "").lower().startswith("application/json"):
            return JSONResponse({"error": "content-type must be application/json"}, status_code=415)
        if self._replicas is None:
            return JSONResponse({"error": "there are no replicas"}, status_code=409)
        try:
            await self._replicas.act(request.path_params["number"], request.path_params["action"])
        except NoSuchAction as error:
            return JSONResponse({"error": str(error)}, status_code=409)
        return await self.show(request)


class _Controls:
    """Pass a request to the service's `/control`. Nothing else of it can be reached this way: `/v1` needs a key."""

    def __init__(self, service: ASGIApp) -> None:
        self._service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the service does."""
        path = "/control" + scope["path"].removeprefix(SERVICE)
        await self._service({**scope, "path": path, "raw_path": path.encode(), "root_path": ""}, receive, send)

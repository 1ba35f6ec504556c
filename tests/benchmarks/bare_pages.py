"""The server that wallet pages are compared with: plain Starlette on uvicorn, with a fixed answer of a page's size."""

import sys

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

BODY = b"{" + b" " * 380 + b"}"


async def answer(_request: Request) -> Response:
    """Return the fixed answer."""
    return Response(BODY, media_type="application/json")


if __name__ == "__main__":
    app = Starlette(routes=[Route("/{path:path}", answer)])
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), access_log=False, log_level="warning")

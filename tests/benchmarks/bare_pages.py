"""What a page's look is compared with: Starlette on uvicorn, both as they come, and one fixed answer of its size."""

import sys

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

BODY = b"{" + b" " * 380 + b"}"


async def answer(_request: Request) -> Response:
    """The same for everybody."""
    return Response(BODY, media_type="application/json")


if __name__ == "__main__":
    app = Starlette(routes=[Route("/{path:path}", answer)])
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), access_log=False, log_level="warning")

"""The http transport: `POST /mcp` and `GET /healthz`, behind layers that check each request.

From the outside inwards: `ErrorMiddleware` (headers, internal errors), `HostMiddleware`, and the routes. Calls of
`POST /mcp` then pass `BearerMiddleware`, `RateLimitMiddleware`, `BodyMiddleware`, `MessageMiddleware` and
`DisconnectMiddleware`. `StreamRouter` passes them to the SDK. No body is kept before the bearer token was checked.
"""

from bot.mcp_server.http.server import serve

__all__ = ["serve"]

"""The middleware that adds security headers to every answer, and logs errors without quoting the request."""

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bot.core.error_location import list_frames

log = structlog.get_logger(__name__)

FRAMES_LOGGED = 4

# Nothing from other hosts and nothing inline. If text were interpreted as markup, the browser wouldn't run it.
_POLICY = (
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
)
CONTENT_SECURITY_POLICY = "; ".join(_POLICY)
HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "x-robots-tag": "noindex, nofollow, noarchive",
    "referrer-policy": "no-referrer",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
CACHING, PRIVATE = b"cache-control", b"no-store"
ENCRYPTED_ONLY = "max-age=31536000"


class SecurityHeadersMiddleware:
    """Adds security headers to every answer. `encrypted`: the public address is https, so browsers must use it."""

    def __init__(self, app: ASGIApp, *, encrypted: bool) -> None:
        self._app = app
        headers = {**HEADERS, "strict-transport-security": ENCRYPTED_ONLY} if encrypted else HEADERS
        self._headers = [(name.encode(), value.encode()) for name, value in headers.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Add the headers. Log errors without their text, which can quote the secret address of a page."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = message["headers"]
                headers.extend(self._headers)
                if all(name != CACHING for name, _ in headers):
                    headers.append((CACHING, PRIVATE))
            await send(message)

        try:
            await self._app(scope, receive, send_with_headers)
        except Exception as error:  # noqa: BLE001  Starlette has answered 500 before it raised this
            log.error("request_failed", error=type(error).__name__, where=list_frames(error, FRAMES_LOGGED))  # noqa: TRY400

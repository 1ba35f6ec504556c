"""A client of an application in this process. It calls the application directly.

HTTPX's requests, addresses, headers and transports take three times as long as the sandbox's answer, and stories look
at a chat at each change.
"""

import asyncio
import json
from collections.abc import Mapping
from typing import Any, Self
from urllib.parse import urlencode, urlsplit

import httpx
from starlette.types import ASGIApp, Message, Scope

from tests.waiting import TIMEOUT_SECONDS

ANSWER_SECONDS = 2 * TIMEOUT_SECONDS  # a button press waits for its answer for up to the timeout


class Answer(httpx.Response):
    """An answer of the application. HTTPX wants to know the request before it says that an answer is no error."""

    asked: str

    def raise_for_status(self) -> Self:
        """Return this answer.

        Raises:
            AssertionError: it is an error.
        """
        assert not self.is_error, f"{self.asked} was answered with {self.status_code}: {self.text[:1000]}"
        return self


class ApplicationClient(httpx.AsyncClient):
    """HTTPX's client, but requests go straight to the application. Only uploads of files take HTTPX's way."""

    def __init__(self, app: ASGIApp, address: str) -> None:
        super().__init__(base_url=address, timeout=ANSWER_SECONDS, transport=httpx.ASGITransport(app))
        self._app = app

    async def request(  # type: ignore[override]  # what tests use of it
        self,
        method: str,
        url: str,
        *,
        params: Mapping[str, Any] | None = None,
        json: Any = None,
        content: bytes | None = None,
        data: Mapping[str, Any] | None = None,
        files: Any = None,
        headers: Mapping[str, str] | None = None,
        **_: Any,
    ) -> httpx.Response:
        """Send a request, and return the answer."""
        if files:
            return await super().request(method, url, data=data, files=files)
        kind, body = _encode(json, data) if content is None else ("application/json", content)
        asked = urlsplit(url)
        given = {name.lower(): value for name, value in (headers or {}).items()}
        sent = {"host": self.base_url.host, "content-type": kind, "content-length": str(len(body)), **given}
        scope: Scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": asked.path,
            "raw_path": asked.path.encode(),
            "query_string": "&".join(filter(None, (asked.query, _encode_query(params or {})))).encode(),
            "root_path": "",
            "headers": [(name.encode(), value.encode()) for name, value in sent.items()],
            "server": (self.base_url.host, 80),
            "client": ("127.0.0.1", 1234),
        }
        async with asyncio.timeout(ANSWER_SECONDS):
            answer = await _call(self._app, scope, body)
        answer.asked = f"{method} {url}"
        return answer


def _encode(json_body: Any, data: Mapping[str, Any] | None) -> tuple[str, bytes]:
    """Return the type and the bytes of a request's body."""
    if data:
        return "application/x-www-form-urlencoded", _encode_query(data).encode()
    return "application/json", b"" if json_body is None else json.dumps(json_body).encode()


def _encode_query(values: Mapping[str, Any]) -> str:
    return urlencode({name: str(value).lower() if isinstance(value, bool) else value for name, value in values.items()})


async def _call(app: ASGIApp, scope: Scope, body: bytes) -> Answer:
    """Call the application, and return its answer when that is complete."""
    requests: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]
    answered, start, parts = asyncio.Event(), dict[str, Any](), list[bytes]()

    async def receive() -> Message:
        if requests:
            return requests.pop()
        await answered.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            start.update(message)
        else:
            parts.append(message.get("body", b""))
            if not message.get("more_body", False):
                answered.set()

    await app(scope, receive, send)
    return Answer(start["status"], headers=start.get("headers", ()), content=b"".join(parts))

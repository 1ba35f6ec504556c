"""How python-telegram-bot reaches Telegram: aiohttp, straight under its `BaseRequest`.

Not python-telegram-bot's own `HTTPXRequest`, because httpx's pool costs time quadratic in the number of open
requests. Not aiohttp under httpx either: that bridge (httpx-aiohttp 0.2) reports a connection cut after the request
was written as a time-out while connecting, so that a message which may have arrived would pass for one never sent.
Directly on aiohttp each failure is seen as what it is, and translated once, in `_translated`.

The address of every call holds the bot's token. No error made here carries an address, and none is chained.
"""

import functools
import json
import ssl
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any, Final

import aiohttp
import httpx
from telegram.error import TelegramError
from telegram.request import BaseRequest, RequestData
from yarl import URL

from bot.infra.telegram.errors import SlowDown, Unanswered, Unsent

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
KEEP_SECONDS = 15.0
"""A connection idle for longer is not used again: the other side may be just about to close it."""

CLOCKS_AGREE: Final = timedelta(seconds=2)
"""An answer's time is in whole seconds, and has been under way: a smaller difference to ours says nothing."""

UNKNOWN_PAUSE = 5.0
"""Seconds to wait after a 429 that doesn't say how long."""

# Everything that aiohttp raises before a byte of the request is written.
_BEFORE_SENDING: Final = (
    aiohttp.ClientConnectorError,
    aiohttp.ClientHttpProxyError,
    aiohttp.ConnectionTimeoutError,
    aiohttp.ServerFingerprintMismatch,
    aiohttp.InvalidURL,
    aiohttp.NonHttpUrlClientError,
)


class TelegramRequest(BaseRequest):
    """Calls of the Bot API over aiohttp. All times are seconds; every phase of a call has a limit.

    Args:
        connections: how many calls may be under way at once; more wait up to `pool_timeout`.
        read_timeout: silence from Telegram after the request was sent; a long poll adds its own.
        write_timeout: what sending may take beyond that, `media_write_timeout` where a file is sent.
        connect_timeout: reaching Telegram, the TLS handshake included.
        pool_timeout: waiting for one of the `connections`.
        environment: whether HTTPS_PROXY and its like are heeded; never for addresses on this machine.
        may_call: asked before each call whether this process may make it.
    """

    def __init__(
        self,
        *,
        connections: int = 256,
        read_timeout: float = 15.0,
        write_timeout: float = 10.0,
        media_write_timeout: float = 30.0,
        connect_timeout: float = 5.0,
        pool_timeout: float = 5.0,
        environment: bool = True,
        may_call: Callable[[], bool] = lambda: True,
    ) -> None:
        self._connections = connections
        self._read = read_timeout
        self._write = write_timeout
        self._media_write = media_write_timeout
        self._connect = connect_timeout
        self._pool = pool_timeout
        self._environment = environment
        self._may_call = may_call
        self._sessions: dict[bool, aiohttp.ClientSession] = {}
        self.clock_offset = timedelta(0)
        """How far Telegram's clock is ahead of this machine's, by its last answer that told the time."""

    @property
    def read_timeout(self) -> float | None:
        """Seconds of silence that are borne by default."""
        return self._read

    async def initialize(self) -> None:
        """Nothing to do: a session is made by the first call that needs it."""

    async def shutdown(self) -> None:
        """Close every connection; a later call opens new ones."""
        sessions, self._sessions = list(self._sessions.values()), {}
        for session in sessions:
            await session.close()

    async def do_request(  # noqa: PLR0917  the signature of BaseRequest
        self,
        url: str,
        method: str,
        request_data: RequestData | None = None,
        read_timeout: Any = BaseRequest.DEFAULT_NONE,  # noqa: ANN401  a default of BaseRequest's private type
        write_timeout: Any = BaseRequest.DEFAULT_NONE,  # noqa: ANN401
        connect_timeout: Any = BaseRequest.DEFAULT_NONE,  # noqa: ANN401
        pool_timeout: Any = BaseRequest.DEFAULT_NONE,  # noqa: ANN401
    ) -> tuple[int, bytes]:
        """Send one request and return the status and body of the answer.

        Raises:
            Unsent: Telegram was not reached, or this process may not call it.
            Unanswered: the request may have been carried out: no whole answer, or a 5xx.
            SlowDown: 429.
        """
        if not self._may_call():
            raise Unsent("this process no longer acts as the bot")
        with_files = request_data is not None and request_data.contains_files
        limits = _limits(
            read=_given(read_timeout, self._read),
            write=_given(write_timeout, self._media_write if with_files else self._write),
            connect=_given(connect_timeout, self._connect),
            pool=_given(pool_timeout, self._pool),
        )
        try:
            address = URL(url)
            session = self._session_for(address)
            async with session.request(method, address, data=_body(request_data), timeout=limits) as answer:
                self._compare_clocks(answer.headers.get("Date", ""))
                status, body = answer.status, await answer.read()
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            raise _translated(error) from None
        _check(status, body)
        return status, body

    @staticmethod
    def parse_json_payload(payload: bytes) -> dict[str, Any]:
        """Read an answer. Unlike the inherited one it never logs what it can't read: that may be personal.

        Raises:
            Unanswered: it is not the JSON object that the Bot API always answers with.
        """
        try:
            answer = json.loads(payload)
        except ValueError:
            raise Unanswered("the answer is not JSON") from None
        if not isinstance(answer, dict) or (answer.get("ok") is not False and "result" not in answer):
            raise Unanswered("the answer is not one of the Bot API")
        return answer

    def _compare_clocks(self, told: str) -> None:
        try:
            offset = parsedate_to_datetime(told) - datetime.now(UTC)
        except (ValueError, TypeError):
            # A Bot API server of one's own needs to tell no time.
            return
        self.clock_offset = offset if abs(offset) > CLOCKS_AGREE else timedelta(0)

    def _session_for(self, address: URL) -> aiohttp.ClientSession:
        proxied = self._environment and address.host not in LOOPBACK
        if proxied not in self._sessions:
            context = _tls() if address.scheme == "https" else True
            connector = aiohttp.TCPConnector(limit=self._connections, ssl=context, keepalive_timeout=KEEP_SECONDS)
            self._sessions[proxied] = aiohttp.ClientSession(
                connector=connector,
                cookie_jar=aiohttp.DummyCookieJar(),
                headers={"User-Agent": self.USER_AGENT},
                trust_env=proxied,
            )
        return self._sessions[proxied]


@functools.cache
def _tls() -> ssl.SSLContext:
    # httpx's context brings certifi's authorities along, so a bare container needs none, and heeds SSL_CERT_FILE.
    return httpx.create_ssl_context()


def _given(timeout: Any, default: float) -> float | None:  # noqa: ANN401  see do_request
    if timeout is BaseRequest.DEFAULT_NONE:
        return default
    return None if timeout is None else float(timeout)


def _limits(
    *, read: float | None, write: float | None, connect: float | None, pool: float | None
) -> aiohttp.ClientTimeout:
    parts = (read, write, connect, pool)
    total = None if None in parts else sum(part for part in parts if part is not None)
    waiting = None if connect is None or pool is None else connect + pool
    return aiohttp.ClientTimeout(total=total, connect=waiting, sock_connect=connect, sock_read=read)


def _body(request_data: RequestData | None) -> aiohttp.FormData | None:
    if request_data is None:
        return None
    form = aiohttp.FormData(default_to_multipart=request_data.contains_files)
    for name, value in request_data.json_parameters.items():
        form.add_field(name, value)
    if request_data.contains_files:
        for name, (filename, content, mime_type) in request_data.multipart_data.items():
            form.add_field(name, content, filename=filename, content_type=mime_type)
    return form


def _translated(error: Exception) -> TelegramError:
    if isinstance(error, _BEFORE_SENDING):
        return Unsent(f"Telegram was not reached: {type(error).__name__}")
    return Unanswered(f"no answer from Telegram: {type(error).__name__}")


def _check(status: int, body: bytes) -> None:
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        raise SlowDown(_pause_in(body))
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        raise Unanswered(f"Telegram is in trouble ({status})")


def _pause_in(body: bytes) -> float:
    try:
        pause = json.loads(body)["parameters"]["retry_after"]
    except (ValueError, KeyError, TypeError):
        return UNKNOWN_PAUSE
    return float(pause) if isinstance(pause, int | float) and pause > 0 else UNKNOWN_PAUSE

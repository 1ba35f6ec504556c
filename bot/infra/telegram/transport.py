"""The HTTP transport of python-telegram-bot: its `BaseRequest` on aiohttp.

We don't use python-telegram-bot's own `HTTPXRequest`: the time of httpx's pool is quadratic in the number of open
requests. We don't use aiohttp below httpx (httpx-aiohttp 0.2) either. It reports a connection that was lost after the
request was written as a time-out while connecting. A message that may have arrived would then count as never sent.
On aiohttp itself the kinds of failure can be distinguished. `_translate_error` does so.

The address of every call contains the bot's token. So no error of this module contains an address or is chained.
"""

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import urlencode

import aiohttp
from prometheus_client import Counter, Histogram
from telegram.error import TelegramError
from telegram.request import BaseRequest, RequestData
from yarl import URL

from bot.infra.db.fence import is_lease_held
from bot.infra.metrics import start_at_zero
from bot.infra.telegram.outcomes import ServerError, SlowDown, Unanswered, Unsent
from bot.infra.tls import get_tls_context

KINDS: Final = ("message", "edit", "other")
CALLS: Final = Counter(
    "kirim_telegram_calls",
    "Calls of the Bot API. `unsent` never left this machine, and `unanswered` may have been executed.",
    ["kind", "result"],
)
start_at_zero(CALLS, KINDS, ("ok", "rejected", "too_many_requests", "server_error", "unanswered", "unsent"))
CALL_SECONDS: Final = Histogram(
    "kirim_telegram_seconds",
    "How long Telegram took to answer. Long polls for updates aren't counted.",
    ["kind"],
    buckets=(0.025, 0.05, 0.1, 0.2, 0.35, 0.5, 1, 2, 5, 15),
)
start_at_zero(CALL_SECONDS, KINDS)

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
KEEP_SECONDS = 15.0
"""Seconds after which an idle connection isn't used again, because Telegram may be about to close it."""

CLOCKS_AGREE: Final = timedelta(seconds=2)
"""Differences of the clocks below this mean nothing: answers have whole seconds, and take time to arrive."""

UNKNOWN_PAUSE = 5.0
"""Seconds to wait after a 429 that doesn't say how long."""

URL_ENCODED: Final = {"Content-Type": "application/x-www-form-urlencoded"}

# All errors that aiohttp raises before it writes a byte of the request.
_BEFORE_SENDING: Final = (
    aiohttp.ClientConnectorError,
    aiohttp.ClientHttpProxyError,
    aiohttp.ConnectionTimeoutError,
    aiohttp.ServerFingerprintMismatch,
    aiohttp.InvalidURL,
    aiohttp.NonHttpUrlClientError,
)


class TelegramRequest(BaseRequest):
    """Makes calls of the Bot API over aiohttp. All times are seconds. Every phase of a call has a time limit.

    Args:
        connections: the maximum of calls at once. More calls wait up to `pool_timeout`.
        read_timeout: how long Telegram may send nothing after the request. A long poll adds its own time.
        write_timeout: how much longer the sending may take.
        media_write_timeout: the same for requests with files.
        connect_timeout: the time to connect, with the TLS handshake.
        pool_timeout: the time to wait for one of the `connections`.
        uses_proxy: whether to use HTTPS_PROXY and similar variables. Addresses on this machine never use them.
        may_call: returns whether the current work may call Telegram. It is called before each request, and again when
            the request is about to be written, because connecting can take longer than a lease lasts.
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
        uses_proxy: bool = True,
        may_call: Callable[[], bool] = is_lease_held,
    ) -> None:
        self._connections = connections
        self._read = read_timeout
        self._write = write_timeout
        self._media_write = media_write_timeout
        self._connect = connect_timeout
        self._pool = pool_timeout
        self._uses_proxy = uses_proxy
        self._may_call = may_call
        self._sessions: dict[bool, aiohttp.ClientSession] = {}
        self.clock_offset = timedelta(0)
        """How far Telegram's clock is ahead of this machine's, by the last answer with a date."""

    @property
    def read_timeout(self) -> float | None:
        """The default read time-out in seconds."""
        return self._read

    async def initialize(self) -> None:
        """Do nothing: the first call opens the session that it needs."""

    async def shutdown(self) -> None:
        """Close every connection. A later call opens new ones."""
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
            Unsent: Telegram wasn't reached, or this process may not call it.
            Unanswered: the request may have been executed. There was no complete answer, or a 5xx.
            SlowDown: 429.
        """
        with_files = request_data is not None and request_data.contains_files
        limits = _build_timeouts(
            read=_to_seconds(read_timeout, self._read),
            write=_to_seconds(write_timeout, self._media_write if with_files else self._write),
            connect=_to_seconds(connect_timeout, self._connect),
            pool=_to_seconds(pool_timeout, self._pool),
        )
        began = time.perf_counter()
        try:
            status, body = await self._send(url, method, request_data, limits)
        except TelegramError as error:
            _record_call(url, _describe_error(error), began)
            raise
        _record_call(url, "ok" if status < HTTPStatus.BAD_REQUEST else "rejected", began)
        return status, body

    async def _send(
        self, url: str, method: str, request_data: RequestData | None, limits: aiohttp.ClientTimeout
    ) -> tuple[int, bytes]:
        self._check_may_call()
        try:
            address = URL(url)
            session = self._session_for(address)
            body_or_form, headers = _build_body(request_data)
            async with session.request(method, address, data=body_or_form, headers=headers, timeout=limits) as answer:
                self._compare_clocks(answer.headers.get("Date", ""))
                status, body = answer.status, await answer.read()
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            raise _translate_error(error) from None
        _check_status(status, body)
        return status, body

    def _check_may_call(self) -> None:
        if not self._may_call():
            raise Unsent("this process no longer acts as the bot")

    async def _check_part(self, *_: object) -> None:
        self._check_may_call()

    @staticmethod
    def parse_json_payload(payload: bytes) -> dict[str, Any]:
        """Return the JSON of an answer. Unlike the inherited method, never log an unreadable one: it can be personal.

        Raises:
            Unanswered: the answer isn't a JSON object of the Bot API.
        """
        try:
            answer = json.loads(payload)
        except ValueError:
            raise Unanswered("the answer is not JSON") from None
        if not isinstance(answer, dict) or (answer.get("ok") is not False and "result" not in answer):
            raise Unanswered("the answer is not one of the Bot API")
        return answer

    def _compare_clocks(self, date: str) -> None:
        try:
            offset = parsedate_to_datetime(date) - datetime.now(UTC)
        except (ValueError, TypeError):
            # A self-hosted Bot API server may send no date.
            return
        self.clock_offset = offset if abs(offset) > CLOCKS_AGREE else timedelta(0)

    def _session_for(self, address: URL) -> aiohttp.ClientSession:
        proxied = self._uses_proxy and address.host not in LOOPBACK
        if proxied not in self._sessions:
            context = get_tls_context() if address.scheme == "https" else True
            # aiohttp calls these before it writes, and it writes the head together with the first part of the body.
            checked = aiohttp.TraceConfig()
            checked.on_request_headers_sent.append(self._check_part)
            checked.on_request_chunk_sent.append(self._check_part)
            connector = aiohttp.TCPConnector(limit=self._connections, ssl=context, keepalive_timeout=KEEP_SECONDS)
            self._sessions[proxied] = aiohttp.ClientSession(
                connector=connector,
                trace_configs=[checked],
                cookie_jar=aiohttp.DummyCookieJar(),
                headers={"User-Agent": self.USER_AGENT},
                trust_env=proxied,
            )
        return self._sessions[proxied]


def _to_seconds(timeout: Any, default: float) -> float | None:  # noqa: ANN401  see do_request
    if timeout is BaseRequest.DEFAULT_NONE:
        return default
    return None if timeout is None else float(timeout)


def _build_timeouts(
    *, read: float | None, write: float | None, connect: float | None, pool: float | None
) -> aiohttp.ClientTimeout:
    parts = (read, write, connect, pool)
    total = None if None in parts else sum(part for part in parts if part is not None)
    waiting = None if connect is None or pool is None else connect + pool
    return aiohttp.ClientTimeout(total=total, connect=waiting, sock_connect=connect, sock_read=read)


def _build_body(request_data: RequestData | None) -> tuple[bytes | aiohttp.FormData | None, dict[str, str] | None]:
    """Return the body of a request and its headers.

    Without files, `FormData` would make the same body. But it prepares for files each time, with a random boundary.
    """
    if request_data is None:
        return None, None
    if not request_data.contains_files:
        return urlencode(request_data.json_parameters).encode(), URL_ENCODED
    form = aiohttp.FormData(default_to_multipart=True)
    for name, value in request_data.json_parameters.items():
        form.add_field(name, value)
    for name, (filename, content, mime_type) in request_data.multipart_data.items():
        form.add_field(name, content, filename=filename, content_type=mime_type)
    return form, None


def _translate_error(error: Exception) -> TelegramError:
    if isinstance(error.__cause__, Unsent):  # what `_check_part` raised before a part of the body
        return error.__cause__
    if isinstance(error, _BEFORE_SENDING):
        return Unsent(f"Telegram was not reached: {type(error).__name__}")
    return Unanswered(f"no answer from Telegram: {type(error).__name__}")


def _record_call(url: str, result: str, began: float) -> None:
    method = url.partition("?")[0].rpartition("/")[2]
    kind = "message" if method.startswith("send") else "edit" if method.startswith(("edit", "delete")) else "other"
    CALLS.labels(kind, result).inc()
    if method != "getUpdates":
        CALL_SECONDS.labels(kind).observe(time.perf_counter() - began)


def _describe_error(error: TelegramError) -> str:
    match error:
        case SlowDown():
            return "too_many_requests"
        case ServerError():
            return "server_error"
        case Unsent():
            return "unsent"
        case _:
            return "unanswered"


def _check_status(status: int, body: bytes) -> None:
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        raise SlowDown(_read_pause(body))
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        raise ServerError(f"Telegram is in trouble ({status})")


def _read_pause(body: bytes) -> float:
    try:
        pause = json.loads(body)["parameters"]["retry_after"]
    except (ValueError, KeyError, TypeError):
        return UNKNOWN_PAUSE
    return float(pause) if isinstance(pause, int | float) and pause > 0 else UNKNOWN_PAUSE

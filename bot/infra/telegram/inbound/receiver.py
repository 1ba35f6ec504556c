"""From Telegram into the inbox: an update is committed before Telegram is told that it arrived.

python-telegram-bot's Updater acknowledges updates once they are queued in memory, and a crash loses the queue. Here
the next `getUpdates`, which acknowledges, is only sent after the batch is in the database. Updates are kept as
Telegram's own JSON and understood later, one by one: the library's `get_updates` understands a batch as a whole, so
that one update it can't read would stop the bot for good, and would be written to the log with all it holds.
"""

import asyncio
import json
from collections.abc import Collection, Sequence
from typing import Any, NoReturn, Protocol
from urllib.parse import urlencode

import structlog
from telegram.error import Conflict, InvalidToken, TelegramError
from telegram.request import BaseRequest

from bot.core.backoff import Backoff
from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.infra.db.retry import retry_forever
from bot.infra.telegram.errors import SlowDown, TokenRefused, Unanswered
from bot.infra.telegram.inbound.model import InboxItem
from bot.infra.telegram.inbound.repository import InboxRepository

log = structlog.get_logger(__name__)

ALLOWED = ("message", "edited_message", "callback_query", "my_chat_member")
READ = frozenset(ALLOWED)
"""The rest, should Telegram send any, is acknowledged unread."""

POLL_SECONDS = 25
POLL_GRACE_SECONDS = 10.0
FETCH_AGAIN = Backoff(first=0.5, longest=30.0)
CONFLICT_WAIT = 10.0
REFUSED_WAIT, REFUSALS = 1.0, 3

Json = dict[str, Any]


class Feed(Protocol):
    """Where updates come from."""

    async def next(self, offset: int | None) -> Sequence[Json]:
        """Wait for updates from `offset` on; asking acknowledges those before. Raises `TelegramError`."""
        ...


class Takes(Protocol):
    """What is told of updates that are safely in the inbox."""

    def submit_updates(self, items: Sequence[InboxItem]) -> None:
        """Take new updates."""
        ...

    def reread_inbox(self, chat_ids: Collection[int]) -> None:
        """Of these chats something may be there that was never submitted."""
        ...


class UpdateFeed:
    """Long polling of `getUpdates`, over a request object of its own: a poll holds its connection for long.

    Args:
        base_url: the bot's, token included (`Bot.base_url`).
        request: carries the polls and nothing else.
        seconds: how long Telegram holds a poll open while there is nothing.
    """

    def __init__(self, base_url: str, request: BaseRequest, *, seconds: int = POLL_SECONDS) -> None:
        self._url = f"{base_url}/getUpdates"
        self._request = request
        self._seconds = seconds

    async def next(self, offset: int | None) -> Sequence[Json]:
        """One poll.

        Raises:
            TelegramError: nothing came; nothing was acknowledged for sure.
        """
        wishes = {"timeout": self._seconds, "limit": 100, "allowed_updates": json.dumps(ALLOWED)}
        if offset is not None:
            wishes["offset"] = offset
        found: Any = await self._request.post(
            f"{self._url}?{urlencode(wishes)}", read_timeout=self._seconds + POLL_GRACE_SECONDS
        )
        if not isinstance(found, list) or not all(map(_is_update, found)):
            raise Unanswered("the answer to getUpdates is not a list of updates")
        return found


class Receiver:
    """Moves updates from the feed into the inbox, and tells the queues of those that are new there."""

    def __init__(self, feed: Feed, store: Database, queues: Takes, clock: Clock) -> None:
        self._feed = feed
        self._store = store
        self._queues = queues
        self._clock = clock

    async def run(self) -> NoReturn:
        """Receive until cancelled, which takes effect at once.

        Raises:
            TokenRefused: Telegram said so several times in a row.
        """
        offset: int | None = None
        while True:
            batch = await self._fetch(offset)
            await self._take(batch)
            # An empty answer acknowledges all before the offset. From then on it would only hide updates whose ids
            # begin anew below it, as after a week without any.
            offset = max(update["update_id"] for update in batch) + 1 if batch else None

    async def _take(self, batch: Sequence[Json]) -> None:
        received = self._clock.now()
        items = [
            InboxItem(update_id=update["update_id"], chat_id=chat_id, body=_text(update), received_at=received)
            for update in batch
            if (chat_id := chat_of(update)) is not None
        ]
        if items:
            fresh = await retry_forever("keep_updates", lambda: self._keep(items))
            # The others came twice, or were kept by a commit that seemed to fail and so never reached their queues.
            self._queues.reread_inbox({item.chat_id for item in items if item.update_id not in fresh})
            self._queues.submit_updates([item for item in items if item.update_id in fresh])

    async def _keep(self, items: Sequence[InboxItem]) -> frozenset[int]:
        async with self._store.transaction() as tx:
            return await InboxRepository(tx).add(items)

    async def _fetch(self, offset: int | None) -> Sequence[Json]:
        waits, refused = FETCH_AGAIN.waits(), 0
        while True:
            try:
                return await self._feed.next(offset)
            except InvalidToken:
                refused += 1
                if refused == REFUSALS:
                    raise TokenRefused from None
                pause = REFUSED_WAIT
            except Conflict:
                log.error(  # noqa: TRY400  a traceback would say no more
                    "second_poller_detected", hint="another process receives this bot's updates, or a webhook is set"
                )
                pause = CONFLICT_WAIT
            except TelegramError as error:
                wait = next(waits)
                log.warning("update_polling_failed", error=type(error).__name__, retry_in=wait)
                pause = max(wait, error.seconds if isinstance(error, SlowDown) else 0)
            await asyncio.sleep(pause)


def chat_of(update: Json) -> int | None:
    """Return the chat whose turn an update takes; None for updates that are not read.

    A press on a message that the bot can't see any more (inline mode) belongs to the one who pressed.
    """
    kind = next((kind for kind in READ if isinstance(update.get(kind), dict)), None)
    if kind is None:
        return None
    body = update[kind]
    place = body.get("message") if kind == "callback_query" else body
    known = (place or {}).get("chat") or body.get("from") or {}
    chat_id = known.get("id")
    return chat_id if isinstance(chat_id, int) else None


def _is_update(found: object) -> bool:
    return isinstance(found, dict) and isinstance(found.get("update_id"), int)


def _text(update: Json) -> str:
    return json.dumps(update, ensure_ascii=False, separators=(",", ":"))

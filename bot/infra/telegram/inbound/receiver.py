"""The receiver of updates. It saves an update in the inbox before it acknowledges the update to Telegram.

python-telegram-bot's Updater acknowledges updates once they are queued in memory, and a crash loses the queue. Here,
the next `getUpdates`, which acknowledges, is sent only after the batch is in the database. Updates are saved as
Telegram's JSON and parsed later, one by one. The library's `get_updates` parses a whole batch: one unreadable update
would stop the bot, and would be logged with its content.
"""

import asyncio
import json
from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from functools import partial
from hashlib import blake2s
from typing import Any, Final, NoReturn, Protocol
from urllib.parse import urlencode

import structlog
from prometheus_client import Counter
from telegram.error import Conflict, InvalidToken, TelegramError
from telegram.request import BaseRequest

from bot.core.backoff import Backoff
from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.infra.metrics import start_at_zero
from bot.infra.telegram.inbound.inline_queries import INLINE_QUERY, InlineQueries
from bot.infra.telegram.inbound.repository import InboxItem, InboxRepository
from bot.infra.telegram.outcomes import SlowDown, TokenRefused, Unanswered
from bot.infra.workers import retry_forever

log = structlog.get_logger(__name__)

SAVED_UPDATES = ("message", "edited_message", "callback_query", "my_chat_member", "chosen_inline_result")
"""The kinds of updates that are saved in the inbox."""

UPDATES_RECEIVED: Final = Counter(
    "kirim_updates_received", "Updates that were saved in the inbox for the first time.", ["kind"]
)
start_at_zero(UPDATES_RECEIVED, SAVED_UPDATES)

CONTENT: Final = frozenset(
    {"text", "rich_message", "animation", "audio", "document", "live_photo", "paid_media", "photo", "sticker", "story"}
    | {"video", "video_note", "voice", "checklist", "contact", "dice", "game", "poll", "venue", "location"}
)
"""What users send. Any other message reports an event, such as a boost or a new theme."""

ALLOWED_UPDATES = (*SAVED_UPDATES, INLINE_QUERY)
"""Other kinds of updates are acknowledged unread."""

POLL_SECONDS = 25
POLL_GRACE_SECONDS = 10.0
FETCH_BACKOFF = Backoff(first=0.5, longest=30.0)
CONFLICT_WAIT = 10.0
TOKEN_WAIT, TOKEN_TRIES = 1.0, 3
SET_BACK: Final = timedelta(minutes=1)
"""By less than this, a clock that was set back doesn't change the order of updates."""

UpdateBody = dict[str, Any]


class UpdateSource(Protocol):
    """A source of updates."""

    async def fetch(self, offset: int | None) -> Sequence[UpdateBody]:
        """Wait for updates from `offset` on. This acknowledges earlier ones. Raises `TelegramError`."""
        ...


class UpdateQueues(Protocol):
    """The queues of chats, which get updates after the inbox has saved them."""

    def expecting(self, update_ids: Collection[int]) -> AbstractContextManager[None]:
        """Leave out these updates when the inbox is read within the block, because they are submitted at its end."""
        ...

    def submit_updates(self, items: Sequence[InboxItem], new_ids: Collection[int]) -> None:
        """Queue new updates. Read the inbox again for the others: they may not have reached their queue."""
        ...


class UpdatePoller:
    """Fetches updates with long polls of `getUpdates`. A poll occupies a connection, so it has its own transport.

    Args:
        base_url: the bot's address, with its token (`Bot.base_url`).
        request: the transport, only for polls.
        seconds: how long Telegram waits for updates before it answers a poll.
    """

    def __init__(self, base_url: str, request: BaseRequest, *, seconds: int = POLL_SECONDS) -> None:
        self._url = f"{base_url}/getUpdates"
        self._request = request
        self._seconds = seconds

    async def fetch(self, offset: int | None) -> Sequence[UpdateBody]:
        """Poll once and return the updates.

        Raises:
            TelegramError: the poll failed. Telegram may still have acknowledged earlier updates.
        """
        parameters = {"timeout": self._seconds, "limit": 100, "allowed_updates": json.dumps(ALLOWED_UPDATES)}
        if offset is not None:
            parameters["offset"] = offset
        found: Any = await self._request.post(
            f"{self._url}?{urlencode(parameters)}", read_timeout=self._seconds + POLL_GRACE_SECONDS
        )
        if not isinstance(found, list) or not all(map(_is_update, found)):
            raise Unanswered("the answer to getUpdates is not a list of updates")
        return found


class UpdateIntake:
    """Saves received updates in the inbox, and passes the new ones to the queues. Polling and the webhook use it.

    `source` is the bot and the server that count the updates' ids (`name_source`). `inline_queries` answers those
    queries, which aren't saved.
    """

    def __init__(
        self,
        database: Database,
        queues: UpdateQueues,
        clock: Clock,
        source: str = "",
        inline_queries: InlineQueries | None = None,
    ) -> None:
        self._database = database
        self._inline_queries = inline_queries
        self._queues = queues
        self.clock = clock
        self._source = source
        self._latest: datetime | None = None

    async def save(self, batch: Sequence[UpdateBody]) -> None:
        """Save updates, and return after the commit. Updates that were received before change nothing.

        Raises:
            StoreDown: the database failed. The same batch can be saved again.
        """
        for update in batch:
            if self._inline_queries is not None and isinstance(query := update.get(INLINE_QUERY), dict):
                self._inline_queries.submit(query)
        chats = {update["update_id"]: chat_id for update in batch if (chat_id := find_chat_id(update)) is not None}
        if not chats:
            return
        saved = {update["update_id"]: update for update in batch if update["update_id"] in chats}
        with self._queues.expecting(chats):
            async with self._database.transaction() as tx:
                inbox = InboxRepository(tx)
                received = self._never_back(await inbox.read_time(self.clock))
                items = [
                    InboxItem(
                        id=key, chat_id=chats[key], body=_to_json(update), received_at=received, source=self._source
                    )
                    for key, update in saved.items()
                ]
                new_ids = await inbox.add(items)
            # The others arrived twice, or their commit succeeded but seemed to fail.
            self._queues.submit_updates(items, new_ids)
        for key in new_ids:
            UPDATES_RECEIVED.labels(find_kind(saved[key])).inc()

    def _never_back(self, now: datetime) -> datetime:
        """Return the time, but not an earlier one than before if the clock was set back a little.

        Otherwise an update would seem to have come after a later one. The order of equal times is that of the ids.
        """
        if self._latest is None or not self._latest - SET_BACK < now < self._latest:
            self._latest = now
        return self._latest


class Receiver:
    """Moves updates from Telegram into the inbox by polling."""

    def __init__(self, source: UpdateSource, intake: UpdateIntake) -> None:
        self._source = source
        self._intake = intake
        self.conflict_since: datetime | None = None
        """Since when another program has received this bot's updates. None if none does."""

    async def run(self) -> NoReturn:
        """Receive until cancelled. A cancellation takes effect at once.

        Raises:
            TokenRefused: Telegram rejected the token several times in a row.
        """
        offset: int | None = None
        while True:
            batch = await self._fetch(offset)
            await retry_forever("keep_updates", partial(self._intake.save, batch))
            # An empty answer acknowledges all updates before the offset. The offset is dropped then, because it would
            # hide updates with lower ids. Telegram can start with new ids after a week without updates.
            offset = max(update["update_id"] for update in batch) + 1 if batch else None

    async def _fetch(self, offset: int | None) -> Sequence[UpdateBody]:
        waits, rejections = FETCH_BACKOFF.waits(), 0
        while True:
            try:
                batch = await self._source.fetch(offset)
            except InvalidToken:
                rejections += 1
                if rejections == TOKEN_TRIES:
                    raise TokenRefused from None
                pause = TOKEN_WAIT
            except Conflict:
                self.conflict_since = self.conflict_since or self._intake.clock.now()
                log.error(  # noqa: TRY400  a traceback adds nothing
                    "second_poller_detected", hint="another process receives this bot's updates, or a webhook is set"
                )
                pause = CONFLICT_WAIT
            except TelegramError as error:
                wait = next(waits)
                log.warning("update_polling_failed", error=type(error).__name__, retry_in=wait)
                pause = max(wait, error.seconds if isinstance(error, SlowDown) else 0)
            else:
                self.conflict_since = None
                return batch
            await asyncio.sleep(pause)


def find_kind(update: UpdateBody) -> str | None:
    """Return the kind of an update, or None for updates that aren't saved."""
    return next((kind for kind in SAVED_UPDATES if isinstance(update.get(kind), dict)), None)


def find_chat_id(update: UpdateBody) -> int | None:
    """Return the chat in whose queue the update belongs, or None for updates that aren't saved.

    These are all other kinds, and service messages in private chats, which need no answer. A press on a message that
    the bot can't see (inline mode) belongs to the chat of the user who pressed, and so does a result that was shared.
    """
    kind = find_kind(update)
    if kind is None:
        return None
    body = update[kind]
    message = body.get("message") if kind == "callback_query" else body
    chat = (message or {}).get("chat") or body.get("from") or {}
    if kind == "message" and chat.get("type") == "private" and CONTENT.isdisjoint(body):
        return None
    chat_id = chat.get("id")
    return chat_id if isinstance(chat_id, int) else None


def _is_update(found: object) -> bool:
    return isinstance(found, dict) and isinstance(found.get("update_id"), int)


def _to_json(update: UpdateBody) -> str:
    return json.dumps(update, ensure_ascii=False, separators=(",", ":"))


def name_source(base_url: str) -> str:
    """Return a short name of a bot at a server, by the address of its calls. It contains neither of them.

    The bot is the number before the colon of its token. A new token of the same bot goes on with the same ids.
    """
    server, _, token = base_url.rpartition("/bot")
    return blake2s(f"{server} {token.partition(':')[0]}".encode(), digest_size=8).hexdigest()

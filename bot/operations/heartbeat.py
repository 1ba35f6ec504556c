"""The heartbeat: a call to an outside watcher (a dead man's switch) that raises the alarm when the calls stop.

Every alarm of the bot comes from the bot. Only somebody else can say that it is dead, or cut off from Telegram.
"""

from typing import Final

import httpx
import structlog
from telegram import Bot
from telegram.error import TelegramError

from bot.infra.db.database import Database
from bot.infra.db.errors import StoreError
from bot.infra.tls import get_tls_context

log = structlog.get_logger(__name__)

INTERVAL_SECONDS: Final = 60.0
ANSWER_SECONDS: Final = 10.0


class Heartbeat:
    """Calls the watcher's address once a minute, while the database and Telegram answer.

    Only the leader calls, so one living replica is enough. What it leads with can't have ended, because then the
    process ends.

    Args:
        database: must answer, with tables that this program can work on.
        bot: must reach Telegram, or no alarm reaches an operator.
        url: the watcher's address. It is a secret: whoever has it can keep the alarm quiet. Empty means no watcher.
        transport: what calls it. Tests give another one.
    """

    def __init__(
        self, database: Database, bot: Bot, url: str, *, transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        self._database = database
        self._bot = bot
        self._url = url
        self._transport = transport

    async def tick(self) -> float:
        """Call the watcher if the bot works. Return the seconds until the next time."""
        if reason := await self._find_failure():
            log.warning("heartbeat_not_sent", reason=reason)
        return INTERVAL_SECONDS

    async def _find_failure(self) -> str:
        """Return why the watcher wasn't called, or an empty string if it was."""
        try:
            if not await self._database.has_usable_tables():
                return "the tables are those of another version"
            await self._bot.get_me()
        except (StoreError, TelegramError) as error:
            return type(error).__name__
        try:
            # A connection a minute is kept by nobody, so each call has its own. The certificates are shared: loading
            # them would stop the event loop for 30 ms.
            async with httpx.AsyncClient(
                transport=self._transport, verify=get_tls_context(), timeout=ANSWER_SECONDS
            ) as client:
                answer = await client.get(self._url)
        except httpx.HTTPError as error:
            return type(error).__name__
        return "" if answer.is_success else f"the watcher answered {answer.status_code}"

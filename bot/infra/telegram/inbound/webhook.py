"""The webhook: how Telegram is asked to post updates to the bot (RECEIVE=webhook), or not to (RECEIVE=poll).

Its path and its secret token are derived from the bot's token, so that every replica knows them without another
setting. They don't reveal the token. They are secrets, too: never log them. `bot/infra/http/webhook.py` answers there.
"""

import hmac
from base64 import urlsafe_b64encode
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Final, Self

import structlog
from telegram import Bot, WebhookInfo
from telegram.error import BadRequest, TelegramError

from bot.infra.telegram.inbound.receiver import ALLOWED_UPDATES

if TYPE_CHECKING:
    from datetime import datetime

log = structlog.get_logger(__name__)

PATH_PREFIX: Final = "/telegram/"
PATH_SECRET_LENGTH: Final = 32
MAX_CONNECTIONS: Final = 40
"""How many updates Telegram posts at once. It is Telegram's default, and far below the limit of connections."""

CHECK_SECONDS: Final = 300.0
RETRY_SECONDS: Final = 15.0


@dataclass(frozen=True, slots=True)
class Webhook:
    """The webhook of a bot: where Telegram posts updates, and the secret token by which it proves who it is."""

    url: str = field(repr=False)
    path: str = field(repr=False)
    secret: str = field(repr=False)

    @classmethod
    def derive(cls, bot_token: str, public_url: str) -> Self:
        """Return the webhook of the bot with this token, below `public_url`."""
        path = PATH_PREFIX + _derive(bot_token, "kirim webhook path")[:PATH_SECRET_LENGTH]
        return cls(url=public_url + path, path=path, secret=_derive(bot_token, "kirim webhook secret token"))


def _derive(bot_token: str, label: str) -> str:
    """Return a secret of 43 characters that Telegram accepts in addresses and secret tokens."""
    digest = hmac.digest(bot_token.encode(), label.encode(), sha256)
    return urlsafe_b64encode(digest).decode().rstrip("=")


async def set_webhook(bot: Bot, webhook: Webhook) -> None:
    """Ask Telegram to post updates to this webhook. If nothing changes, Telegram isn't interrupted.

    Raises:
        TelegramError: Telegram can't be reached, or rejects the address.
    """
    await bot.set_webhook(
        webhook.url,
        max_connections=MAX_CONNECTIONS,
        allowed_updates=ALLOWED_UPDATES,
        secret_token=webhook.secret,
    )


async def ensure_polling(bot: Bot) -> bool:
    """Delete the webhook if one is set. Return whether there was one. Its waiting updates are kept.

    Raises:
        TelegramError: Telegram can't be reached.
    """
    if not (await bot.get_webhook_info()).url:
        return False
    await bot.delete_webhook()
    return True


class WebhookRegistration:
    """Keeps Telegram's webhook as the settings want it. Only the leader does this.

    Args:
        bot: the bot.
        webhook: the webhook with RECEIVE=webhook, or None with RECEIVE=poll.
    """

    def __init__(self, bot: Bot, webhook: Webhook | None) -> None:
        self._bot = bot
        self.webhook: Final = webhook
        self._is_secret_set = False
        self._last_error_at: datetime | None = None

    async def begin(self) -> None:
        """Prepare to receive. Call it each time this process becomes the leader, before it receives.

        With polling, this deletes a webhook. Otherwise the next tick sets the webhook: the bot can answer by then.

        Raises:
            TelegramError: Telegram can't be reached.
        """
        self._is_secret_set = False
        if self.webhook is None:
            await self._ensure_polling()

    async def tick(self) -> float:
        """Correct what Telegram has, and return the seconds until the next check."""
        try:
            if self.webhook is None:
                await self._ensure_polling()
            else:
                await self._ensure_webhook(self.webhook)
        except TelegramError as error:
            # The text of a rejection says what is wrong with the address. It doesn't contain the path.
            reason = error.message if isinstance(error, BadRequest) else None
            log.warning("webhook_not_checked", error=type(error).__name__, reason=reason, retry_in=RETRY_SECONDS)
            return RETRY_SECONDS
        return CHECK_SECONDS

    async def _ensure_polling(self) -> None:
        if await ensure_polling(self._bot):
            log.warning("webhook_deleted", hint="a webhook was set, but RECEIVE is poll")

    async def _ensure_webhook(self, webhook: Webhook) -> None:
        info = await self._bot.get_webhook_info()
        differences = find_differences(info, webhook)
        # The secret token can't be read back, so it is set at least once.
        if differences or not self._is_secret_set:
            await set_webhook(self._bot, webhook)
            self._is_secret_set = True
            log.info("webhook_set", differed=differences)
        self._report_error(info)

    def _report_error(self, info: WebhookInfo) -> None:
        """Log why Telegram couldn't deliver an update, once for each time."""
        last, self._last_error_at = self._last_error_at, info.last_error_date
        if info.last_error_date is not None and info.last_error_date != last and info.pending_update_count:
            log.warning(
                "webhook_delivery_failed", reason=info.last_error_message, waiting_updates=info.pending_update_count
            )


def find_differences(info: WebhookInfo, webhook: Webhook) -> list[str]:
    """Return the names of what Telegram has that isn't what `webhook` needs."""
    found = {
        "url": info.url == webhook.url,
        "max_connections": info.max_connections == MAX_CONNECTIONS,
        "allowed_updates": set(info.allowed_updates or ()) == set(ALLOWED_UPDATES),
    }
    return [name for name, is_equal in found.items() if not is_equal]

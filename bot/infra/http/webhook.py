"""The address to which Telegram posts updates. It answers after an update is saved, so no update is lost.

The checks go from cheap to dear. Until the secret token is checked, nothing of the body is read.
"""

import asyncio
import hmac
import json
from typing import Any, Final
from weakref import WeakValueDictionary

import structlog
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.infra.db.errors import StoreDown
from bot.infra.telegram.inbound.receiver import UpdateIntake
from bot.infra.telegram.inbound.webhook import Webhook

log = structlog.get_logger(__name__)

SAVE_SECONDS: Final = 5.0
RETRY_AFTER_SECONDS: Final = 1
"""When Telegram repeats an update that wasn't saved. Without it, Telegram waits longer after each failure, up to two
minutes. That is too long for a button press after the database is back."""

SECRET_HEADER: Final = "x-telegram-bot-api-secret-token"  # noqa: S105  the name of the header
LARGEST_ID: Final = 2**63 - 1

UpdateBody = dict[str, Any]


class WebhookHandler:
    """Receives updates from Telegram.

    Args:
        webhook: the path and the secret token.
        intake: saves updates.
    """

    def __init__(self, webhook: Webhook, intake: UpdateIntake) -> None:
        self._webhook = webhook
        self._secret = webhook.secret.encode()
        self._intake = intake
        self._being_saved: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()

    def route(self) -> Route:
        """Return the route of the webhook."""
        return Route(self._webhook.path, self._answer, methods=["POST"])

    async def _answer(self, request: Request) -> Response:
        if not hmac.compare_digest(request.headers.get(SECRET_HEADER, "").encode(), self._secret):
            return Response(status_code=401)
        update = _parse(await request.body())
        if update is None:
            return Response(status_code=400)
        if not await self._save(update):
            return Response(status_code=503, headers={"retry-after": str(RETRY_AFTER_SECONDS)})
        return Response()

    async def _save(self, update: UpdateBody) -> bool:
        """Save an update. Return False if the database doesn't do it in time, so that Telegram repeats the update."""
        update_id: int = update["update_id"]
        # If Telegram sends an update twice at once, the second waits until the first has queued it. Otherwise both
        # could queue it.
        lock = self._being_saved.setdefault(update_id, asyncio.Lock())
        try:
            async with asyncio.timeout(SAVE_SECONDS), lock:
                await self._intake.save([update])
        except (StoreDown, TimeoutError) as error:
            log.warning("update_not_saved", update=update_id, error=type(error).__name__)
            return False
        return True


def _parse(body: bytes) -> UpdateBody | None:
    """Return the update, or None if `body` is no update."""
    try:
        update: object = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(update, dict):
        return None
    update_id = update.get("update_id")
    is_update = isinstance(update_id, int) and not isinstance(update_id, bool) and 0 <= update_id <= LARGEST_ID
    return update if is_update else None

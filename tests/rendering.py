"""Render notifications in tests, without the user's row in a database."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from bot.core.zones import PRESUMED
from bot.infra.i18n import Translator, translator_for
from bot.infra.outbox.model import DeliveryOutcome, NotificationKind, Sent, StoredNotification
from bot.infra.outbox.rendering import ReadFacts, Renderers
from bot.users.model import User
from bot.users.readers import RenderContext, Renderer
from tests.texts import TRANSLATIONS


def context_for(
    user: User | None, *, store: Any, messenger: Any, now: datetime, t: Translator | None = None
) -> RenderContext:
    """Return the context of a message to this user."""
    return RenderContext(
        user=user,
        t=t or translator_for(TRANSLATIONS, user),
        zone=user.zone if user else PRESUMED,
        now=now,
        database=store,
        messenger=messenger,
    )


def renderers_for(context: RenderContext, *features: Mapping[NotificationKind, Renderer]) -> Renderers[RenderContext]:
    """Return renderers that all use this context."""

    async def open_context(_: int, read: ReadFacts | None) -> tuple[RenderContext, Any]:
        if read is None:
            return context, None
        async with context.database.reading() as tx:
            return context, await read(tx)

    return Renderers(open_context, *features)


class PartialSender:
    """Sends notifications of some kinds. All others count as sent."""

    def __init__(self, renderers: Renderers[RenderContext]) -> None:
        self._renderers = renderers

    async def send(self, notification: StoredNotification) -> DeliveryOutcome:
        if notification.kind not in self._renderers.kinds:
            return Sent()
        return await self._renderers.send(notification)

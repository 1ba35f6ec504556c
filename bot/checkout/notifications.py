"""The message that a draft has expired."""

from collections.abc import Mapping

from bot.checkout.draft import DraftStatus
from bot.checkout.drafts import DRAFT_SUBJECT
from bot.checkout.repository import DraftRepository
from bot.checkout.screens import draft_expired
from bot.infra.db.database import Database
from bot.infra.db.errors import RowUnreadable
from bot.infra.i18n import Translator
from bot.infra.outbox.model import DeliveryOutcome, Notification, Sent
from bot.infra.outbox.rendering import tell_text
from bot.infra.telegram.outbound.sender import Messenger
from bot.infra.telegram.ui.screen import Screen
from bot.orders.order import OrderNotification
from bot.users.model import Person
from bot.users.readers import Renderer


class DraftRenderer:
    """Says that a draft has expired, if it still has when the message is sent."""

    def __init__(self, store: Database, messenger: Messenger) -> None:
        self._store = store
        self._messenger = messenger

    def renderers(self) -> Mapping[str, Renderer]:
        """Return the renderer of each kind of notification."""
        return {OrderNotification.DRAFT_LAPSED: self._tell}

    async def _tell(self, notification: Notification, _: Person | None, t: Translator) -> DeliveryOutcome:
        try:
            async with self._store.reading() as tx:
                draft = await DraftRepository(tx).get(notification.subject.removeprefix(DRAFT_SUBJECT))
        except RowUnreadable:
            return await self._send(notification, t, draft_expired.damaged(t))
        if draft is None or draft.status is not DraftStatus.LAPSED:
            return Sent()
        return await self._send(notification, t, draft_expired.screen(t, draft))

    async def _send(self, notification: Notification, t: Translator, screen: Screen) -> DeliveryOutcome:
        return await tell_text(self._messenger, notification, t, screen, lane="money", silent=True)

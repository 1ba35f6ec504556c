"""Render the last message to a user whose data was deleted."""

from collections.abc import Mapping
from dataclasses import replace

from bot.infra.i18n import Translations, translator_for
from bot.infra.outbox.model import DeliveryOutcome, Notification, NotificationKind
from bot.users.model import DeletedUser, UserNotification
from bot.users.readers import RenderContext, Renderer
from bot.users.screens import privacy


class DeletionMessage:
    """The message that everything was deleted. The user's row is gone, so the notification carries their language."""

    def __init__(self, translations: Translations) -> None:
        self._translations = translations

    def renderers(self) -> Mapping[NotificationKind, Renderer]:
        """Return the renderer of each kind of notification."""
        return {UserNotification.DATA_DELETED: self.render}

    async def render(self, notification: Notification[DeletedUser], context: RenderContext) -> DeliveryOutcome:
        """Send the message."""
        t = translator_for(self._translations, notification.payload)
        return await replace(context, t=t).send_text(
            notification, privacy.confirm_deleted(t), priority="money", silent=True
        )

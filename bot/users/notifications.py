"""The last message to a user whose data was just deleted."""

from collections.abc import Mapping

from bot.infra.i18n import Translations, Translator, choose
from bot.infra.outbox.model import DeliveryOutcome, Notification
from bot.infra.outbox.rendering import tell_text
from bot.infra.telegram.outbound.sender import Messenger
from bot.users.model import FAREWELL, Person
from bot.users.readers import Renderer
from bot.users.screens import privacy


class FarewellRenderer:
    """Says that everything was deleted."""

    def __init__(self, messenger: Messenger, translations: Translations, default_locale: str) -> None:
        self._messenger = messenger
        self._translations = translations
        self._default_locale = default_locale

    def renderers(self) -> Mapping[str, Renderer]:
        """Return the renderer of each kind of notification."""
        return {FAREWELL: self._tell}

    async def _tell(self, notification: Notification, _: Person | None, __: Translator) -> DeliveryOutcome:
        """Use the language that the notification carries: the user's row is gone."""
        chosen, of_app = (str(notification.payload.get(name) or "") for name in ("locale", "language_code"))
        t = self._translations.get(choose(chosen, of_app, self._default_locale))
        return await tell_text(self._messenger, notification, t, privacy.deleted(t), lane="money", silent=True)

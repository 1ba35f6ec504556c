"""Who reads a message, and in which language."""

from bot.infra.db.database import Database
from bot.infra.i18n import Translations, Translator, translator_for
from bot.infra.outbox.rendering import Render
from bot.users.model import Person
from bot.users.repository import UserRepository

Renderer = Render[Person | None]
"""Renders a notification for a user; None where the user is unknown, or their row can't be read."""


class Readers:
    """Read users for the messages that are sent to them."""

    def __init__(self, store: Database, translations: Translations, default_locale: str) -> None:
        self._store = store
        self._translations = translations
        self._default_locale = default_locale

    async def get(self, chat_id: int) -> tuple[Person | None, Translator]:
        """Return the user of a private chat, and the translator for their language."""
        async with self._store.reading() as tx:
            reader = await UserRepository(tx).get_if_readable(chat_id)
        return reader, translator_for(self._translations, reader, self._default_locale)

    async def translator_for(self, chat_id: int) -> Translator:
        """Return the translator for the language of a private chat."""
        return (await self.get(chat_id))[1]

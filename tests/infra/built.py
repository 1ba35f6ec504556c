"""What features are built on, for tests of their parts."""

from typing import Any

from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.infra.feature import Infra
from bot.infra.i18n import Translations
from bot.infra.workers.loop import Wakeup


def an_infra(database: Database, clock: Clock, messenger: Any = None) -> Infra:
    """Return an infrastructure that speaks English to those who haven't chosen a language."""
    return Infra(
        clock=clock,
        database=database,
        messenger=messenger,
        translations=Translations.load(),
        default_locale="en",
        wake_outbox=Wakeup(),
    )

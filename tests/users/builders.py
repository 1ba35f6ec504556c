"""Users for tests, which name only the fields that they are about."""

from typing import Final

from bot.infra.i18n import Translator
from bot.infra.telegram.ui.reader import Reader
from bot.users.model import User
from bot.users.phrase import Suggestion
from tests import screens
from tests.times import NOW

EMMA, SARI = 1001, 1002
SUGGESTION: Final = Suggestion("en-1-2-3", "purple coffee boat")


def a_user(user_id: int = EMMA, **changes: object) -> User:
    """Return a user who has used the bot in English."""
    return User(id=user_id, created_at=NOW, language_code="en", **changes)  # type: ignore[arg-type]


def a_reader(t: Translator, user: User) -> Reader:
    """Return this user as the reader of a screen."""
    return Reader(t, user.zone, screens.NOW)

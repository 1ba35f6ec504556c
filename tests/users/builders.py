"""Users for tests, which name only the fields that they are about."""

from types import SimpleNamespace
from typing import Any, Final, cast

from bot.infra.feature import Infra
from bot.users.model import User
from bot.users.phrase import Suggestion
from bot.users.session import SessionLoader
from tests.times import NOW

EMMA, SARI = 1001, 1002
SUGGESTION: Final = Suggestion("en-1-2-3", "purple coffee boat")


def a_user(user_id: int = EMMA, **changes: object) -> User:
    """Return a user who has used the bot in English."""
    return User(id=user_id, created_at=NOW, language_code="en", **changes)  # type: ignore[arg-type]


def load_sessions(infra: Infra) -> SessionLoader:
    """Return what loads the sessions of a bot without a conversation."""
    sessions, nothing = SessionLoader(infra), cast("Any", None)
    conversation = SimpleNamespace(is_open=lambda _: False, add_resume_button=lambda _, screen: screen)
    sessions.lead_back_to(cast("Any", conversation), make_start=nothing)
    return sessions

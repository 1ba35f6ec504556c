"""The feature of users: sessions, phrase and personal data."""

from collections.abc import Sequence

from bot.infra.feature import Feature, Infra, Worker
from bot.users.handlers import ChatHandlers, EndSubscription, PhraseHandlers, PrivacyHandlers
from bot.users.model import UserRules
from bot.users.privacy import PrivacyService
from bot.users.session import SessionLoader
from bot.users.user_data import UserData
from bot.users.workers import DeletionMessage, DeletionWorkers, Retention


class Users:
    """Build the feature."""

    def __init__(self, infra: Infra, *, on_blocked: Sequence[EndSubscription], rules: UserRules) -> None:
        self.sessions = SessionLoader(infra, operator_ids=rules.operator_ids)
        phrases = PhraseHandlers()
        self.chats = ChatHandlers(infra, on_blocked)
        self.feature = Feature(
            name="users",
            routes=(phrases.routes(), self.chats.routes()),
            answers=phrases.answers(),
        )


class Privacy:
    """Build the part that shows, exports and deletes users' data. `user_data` is what is special about each feature's.

    It is built when all features are.
    """

    def __init__(self, infra: Infra, user_data: Sequence[UserData], rules: UserRules) -> None:
        privacy = PrivacyService(infra, user_data, rules.retention_days)
        deletion = DeletionWorkers(infra, privacy, Retention(infra, user_data, rules.retention_days))
        self.feature = Feature(
            name="users",
            routes=(PrivacyHandlers(privacy_service=privacy, provider=rules.provider).routes(),),
            renderers=(DeletionMessage(infra.translations).renderers(),),
            workers=(Worker("deletion", deletion.delete_users), Worker("retention", deletion.prune)),
            jobs=deletion.jobs(),
        )

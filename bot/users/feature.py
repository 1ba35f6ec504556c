"""The feature of users: settings, phrase and personal data."""

from bot.infra.feature import Feature, HandlerPhase, Infra, Worker
from bot.infra.telegram.ui.router import Menu
from bot.users.chat_handlers import ChatHandlers
from bot.users.group_repository import move_group
from bot.users.handlers import SettingsHandlers
from bot.users.model import UserRules
from bot.users.phrase_handlers import PhraseHandlers
from bot.users.privacy import PrivacyService
from bot.users.privacy_handlers import PrivacyHandlers
from bot.users.screens.settings import SECTIONS
from bot.users.service import UserService
from bot.users.session_loader import SessionLoader
from bot.users.workers import DeletionMessage, DeletionWorkers, Retention


class Users:
    """Build the feature."""

    def __init__(self, infra: Infra, rules: UserRules) -> None:
        self.service = UserService(infra)
        self.sessions = SessionLoader(infra, operator_ids=rules.operator_ids)
        privacy = PrivacyService(infra, rules.retention_days)
        settings = SettingsHandlers(infra, self.service)
        phrases = PhraseHandlers()
        deletion = DeletionWorkers(infra, privacy, Retention(infra, rules.retention_days))
        chats = ChatHandlers(users=self.service, messenger=infra.messenger).handlers()
        commands = settings.handlers()
        self.feature = Feature(
            name="users",
            settings_sections=SECTIONS,
            menu={"start": {Menu.EVERYONE: 130}},
            routes=(
                settings.routes(),
                phrases.routes(),
                PrivacyHandlers(privacy_service=privacy, provider=rules.provider).routes(),
            ),
            answers={**settings.answers(), **phrases.answers()},
            handlers={phase: (*chats.get(phase, ()), *commands.get(phase, ())) for phase in HandlerPhase},
            renderers=(DeletionMessage(infra.translations).renderers(),),
            workers=(Worker("deletion", deletion.delete_users), Worker("retention", deletion.prune)),
            jobs=deletion.jobs(),
            on_chat_moved=(move_group,),
        )

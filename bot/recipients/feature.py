"""The feature of recipients: users' saved recipients, which are offered again."""

from bot.infra.feature import Feature, Infra
from bot.recipients.handlers import RecipientHandlers
from bot.recipients.screens import SECTION
from bot.recipients.service import RecipientService
from bot.recipients.user_data import USER_DATA


class Recipients:
    """Build the feature."""

    def __init__(self, infra: Infra) -> None:
        self.service = RecipientService(infra.database)
        self.handlers = RecipientHandlers(service=self.service)
        self.feature = Feature(
            name="recipients",
            unreadable_rows={"recipients": "recipients.unreadable"},
            user_data=USER_DATA,
            settings_sections=(SECTION,),
            routes=(self.handlers.routes(),),
            answers=self.handlers.answers(),
        )

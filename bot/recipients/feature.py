"""The feature of recipients: users' saved recipients, which are offered again."""

from bot.infra.feature import Feature, Infra
from bot.recipients.handlers import RecipientHandlers
from bot.recipients.service import RecipientService
from bot.recipients.user_data import USER_DATA


class Recipients:
    """Build the feature. `can_ask` is whether users can ask others for money to a saved account."""

    def __init__(self, infra: Infra, *, can_ask: bool) -> None:
        self.service = RecipientService(infra.database)
        self.handlers = RecipientHandlers(service=self.service, can_ask=can_ask)
        self.feature = Feature(
            name="recipients",
            unreadable_rows={"recipients": "recipients.unreadable"},
            user_data=USER_DATA,
            routes=(self.handlers.routes(),),
            answers=self.handlers.answers(),
        )

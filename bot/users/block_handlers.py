"""Notice that a user has blocked the bot."""

from collections.abc import Mapping, Sequence

from telegram import Chat, Update
from telegram.ext import ChatMemberHandler

from bot.infra.feature import Phase
from bot.infra.telegram.ui.handling import Handler
from bot.infra.telegram.ui.session import Session, handle
from bot.users.service import UserService


class BlockHandlers:
    """Save that users have blocked the bot. That they are back is noticed when they write again."""

    def __init__(self, *, users: UserService) -> None:
        self._users = users

    def handlers(self) -> Mapping[Phase, Sequence[Handler]]:
        """Return the handler of what happens to the bot in a chat."""
        changed = handle(self.membership_changed)
        return {Phase.FEATURES: (ChatMemberHandler(changed, ChatMemberHandler.MY_CHAT_MEMBER),)}

    async def membership_changed(self, session: Session, update: Update) -> None:
        """Save since when the user has blocked the bot, if that is what happened."""
        change = update.my_chat_member
        if change is None or change.chat.type != Chat.PRIVATE or change.new_chat_member.status != "kicked":
            return
        # Telegram's time: what happened between the block and this update couldn't be sent either.
        await self._users.block(session.person, min(change.date, session.now))
        session.forget()

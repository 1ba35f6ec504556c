"""Handle what happens to the bot in chats: users block it, or write to it in groups."""

from collections.abc import Mapping, Sequence
from typing import Final

from telegram import Chat, Update
from telegram.ext import ChatMemberHandler, MessageHandler, filters

from bot.infra.feature import HandlerPhase
from bot.infra.telegram.outbound.sender import Messenger
from bot.infra.telegram.ui.router import Handler
from bot.infra.telegram.ui.screen import Button
from bot.users.service import UserService
from bot.users.session import Session, as_handler

IN_GROUPS: Final = filters.ChatType.GROUPS & filters.UpdateType.MESSAGE


class ChatHandlers:
    """Save that users have blocked the bot, and offer the private chat in groups.

    A user who unblocks the bot counts as back when they write again.
    """

    def __init__(self, *, users: UserService, messenger: Messenger) -> None:
        self._users = users
        self._messenger = messenger

    def handlers(self) -> Mapping[HandlerPhase, Sequence[Handler]]:
        """Return the handlers of blocks, and of all other messages in groups."""
        changed = as_handler(self.membership_changed)
        return {
            HandlerPhase.FEATURES: (ChatMemberHandler(changed, ChatMemberHandler.MY_CHAT_MEMBER),),
            HandlerPhase.CONVERSATION: (MessageHandler(IN_GROUPS, as_handler(self.offer_private_chat)),),
        }

    async def membership_changed(self, session: Session, update: Update) -> None:
        """Save when the user blocked the bot, unless they have come back since. Ignore all other changes."""
        change = update.my_chat_member
        if change is None or change.chat.type != Chat.PRIVATE or change.new_chat_member.status != "kicked":
            return
        if await session.is_overtaken():
            return  # the user has come back and acted since
        # Use Telegram's time: messages between the block and this update couldn't be sent either.
        await self._users.block(session.user, min(change.date, session.now))
        session.discard()

    async def offer_private_chat(self, session: Session, update: Update) -> None:
        """Offer the private chat to a user who writes to the bot in a group, because payments are private."""
        message, chat, name = update.effective_message, update.effective_chat, self._messenger.username
        text = (message.text or "") if message else ""
        if chat is None or not _is_for_bot(text, name):
            return
        button = Button(session.t.plain("users.group_chat.open"), url=f"https://t.me/{name}?start=group")
        await self._messenger.send_text(
            chat.id,
            session.t("users.group_chat.text"),
            ((button,),),
            priority="talk",
            reply_to=message.message_id if message else None,
        )


def _is_for_bot(text: str, name: str) -> bool:
    """Return whether a message is for the bot: it has the bot's name, or a command without a name."""
    first = text.split(maxsplit=1)[0] if text.strip() else ""
    return f"@{name}".lower() in text.lower() or (first.startswith("/") and "@" not in first)

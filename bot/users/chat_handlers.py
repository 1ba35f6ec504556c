"""Handle what happens to the bot in chats: users block it, write to it in groups, or ask for the id of a chat."""

from collections.abc import Mapping, Sequence
from typing import Final

from telegram import Chat, Update
from telegram.ext import ChatMemberHandler, CommandHandler, MessageHandler, filters

from bot.infra.feature import HandlerPhase
from bot.infra.telegram.outbound.sender import Messenger
from bot.infra.telegram.ui.router import PRIVATE, Handler
from bot.infra.telegram.ui.screen import Button, Screen
from bot.users.service import UserService
from bot.users.session import Session, as_handler

IN_GROUPS: Final = filters.ChatType.GROUPS & filters.UpdateType.MESSAGE


class ChatHandlers:
    """Save that users have blocked the bot, offer the private chat in groups, and answer `/id`.

    A user who unblocks the bot counts as back when they write again.
    """

    def __init__(self, *, users: UserService, messenger: Messenger) -> None:
        self._users = users
        self._messenger = messenger

    def handlers(self) -> Mapping[HandlerPhase, Sequence[Handler]]:
        """Return the handlers of blocks, of `/id`, and of all other messages in groups."""
        changed = as_handler(self.membership_changed)
        return {
            HandlerPhase.FEATURES: (
                ChatMemberHandler(changed, ChatMemberHandler.MY_CHAT_MEMBER),
                CommandHandler("id", as_handler(self.show_own_id), filters=PRIVATE),
                CommandHandler("id", as_handler(self.show_group_id), filters=IN_GROUPS),
            ),
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

    async def show_own_id(self, session: Session, _: Update) -> None:
        """Show the user's id, for OPERATOR_IDS and SUPPORT_IDS. It is in no menu: only who sets up the bot needs it."""
        await session.show_below(session.with_resume(Screen(session.t("users.id.own", id=str(session.user.id)))))

    async def show_group_id(self, session: Session, update: Update) -> None:
        """Show an operator the group's id, for SUPPORT_CHAT_ID. For others the command is a message like any other."""
        message = update.effective_message
        if not session.is_operator or message is None:
            await self.offer_private_chat(session, update)
            return
        text = session.t("users.id.group", id=str(message.chat_id))
        await self._messenger.send_text(message.chat_id, text, (), priority="talk", reply_to=message.message_id)

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

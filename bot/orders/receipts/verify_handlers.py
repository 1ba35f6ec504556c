"""Is this receipt genuine? Anybody may ask, in private and in groups.

They do so by `/verify CODE`, by the link in a receipt's QR code, and by a code on its own where no draft is open: what
is typed while one is open belongs to the draft.
"""

import re
from typing import Final

from telegram import Message, Update
from telegram.ext import ApplicationHandlerStop, CommandHandler, MessageHandler, filters

from bot.infra.telegram.ui import questions
from bot.infra.telegram.ui.handling import PRIVATE, Context, Handler
from bot.infra.telegram.ui.screen import Screen
from bot.infra.telegram.ui.session import SESSION, Session
from bot.orders.receipts.codes import looks_written
from bot.orders.receipts.guessing import TooManyMisses
from bot.orders.receipts.screens import receipt, verify
from bot.users.repository import UserRepository
from bot.users.screens.buttons import send_row

IN_A_GROUP = filters.ChatType.GROUPS & filters.UpdateType.MESSAGE
QUESTION: Final = "verify"

_LINKED = re.compile(rf"/start(?:@\w+)?\s+{receipt.LINK}")


class _CodeOnItsOwn(filters.MessageFilter):
    """A code as receipts write it, and no draft that it could be meant for."""

    def filter(self, message: Message) -> bool:
        session = SESSION.get(None)
        return session is not None and not session.is_in_conversation and looks_written(message.text or "")


def handlers() -> list[Handler]:
    """The command and the link."""
    return [
        CommandHandler("verify", _in_private, filters=PRIVATE),
        CommandHandler("start", _linked, filters=PRIVATE & filters.Regex(_LINKED)),
    ]


def code_handler() -> Handler:
    """To stand behind questions that are open, and before the conversation: a code that is all the message there is."""
    return MessageHandler(PRIVATE & ~filters.COMMAND & _CodeOnItsOwn(), _on_its_own)


def group_handler() -> Handler:
    """To stand before whatever sends groups away: a receipt may be shown there, and so may be checked there."""
    return CommandHandler("verify", _in_a_group, filters=IN_A_GROUP)


async def code_typed(session: Session, _: str, text: str) -> None:
    """The answer to the question which code it is about. A wrong one ends the question, too: it was answered."""
    async with session.desk.store.transaction() as tx:
        await UserRepository(tx).save(questions.answered(session))
    await _say(session, await _answer(session, text))


async def _in_private(_: Update, context: Context) -> None:
    session, typed = SESSION.get(), " ".join(context.args or ())
    if typed:
        await _say(session, await _answer(session, typed))
    else:
        session.message_id = None
        await questions.ask(session, QUESTION, session.with_resume(verify.asking(session.t)))
    raise ApplicationHandlerStop


async def _linked(_: Update, context: Context) -> None:
    session = SESSION.get()
    await _say(session, await _answer(session, "".join(context.args or ()).removeprefix(receipt.LINK)))
    raise ApplicationHandlerStop


async def _on_its_own(update: Update, _: Context) -> None:
    session = SESSION.get()
    text = update.effective_message.text if update.effective_message else None
    await _say(session, await _answer(session, text or ""))
    raise ApplicationHandlerStop


async def _in_a_group(update: Update, context: Context) -> None:
    """Answer whoever asked, without any button: everybody there may press one, and what they'd see is their own."""
    session, typed = SESSION.get(), " ".join(context.args or ())
    message, messenger = update.effective_message, session.desk.messenger
    if message is not None:
        screen = await _answer(session, typed) if typed else verify.explained(session.t, messenger.username)
        await messenger.send_text(message.chat_id, screen.text, (), lane="talk", reply_to=message.message_id)
    raise ApplicationHandlerStop


async def _answer(session: Session, typed: str) -> Screen:
    """True with what the receipt says, false, or not just now."""
    try:
        order = await session.desk.receipts.verify(session.person.id, typed)
    except TooManyMisses as refusal:
        return verify.refused(session.t, refusal.again, session.desk.clock.now(), session.zone)
    return verify.false(session.t) if order is None else verify.true(session.t, order, session.zone)


async def _say(session: Session, screen: Screen) -> None:
    offered = Screen(screen.text, (*screen.keyboard, send_row(session.t)))
    await session.say(session.with_resume(offered))

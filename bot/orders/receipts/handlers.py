"""Receipts: the picture, sent when the order is done or when its sender asks for it, and the check of a code.

Anybody can check a code, in private and in groups: by `/verify CODE`, by the link in a receipt's QR code, and by
sending the code alone while no draft is open. What is typed while a draft is open belongs to the draft.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import Final

from telegram import Message, Update
from telegram.ext import ApplicationHandlerStop, CommandHandler, MessageHandler, filters

from bot.infra.db.database import Database
from bot.infra.feature import Phase
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.outbound.sender import Messenger
from bot.infra.telegram.ui.router import PRIVATE, Context, Handler, Routes
from bot.infra.telegram.ui.screen import Keyboard, Screen
from bot.orders.buttons import OrderAction, OrderButton
from bot.orders.order import Order
from bot.orders.receipts.codes import is_written_code
from bot.orders.receipts.picture import render_receipt_off_loop
from bot.orders.receipts.screens import receipt, verify
from bot.orders.receipts.service import ReceiptService
from bot.orders.receipts.wrong_codes import TooManyWrongCodes
from bot.settlement.steps import COMPLETED
from bot.users import questions
from bot.users.repository import UserRepository
from bot.users.screens.buttons import send_row
from bot.users.session import SESSION, Session, as_handler, current_session

QUESTION: Final = "verify"

_LINKED = re.compile(rf"/start(?:@\w+)?\s+{receipt.LINK}")


@dataclass(frozen=True, slots=True)
class Picture:
    """A receipt that is ready to be sent."""

    png: bytes = field(repr=False)
    caption: Html = field(repr=False)
    keyboard: Keyboard


async def draw(receipts: ReceiptService, t: Translator, order: Order, zone: tzinfo, bot: str) -> Picture | None:
    """Return the receipt of `order` in its reader's language and time; None where it has none.

    `bot` is the bot's name, as for `screens.receipt.facts`.
    """
    made = await receipts.of(order)
    if made is None:
        return None
    png = await render_receipt_off_loop(receipt.facts(t, order, made, zone, bot))
    return Picture(png, receipt.caption(t, order, made, bot), receipt.keyboard(t, order))


class _CodeAlone(filters.MessageFilter):
    """A code as receipts show it, while no draft is open that it could be meant for."""

    def filter(self, message: Message) -> bool:
        session = SESSION.get(None)
        return session is not None and not session.is_in_conversation and is_written_code(message.text or "")


class ReceiptHandlers:
    """Send receipts, and check codes."""

    def __init__(self, *, database: Database, messenger: Messenger, receipts: ReceiptService) -> None:
        self._database = database
        self._messenger = messenger
        self._receipts = receipts

    def routes(self) -> Routes[Session]:
        """Return the command for private chats."""
        routes = Routes[Session]()
        routes.add_command("verify", self.verify)
        return routes

    def answers(self) -> Mapping[str, questions.Answer]:
        """Return what takes the code that is typed after `/verify`."""
        return {QUESTION: questions.accept_text(self.code_typed)}

    def handlers(self) -> Mapping[Phase, tuple[Handler, ...]]:
        """Return the command for groups, the link, and the check of a code that is sent alone."""
        in_groups, linked = filters.ChatType.GROUPS & filters.UpdateType.MESSAGE, PRIVATE & filters.Regex(_LINKED)
        return {
            # Before the `/start` of everybody.
            Phase.QUESTIONS: (CommandHandler("start", self._verify_link, filters=linked),),
            Phase.FEATURES: (CommandHandler("verify", self._verify_in_a_group, filters=in_groups),),
            Phase.CONVERSATION: (
                MessageHandler(PRIVATE & ~filters.COMMAND & _CodeAlone(), as_handler(self._verify_alone)),
            ),
        }

    async def send_receipt(self, session: Session, order: Order) -> None:
        """Send the receipt again, as a new message."""
        if order.state != COMPLETED:
            key = "receipt.none" if order.is_ended else "receipt.not_yet"
            await session.acknowledge(session.t.plain(key), alert=True)
            return
        button = OrderButton(order.reference, OrderAction.RECEIPT).pack()
        if session.is_double_tap(button):
            await session.acknowledge()
            return
        drawn = await draw(self._receipts, session.t, order, session.zone, self._messenger.username)
        if drawn is None:
            await session.acknowledge(session.t.plain("receipt.gone"), alert=True)
            return
        await session.acknowledge()
        if await session.post_picture(drawn.png, drawn.caption, drawn.keyboard):
            session.record_tap(button)

    async def verify(self, session: Session, code: str) -> None:
        """Check the code after the command, or ask for one."""
        if code:
            await self._say_result(session, code)
        else:
            session.message_id = None
            await questions.ask(session, QUESTION, session.with_resume(verify.asking(session.t)))

    async def code_typed(self, session: Session, _: str, text: str) -> None:
        """Check the typed code. A wrong one ends the question, too: it was answered."""
        async with self._database.transaction() as tx:
            await UserRepository(tx).save(questions.mark_answered(session))
        await self._say_result(session, text)

    async def _verify_link(self, _: Update, context: Context) -> None:
        await self._say_result(current_session(), "".join(context.args or ()).removeprefix(receipt.LINK))
        raise ApplicationHandlerStop

    async def _verify_alone(self, session: Session, update: Update) -> None:
        text = update.effective_message.text if update.effective_message else None
        await self._say_result(session, text or "")

    async def _verify_in_a_group(self, update: Update, context: Context) -> None:
        """Answer without any button: everybody in the group could press it, and would see what is their own."""
        session, code = current_session(), " ".join(context.args or ())
        message = update.effective_message
        if message is not None:
            bot = self._messenger.username
            screen = await self._result(session, code) if code else verify.explained(session.t, bot)
            await self._messenger.send_text(
                message.chat_id, screen.text, (), priority="talk", reply_to=message.message_id
            )
        raise ApplicationHandlerStop

    async def _say_result(self, session: Session, typed: str) -> None:
        screen = await self._result(session, typed)
        offered = Screen(screen.text, (*screen.keyboard, send_row(session.t)))
        await session.show_new(session.with_resume(offered))

    async def _result(self, session: Session, typed: str) -> Screen:
        """Return what the receipt with this code says, that there is none, or that there were too many tries."""
        try:
            order = await self._receipts.verify(session.user.id, typed)
        except TooManyWrongCodes as refusal:
            return verify.refused(session.reader, refusal.again)
        return verify.false(session.t) if order is None else verify.true(session.t, order, session.zone)

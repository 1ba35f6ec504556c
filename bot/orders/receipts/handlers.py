"""Send receipts, and verify their codes.

Anyone can verify a code, in private chats and in groups: with `/verify CODE`, with the link in a receipt's QR code, and
by sending only the code. While a draft is open, a code sent alone belongs to the draft.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import Final

from telegram import Message, Update
from telegram.ext import ApplicationHandlerStop, CommandHandler, MessageHandler, filters

from bot.infra.db.database import Database
from bot.infra.feature import HandlerPhase
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.outbound.sender import Messenger
from bot.infra.telegram.ui.router import PRIVATE, Context, Handler, Menu, Routes
from bot.infra.telegram.ui.screen import Keyboard, Screen
from bot.orders.buttons import OrderAction, OrderButton
from bot.orders.order import Order
from bot.orders.receipts.codes import PREFIX, Receipt, ReceiptLinks, is_written_code
from bot.orders.receipts.off_loop import render_receipt_off_loop
from bot.orders.receipts.screens import receipt, verify
from bot.orders.receipts.service import ReceiptService
from bot.orders.receipts.wrong_codes import TooManyWrongCodes
from bot.settlement.steps import COMPLETED
from bot.users import questions
from bot.users.buttons import send_row
from bot.users.repository import UserRepository
from bot.users.session import SESSION, Session, as_handler, current_session

QUESTION: Final = "verify"

_LINK_PATTERN = re.compile(rf"/start(?:@\w+)?\s+{PREFIX}")


@dataclass(frozen=True, slots=True)
class ReceiptPicture:
    """The message with a receipt."""

    png: bytes = field(repr=False)
    caption: Html = field(repr=False)
    keyboard: Keyboard


async def draw_receipt(data: Receipt, t: Translator, order: Order, zone: tzinfo, links: ReceiptLinks) -> ReceiptPicture:
    """Return the message with the receipt of `order`, in its reader's language and time zone."""
    png = await render_receipt_off_loop(receipt.build_facts(t, order, data.code, zone, links))
    return ReceiptPicture(png, receipt.format_caption(t, order, data, links), receipt.build_keyboard(t, order))


class _LoneCode(filters.MessageFilter):
    """Matches a message that is only a code, as receipts show it, while no draft is open."""

    def filter(self, message: Message) -> bool:
        session = SESSION.get(None)
        return session is not None and not session.is_in_conversation and is_written_code(message.text or "")


class ReceiptHandlers:
    """Send receipts, and verify codes."""

    def __init__(self, *, database: Database, messenger: Messenger, receipts: ReceiptService, public_url: str) -> None:
        self._database = database
        self._messenger = messenger
        self._receipts = receipts
        self._public_url = public_url

    def routes(self) -> Routes[Session]:
        """Return the command for private chats."""
        routes = Routes[Session]()
        routes.add_command("verify", self.verify, menu={Menu.EVERYONE: 60, Menu.GROUP: 80})
        return routes

    def answers(self) -> Mapping[str, questions.AnswerHandler]:
        """Return the handler of the code that is typed after `/verify`."""
        return {QUESTION: questions.accept_text(self.handle_code)}

    def handlers(self) -> Mapping[HandlerPhase, tuple[Handler, ...]]:
        """Return the handlers of the command in groups, of the link, and of a code that is sent alone."""
        in_groups, linked = filters.ChatType.GROUPS & filters.UpdateType.MESSAGE, PRIVATE & filters.Regex(_LINK_PATTERN)
        return {
            # Before the general handler of `/start`.
            HandlerPhase.QUESTIONS: (CommandHandler("start", self._verify_link, filters=linked),),
            HandlerPhase.FEATURES: (CommandHandler("verify", self._verify_in_group, filters=in_groups),),
            HandlerPhase.CONVERSATION: (
                MessageHandler(PRIVATE & ~filters.COMMAND & _LoneCode(), as_handler(self._verify_lone_code)),
            ),
        }

    async def send_receipt(self, session: Session, order: Order) -> None:
        """Send the receipt again, as a new message."""
        if order.state != COMPLETED:
            key = "orders.receipt.none" if order.is_ended else "orders.receipt.not_yet"
            await session.acknowledge(session.t.plain(key), alert=True)
            return
        button = OrderButton(order.reference, OrderAction.RECEIPT).pack()
        if session.is_double_tap(button):
            await session.acknowledge()
            return
        data = await self._receipts.get_or_create(order)
        if data is None:
            await session.acknowledge(session.t.plain("orders.receipt.gone"), alert=True)
            return
        await session.acknowledge()
        links = ReceiptLinks(self._messenger.username, self._public_url)
        picture = await draw_receipt(data, session.t, order, session.zone, links)
        if await session.send_picture(picture.png, picture.caption, picture.keyboard):
            session.record_tap(button)

    async def verify(self, session: Session, code: str) -> None:
        """Verify the code after the command, or ask for one."""
        if code:
            await self._show_result(session, code)
        else:
            session.message_id = None
            await questions.ask(session, QUESTION, session.with_resume(verify.ask_for_code(session.t)))

    async def handle_code(self, session: Session, _: str, text: str) -> None:
        """Verify the typed code. A wrong code answers the question, too."""
        async with self._database.transaction() as tx:
            await UserRepository(tx).save(questions.mark_answered(session))
        await self._show_result(session, text)

    async def _verify_link(self, _: Update, context: Context) -> None:
        await self._show_result(current_session(), "".join(context.args or ()).removeprefix(PREFIX))
        raise ApplicationHandlerStop

    async def _verify_lone_code(self, session: Session, update: Update) -> None:
        text = update.effective_message.text if update.effective_message else None
        await self._show_result(session, text or "")

    async def _verify_in_group(self, update: Update, context: Context) -> None:
        """Answer without buttons, because everyone in the group could press them and would get their own data."""
        session, code = current_session(), " ".join(context.args or ())
        message = update.effective_message
        if message is not None:
            bot = self._messenger.username
            screen = await self._build_result(session, code) if code else verify.explain_in_group(session.t, bot)
            await self._messenger.send_text(
                message.chat_id, screen.text, (), priority="talk", reply_to=message.message_id
            )
        raise ApplicationHandlerStop

    async def _show_result(self, session: Session, typed: str) -> None:
        screen = await self._build_result(session, typed)
        offered = Screen(screen.text, (*screen.keyboard, send_row(session.t, style=None)))
        await session.show_below(session.with_resume(offered))

    async def _build_result(self, session: Session, typed: str) -> Screen:
        """Return the screen with the receipt of this code. It may also say that there is none, or too many attempts."""
        try:
            order = await self._receipts.verify(session.user.id, typed)
        except TooManyWrongCodes as refusal:
            return verify.show_limit(session.reader, refusal.again)
        return verify.show_unknown(session.t) if order is None else verify.show_genuine(session.t, order, session.zone)

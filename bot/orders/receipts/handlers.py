"""Send receipts, and verify their codes.

Anyone can verify a code, in private chats and in groups: with `/verify CODE`, with the link in a receipt's QR code, and
by sending only the code. While a draft is open, a code sent alone belongs to the draft.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from telegram import Chat, Update

from bot.infra.db.database import Database
from bot.infra.i18n import Translator
from bot.infra.telegram.outbound.sender import Messenger
from bot.infra.telegram.ui.routes import Menu, Routes, read_command
from bot.infra.telegram.ui.screen import Screen
from bot.orders.buttons import OrderAction, OrderButton, TellButton
from bot.orders.order import Order
from bot.orders.receipts import screens
from bot.orders.receipts.codes import PREFIX, ReceiptLinks, TooManyWrongCodes, is_written_code
from bot.orders.receipts.service import ReceiptService, render_receipt_off_loop
from bot.orders.repository import OrderRepository
from bot.orders.screens.formatting import format_sent
from bot.settlement.model import COMPLETED
from bot.users import questions
from bot.users.buttons import send_row
from bot.users.repository import UserRepository
from bot.users.session import Session

QUESTION: Final = "verify"


class ReceiptHandlers:
    """Send receipts, and verify codes."""

    def __init__(self, *, database: Database, messenger: Messenger, receipts: ReceiptService, public_url: str) -> None:
        self._database = database
        self._messenger = messenger
        self._receipts = receipts
        self._public_url = public_url

    def routes(self) -> Routes[Session]:
        """Return the command for private chats, and the button of the message to the recipient."""
        routes = Routes[Session]()
        routes.add_button(TellButton, self.tell_in_language, belongs_to="order")
        routes.add_command("verify", self.verify, menu={Menu.EVERYONE: 60, Menu.GROUP: 80})
        return routes

    def answers(self) -> Mapping[str, questions.AnswerHandler]:
        """Return the handler of the code that is typed after `/verify`."""
        return {QUESTION: questions.accept_text(self.handle_code)}

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
        t, links = session.t, self._links
        png = await render_receipt_off_loop(screens.build_facts(t, order, data.code, session.zone, links))
        keyboard = screens.build_keyboard(t, order, links.to_page(data.code))
        if await session.send_picture(png, format_sent(t, order), keyboard):
            session.record_tap(button)

    @property
    def _links(self) -> ReceiptLinks:
        return ReceiptLinks(self._messenger.username, self._public_url)

    async def tell_recipient(self, session: Session, order: Order) -> None:
        """Send the message that the sender can forward to the recipient."""
        await self._tell(session, order, session.t, session.send_message)

    async def tell_in_language(self, session: Session, button: TellButton) -> None:
        """Replace the message to the recipient by the one in another language. Which one isn't kept."""
        async with self._database.reading() as tx:
            order = await OrderRepository(tx).get(button.reference)
        if order is None or order.payer.chat_id != session.chat_id:
            await session.acknowledge(session.t.plain("orders.stale.not_yours"), alert=True)
            return
        await self._tell(session, order, session.infra.translations.get(button.locale), session.edit_message)

    async def _tell(
        self, session: Session, order: Order, told: Translator, show: Callable[[Screen], Awaitable[object]]
    ) -> None:
        # The recipient of a link's order is its asker, whose number the payer may not see.
        data = None if order.hides_recipient else await self._receipts.get_or_create(order)
        if data is None:
            await session.acknowledge(session.t.plain("orders.receipt.gone"), alert=True)
            return
        await session.acknowledge(session.t.plain("orders.tell.hint"))
        await show(screens.show_message_to_recipient(session.t, order, data.code, self._links, told))

    async def verify(self, session: Session, code: str) -> None:
        """Verify the code after the command, or ask for one."""
        if code:
            await self._show_result(session, code)
        else:
            session.message_id = None
            await questions.ask(session, QUESTION, session.with_resume(screens.ask_for_code(session.t)))

    async def handle_code(self, session: Session, _: str, text: str) -> None:
        """Verify the typed code. A wrong code answers the question, too."""
        async with self._database.transaction() as tx:
            await UserRepository(tx).save(questions.mark_answered(session))
        await self._show_result(session, text)

    async def open_link(self, session: Session, word: str) -> bool:
        """Verify the code in a receipt's link. Return False for any other word after `/start`."""
        if not word.startswith(PREFIX):
            return False
        await self._show_result(session, "".join(word.split()).removeprefix(PREFIX))
        return True

    async def take_lone_code(self, session: Session, _: Update) -> bool:
        """Verify a message that is only a code, as receipts show it. During a draft, it belongs to the draft."""
        text = session.typed.text or "" if session.typed else ""
        if session.is_in_conversation or not is_written_code(text):
            return False
        await self._show_result(session, text)
        return True

    async def take_in_group(self, session: Session, update: Update) -> bool:
        """Verify the code after `/verify` in a group. Return False for any other update.

        The answer has no buttons, because everyone in the group could press them and would get their own data.
        """
        message, command = update.message, read_command(update)
        if message is None or command is None or command.name != "verify" or message.chat.type == Chat.PRIVATE:
            return False
        bot, code = self._messenger.username, " ".join(command.text.split())
        screen = await self._build_result(session, code) if code else screens.explain_in_group(session.t, bot)
        await self._messenger.send_text(message.chat_id, screen.text, (), priority="talk", reply_to=message.message_id)
        return True

    async def _show_result(self, session: Session, typed: str) -> None:
        screen = await self._build_result(session, typed)
        offered = Screen(screen.text, (*screen.keyboard, send_row(session.t, style=None)))
        await session.show_below(session.with_resume(offered))

    async def _build_result(self, session: Session, typed: str) -> Screen:
        """Return the screen with the receipt of this code. It may also say that there is none, or too many attempts."""
        try:
            order = await self._receipts.verify(session.user.id, typed)
        except TooManyWrongCodes as refusal:
            return screens.show_limit(session.reader, refusal.again)
        return (
            screens.show_unknown(session.t) if order is None else screens.show_genuine(session.t, order, session.zone)
        )

"""Handle the buttons that set payment reminders, and those under their messages. They work only for their own user."""

from collections.abc import Awaitable, Callable, Mapping

from bot.checkout.repeat_handlers import RepeatHandlers
from bot.core.money import MAX_RUPIAH, Amount
from bot.infra.telegram.ui.routes import Routes
from bot.orders.order import Order
from bot.orders.repository import OrderRepository
from bot.payment_reminders import screens
from bot.payment_reminders.buttons import MONTH, WEEK, NewReminderButton, ReminderAction, ReminderButton
from bot.payment_reminders.model import MAX_REMINDERS, PaymentReminder
from bot.payment_reminders.service import ReminderService
from bot.recipients.model import SavedRecipient, find_saved
from bot.recipients.service import RecipientService
from bot.users.session import Session

_Action = Callable[[Session, PaymentReminder, SavedRecipient, int], Awaitable[object]]
"""Does what a button says. The last parameter is the rupiah that its message names."""


class ReminderHandlers:
    """Let users set reminders, and answer and stop them."""

    def __init__(self, service: ReminderService, recipients: RecipientService, repeating: RepeatHandlers) -> None:
        self._service = service
        self._recipients = recipients
        self._repeating = repeating

    def routes(self) -> Routes[Session]:
        """Return the buttons."""
        routes = Routes[Session]()
        routes.add_button(NewReminderButton, self.new_button, belongs_to="recipient")
        actions: Mapping[ReminderAction, _Action] = {
            ReminderAction.PREPARE: self._prepare,
            ReminderAction.SKIP: self._skip,
            ReminderAction.STOP: self._stop,
        }
        routes.add_actions(ReminderButton, self.reminder_button, actions, belongs_to="payment_reminder")
        return routes

    async def offer_for_order(self, session: Session, order: Order) -> None:
        """Ask for the day of a reminder to send the same again. An order from a link has no recipient to remind of."""
        saved = () if order.hides_recipient else await self._recipients.list_all(session.user.id)
        recipient = find_saved(saved, order.method, order.number)
        if recipient is None:
            await session.acknowledge(session.t.plain("payment_reminders.not_saved"), alert=True)
            return
        await session.acknowledge()
        session.message_id = None
        await self._ask_day(session, recipient, _rupiah_of(order))

    async def offer_for_recipient(self, session: Session, recipient: SavedRecipient) -> None:
        """Ask for the day of a reminder about the sum of the last order to this recipient."""
        async with session.infra.database.reading() as tx:
            last = await OrderRepository(tx).last_to(session.user.id, recipient.method, recipient.number)
        if last is None:
            await session.explain("payment_reminders.no_order")
        else:
            await self._ask_day(session, recipient, _rupiah_of(last))

    async def new_button(self, session: Session, button: NewReminderButton) -> None:
        """Save the reminder of a button, or show other days. A second press changes nothing."""
        recipient = await self._recipients.get(session.user.id, button.recipient_id)
        if recipient is None or not 0 < button.idr <= MAX_RUPIAH:
            await session.explain("recipients.gone" if recipient is None else "users.stale.button")
            return
        await session.acknowledge()
        if button.day in {WEEK, MONTH}:
            await self._ask_day(session, recipient, button.idr, of_month=button.day == MONTH)
            return
        reminder = await self._service.add(session.user, recipient, button.idr, button.day)
        if reminder is None:
            session.notice = session.t("payment_reminders.too_many", most=MAX_REMINDERS)
            await self._ask_day(session, recipient, button.idr)
        else:
            await session.show(session.with_resume(screens.show_next(session.reader, recipient, reminder, is_new=True)))

    async def reminder_button(self, session: Session, button: ReminderButton, act: _Action) -> None:
        """Save the answer, and do what the button says. An ended reminder and that of another user look the same."""
        stop = button.action is ReminderAction.STOP
        reminder = await self._service.answer(session.user.id, button.reminder_id, stop=stop)
        recipient = await self._recipients.get(session.user.id, reminder.recipient_id) if reminder else None
        if reminder is None or recipient is None or not 0 < button.idr <= MAX_RUPIAH:
            await session.explain("payment_reminders.gone")
            return
        await session.acknowledge()
        await act(session, reminder, recipient, button.idr)

    async def _prepare(self, session: Session, _: PaymentReminder, recipient: SavedRecipient, idr: int) -> None:
        """Show the review at the price of now in place of the reminder. Nothing is ordered before it is confirmed."""
        await self._repeating.send_to_recipient(session, recipient, Amount("IDR", idr))

    async def _skip(self, session: Session, reminder: PaymentReminder, recipient: SavedRecipient, _: int) -> None:
        await session.edit_message(screens.show_next(session.reader, recipient, reminder, is_new=False))

    async def _stop(self, session: Session, reminder: PaymentReminder, recipient: SavedRecipient, _: int) -> None:
        await session.edit_message(screens.show_stopped(session.t, recipient, reminder))

    async def _ask_day(self, session: Session, recipient: SavedRecipient, idr: int, *, of_month: bool = False) -> None:
        every = await self._service.find_by_user(session.user.id)
        known = [each for each in every if each.recipient_id == recipient.id]
        await session.show(session.with_resume(screens.ask_day(session.t, recipient, idr, known, of_month=of_month)))


def _rupiah_of(order: Order) -> int:
    """Return the rupiah that were asked for. If sats were, the rupiah that they came to."""
    return order.amount.value if order.amount.currency == "IDR" else order.idr or order.expected_idr

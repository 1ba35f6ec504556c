"""Orders in alarms to operators. They show masked facts, never an account number or a name."""

from dataclasses import dataclass
from datetime import datetime

from bot.infra.db.transaction import Transaction
from bot.infra.i18n import Html, Translator
from bot.orders.order import Order
from bot.orders.repository import OrderRepository
from bot.orders.screens.formatting import format_order_line
from bot.orders.screens.order_lists import staff_status_key


@dataclass(frozen=True, slots=True)
class OrderInAlarm:
    """An order that an alarm is about (an `AlarmSubject`)."""

    order: Order

    @property
    def user_id(self) -> int:
        """The user of the order."""
        return self.order.user_id

    @property
    def service_id(self) -> str:
        """The service's id of the order, or "" if it has none."""
        return self.order.service_id or ""

    def format_line(self, t: Translator) -> Html:
        """Return the line that describes the order to operators."""
        return format_order_line(t, self.order)

    def format_status(self, t: Translator, now: datetime) -> Html:
        """Return the status of the order."""
        return t(staff_status_key(self.order, now))


async def load_order(tx: Transaction, reference: str) -> OrderInAlarm | None:
    """Return the order of an alarm, or None if it is deleted or can't be read."""
    order = await OrderRepository(tx).get_if_readable(reference)
    return None if order is None else OrderInAlarm(order)

"""Orders in `/privacy`: what is stored, what a deletion removes, and which orders have to end first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.infra.i18n import Html, Translator, as_html
from bot.orders.order import Order, OrderStatus
from bot.orders.screens.formatting import format_order_line
from bot.users.user_data import StoredData, list_first


@dataclass(frozen=True, slots=True)
class StoredOrders(StoredData):
    """A user's orders."""

    newest: tuple[Order, ...]
    count: int
    failed: tuple[str, ...]
    """The references of the newest orders that were paid but failed."""

    def records(self, t: Translator) -> Sequence[str]:
        """Return the number of orders, and the newest of them."""
        lines = [f"• {format_order_line(t, each)}" for each in self.newest]
        return ("\n".join([self._count(t), *list_first(lines, self.count)]),)

    def counts(self, t: Translator) -> Mapping[str, Html]:
        """Return the number of orders."""
        return {"orders": self._count(t)}

    def warnings(self, t: Translator) -> Sequence[str]:
        """Return a warning with the orders that were paid but failed. The user still has to resolve them."""
        if not self.failed:
            return ()
        references = ", ".join(f"<code>{as_html(reference)}</code>" for reference in self.failed)
        return (t("orders.privacy.failed", references=Html(references)),)

    def _count(self, t: Translator) -> Html:
        return t.plural("orders.privacy.orders", self.count)


@dataclass(frozen=True, slots=True)
class OpenOrders:
    """Orders that have to end before their user can be deleted."""

    orders: tuple[Order, ...]

    def notice(self, t: Translator) -> str:
        """Return how many orders have to end first."""
        return t.plural("orders.privacy.open_first", len(self.orders))

    def details(self, t: Translator, now: datetime) -> str:
        """Return each order with the reason why it is still open."""
        shown = [f"• {format_order_line(t, order)}\n{t(_reason(order, now))}" for order in self.orders]
        return "\n".join(
            [t.plural("orders.privacy.still_open", len(self.orders)), *list_first(shown, len(self.orders))]
        )


def _reason(order: Order, now: datetime) -> str:
    match order.status(now):
        case OrderStatus.PLACING | OrderStatus.CHECKING | OrderStatus.UNRESOLVED:
            return "orders.privacy.open_unknown"
        case OrderStatus.NEEDS_CONFIRMATION:
            return "orders.privacy.open_held"
        case OrderStatus.OFFER_OVER:
            return "orders.privacy.open_offer_over"
        case OrderStatus.WAITING:
            return "orders.privacy.open_payable"
        case OrderStatus.EXPIRED:
            return "orders.privacy.open_expired"
        case _:
            return "orders.privacy.open_paid"

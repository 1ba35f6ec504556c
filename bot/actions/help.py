"""A person asks for a person: the staff hear of it, with the order's masked facts, and the person whom to write to."""

from bot.actions.news import staff_news, subject_of
from bot.actions.ports import Clock, Store
from bot.domain.order import Notice, Order


class Help:
    """Tells support, or the operators where there is no support.

    `contact` is whom people may write to themselves; empty where there is nobody.
    """

    def __init__(
        self,
        store: Store,
        clock: Clock,
        support_ids: frozenset[int],
        operator_ids: frozenset[int],
        contact: str = "",
    ) -> None:
        self.contact = contact
        self._store = store
        self._clock = clock
        self._staff = support_ids or operator_ids

    @property
    def is_offered(self) -> bool:
        """Whether there's anybody to ask, here or elsewhere."""
        return self.has_staff or bool(self.contact)

    @property
    def has_staff(self) -> bool:
        """Whether somebody hears of it here."""
        return bool(self._staff)

    async def ask(self, order: Order) -> bool:
        """Queue the call for help; False where it has been queued before. Repeated presses call once."""
        async with self._store.transaction() as tx:
            added = await tx.outbox.add(
                staff_news(
                    self._staff,
                    Notice.STAFF_HELP,
                    subject_of(order),
                    self._clock.now(),
                    reference=order.reference,
                )
            )
        return added > 0

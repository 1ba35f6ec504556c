"""News of alarms -> messages to operators. What is wrong with an order reaches support as a ticket."""

from collections.abc import Iterable, Mapping

from bot.core.clock import Clock
from bot.core.zones import PRESUMED
from bot.infra.db.database import Database
from bot.infra.i18n import Translator
from bot.infra.outbox.model import DeliveryOutcome, Notification, Sent
from bot.infra.outbox.rendering import tell_text
from bot.infra.telegram.outbound.sender import Messenger
from bot.infra.telegram.ui.screen import Screen
from bot.orders.notifications import reference_in
from bot.orders.order import Order, OrderNotification
from bot.orders.repository import OrderRepository
from bot.staff.alarm_model import Alarm, AlarmKind
from bot.staff.alarm_repository import AlarmRepository
from bot.staff.alarms import OVER, RAISED, REMINDER, alarm_in
from bot.staff.screens import alarms
from bot.staff.screens import notes as staff_notes
from bot.users.model import Person
from bot.users.readers import Renderer

KIND_OF: Mapping[str, AlarmKind] = {
    OrderNotification.STAFF_STUCK: AlarmKind.ORDER_STUCK,
    OrderNotification.STAFF_FAILED: AlarmKind.ORDER_FAILED,
    OrderNotification.STAFF_BAD_INVOICE: AlarmKind.INVOICE_MISMATCH,
}

OF_KEY = (OrderNotification.STAFF_KEY_REFUSED, OrderNotification.STAFF_KEY_WORKS)


class AlarmRenderer:
    """Tells what is filed as news of alarms."""

    def __init__(self, store: Database, messenger: Messenger, clock: Clock, operator_ids: frozenset[int]) -> None:
        self._store = store
        self._messenger = messenger
        self._clock = clock
        self._operators = operator_ids

    def renderers(self) -> Mapping[str, Renderer]:
        """Return the renderer of each kind of notification."""
        own = {RAISED: self._tell_raised, OVER: self._tell_over, REMINDER: self._tell_reminder}
        of_key = dict.fromkeys(map(str, OF_KEY), self._tell_of_key)
        return {**own, **of_key, **dict.fromkeys(map(str, KIND_OF), self._tell_of_order)}

    async def _tell_raised(self, news: Notification, reader: Person | None, t: Translator) -> DeliveryOutcome:
        alarm, zone = alarm_in(news.payload), reader.zone if reader else PRESUMED
        return await self._send(news, t, alarms.raised(t, alarm, await self._orders([alarm]), self._clock.now(), zone))

    async def _tell_over(self, news: Notification, _: Person | None, t: Translator) -> DeliveryOutcome:
        alarm, by_hand = alarm_in(news.payload), bool(news.payload.get("by_hand"))
        return await self._send(news, t, alarms.over(t, alarm, await self._orders([alarm]), by_hand=by_hand))

    async def _tell_reminder(self, news: Notification, reader: Person | None, t: Translator) -> DeliveryOutcome:
        """Of what is wrong when it is told: what was put right meanwhile isn't worth a sound."""
        async with self._store.reading() as tx:
            raised = await AlarmRepository(tx).open()
        if not raised:
            return Sent()
        zone, orders = reader.zone if reader else PRESUMED, await self._orders(raised)
        return await self._send(news, t, alarms.reminder(t, raised, orders, self._clock.now(), zone))

    async def _tell_of_order(self, news: Notification, _: Person | None, t: Translator) -> DeliveryOutcome:
        kind, reference = news.kind, reference_in(news.subject)
        async with self._store.reading() as tx:
            order = await OrderRepository(tx).get_if_readable(reference)
        screen = staff_notes.screen(OrderNotification(kind), t, order, news.payload, self._clock.now())
        if news.chat_id in self._operators:
            alarm = Alarm(kind=KIND_OF[kind], subject=reference, raised_at=news.created_at)
            known = {reference: order} if order is not None else {}
            screen = Screen(f"{screen.text}\n{alarms.todo(t, [alarm], known)}", alarms.keyboard(t, alarm))
        return await self._send(news, t, screen)

    async def _tell_of_key(self, news: Notification, _: Person | None, t: Translator) -> DeliveryOutcome:
        """Tell support that the service refuses the key, or works with it again."""
        notice = OrderNotification(news.kind_name)
        return await self._send(news, t, staff_notes.screen(notice, t, None, news.payload, self._clock.now()))

    async def _orders(self, raised: Iterable[Alarm]) -> Mapping[str, Order]:
        return await orders_of(self._store, raised)

    async def _send(self, news: Notification, t: Translator, screen: Screen) -> DeliveryOutcome:
        return await tell_text(self._messenger, news, t, screen, lane="money")


async def orders_of(store: Database, raised: Iterable[Alarm]) -> Mapping[str, Order]:
    """Reference -> order, of the alarms that are about orders and will be shown."""
    references = [alarm.subject for alarm in raised if alarm.subject][: alarms.SHOWN]
    async with store.reading() as tx:
        found = [await OrderRepository(tx).get_if_readable(reference) for reference in references]
    return {order.reference: order for order in found if order is not None}

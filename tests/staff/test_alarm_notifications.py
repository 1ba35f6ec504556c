"""How alarms read when they reach a chat: in its reader's language, and with buttons for operators alone."""

from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest

from bot.infra.i18n import Translations, translator_for
from bot.infra.outbox.model import Notification, Sent
from bot.infra.outbox.repository import OutboxRepository
from bot.infra.telegram.outbound.sender import Delivered, Messenger
from bot.infra.telegram.ui.screen import Keyboard
from bot.orders.notifications import staff_news
from bot.orders.order import OrderNotification
from bot.staff.alarm_model import AlarmKind
from bot.staff.alarm_rendering import AlarmRenderer
from bot.support.tickets.repository import TicketRepository
from bot.users.model import Person
from tests.orders.order_world import OSCAR, House, rules
from tests.settlement.fake_settlement import FakeSettlement
from tests.texts import label, readable, says, starts, text

RINA, OLGA = 3001, 2002
TRANSLATIONS = Translations.load(strict=True)


@dataclass
class Chats:
    """What stands in them, as it is read."""

    texts: dict[int, list[str]] = field(default_factory=dict)
    keyboards: dict[int, list[Keyboard]] = field(default_factory=dict)

    async def send_text(self, chat_id: int, markup: str, keyboard: Keyboard, **_: Any) -> Delivered:
        self.texts.setdefault(chat_id, []).append(readable(markup))
        self.keyboards.setdefault(chat_id, []).append(keyboard)
        return Delivered(1)

    def labels(self, chat_id: int) -> list[str]:
        return [button.label for row in self.keyboards[chat_id][-1] for button in row]


@pytest.fixture
def chats(house: House) -> Chats:
    """The house tells its alarms into these; Oscar reads English, Olga Indonesian."""
    chats = Chats()
    operators = frozenset({OSCAR, OLGA})
    tellers = AlarmRenderer(house.store, cast("Messenger", chats), house.clock, operators).renderers()
    record_audit = house.ears.tell

    async def tell(news: Notification) -> Any:
        reader = Person(id=news.chat_id, created_at=news.created_at, locale="id" if news.chat_id == OLGA else "en")
        teller = tellers.get(news.kind)
        t = translator_for(TRANSLATIONS, reader, "en")
        return await (teller(news, reader, t) if teller else record_audit(news))

    house.ears.tell = tell  # type: ignore[method-assign]
    return chats


@pytest.fixture
def house(file: str, service: FakeSettlement) -> House:
    return House(file, service, rules=rules(operator_ids=frozenset({OSCAR, OLGA}), support_ids=frozenset({RINA})))


@pytest.fixture(autouse=True)
async def _leaves(house: House) -> Any:
    yield
    await house.leave()


async def fails_after_payment(house: House) -> str:
    order = await house.place()
    for state in ("LN_INVOICE_PAID", "FAILED"):
        house.service.becomes("svc-1", state)
        await house.polls()
    return order.reference


async def test_the_alarm_of_an_order_that_failed_is_the_operators_and_support_has_its_ticket(
    house: House, chats: Chats
) -> None:
    reference = await fails_after_payment(house)
    assert reference in chats.texts[OSCAR][0]
    assert says(readable(chats.texts[OSCAR][0]), "alarm.todo.order_failed", id="svc-1")
    assert (chats.labels(OSCAR), chats.labels(OLGA)) == ([label("alarm.seen_to")], [label("alarm.seen_to", "id")])
    assert chats.texts.get(RINA) is None
    async with house.store.reading() as tx:
        assert len(await TicketRepository(tx).of_order(reference)) == 1


async def test_the_other_operator_hears_that_it_is_seen_to_and_which_order_it_was(house: House, chats: Chats) -> None:
    reference = await fails_after_payment(house)
    await house.watching.settle(AlarmKind.ORDER_FAILED, reference, by=OSCAR)
    await house.tells()
    assert len(chats.texts[OSCAR]) == 1
    assert starts(chats.texts[OLGA][-1], "alarm.settled", "id")
    assert reference in chats.texts[OLGA][-1]


async def test_a_reminder_names_all_that_is_wrong_when_it_arrives(house: House, chats: Chats) -> None:
    reference = await fails_after_payment(house)
    house.health.refused()
    await house.tells()
    await house.alarms.remind()
    house.clock.passes(hours=2)
    assert await house.alarms.remind()
    await house.tells()
    assert starts(chats.texts[OSCAR][-1], "alarm.still")
    assert reference in chats.texts[OSCAR][-1]
    assert says(chats.texts[OSCAR][-1], "alarm.key_refused")
    assert chats.labels(OSCAR) == [label("alarm.seen_to_order", reference=reference), label("alarm.status")]


async def test_a_reminder_of_what_has_ended_before_it_could_be_told_makes_no_sound(house: House, chats: Chats) -> None:
    reference = await fails_after_payment(house)
    await house.alarms.remind()
    house.clock.passes(hours=2)
    assert await house.alarms.remind()
    await house.watching.settle(AlarmKind.ORDER_FAILED, reference, by=OSCAR)
    await house.tells()
    assert len(chats.texts[OSCAR]) == 1
    async with house.store.reading() as tx:
        assert await OutboxRepository(tx).next_due() is None


async def test_what_may_have_been_told_before_says_so_when_it_is_told_again(house: House, chats: Chats) -> None:
    reference = await fails_after_payment(house)
    tellers = AlarmRenderer(house.store, cast("Messenger", chats), house.clock, frozenset({OSCAR})).renderers()
    now = house.clock.now()
    (piece,) = staff_news([OSCAR], OrderNotification.STAFF_FAILED, f"order:{reference}", now, reference=reference)
    english = TRANSLATIONS.get("en")
    assert isinstance(await tellers[piece.kind](replace(piece, maybe_told=True), None, english), Sent)
    assert text("news.again") in chats.texts[OSCAR][-1]

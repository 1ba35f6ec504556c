"""Every order about which Telegram rejected a message is shown at the next visit of its user."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, cast

import pytest
from telegram import Update

from bot.core.backoff import Backoff
from bot.infra.db.database import Database
from bot.infra.i18n import LOCALES
from bot.infra.outbox.model import Notification, StoredNotification, Undeliverable
from bot.infra.outbox.repository import OutboxRepository
from bot.infra.telegram.outbound.sender import Delivered, Invalid, Outcome, TryLater, Unreachable
from bot.infra.telegram.ui.screen import TEXT_UNITS
from bot.orders.messages import order_notifications
from bot.orders.missed_messages import MAX_SHOWN, MissedMessages, follow_ups
from bot.orders.notifications import AboutOrder, OrderNotification
from bot.orders.order import Order, Phase
from bot.orders.repository import MissedOrder, MissedOrderRepository, OrderRepository
from bot.orders.screens.order_lists import needs_attention
from bot.orders.status_handlers import StatusMessages
from bot.settlement.model import OrderStep
from bot.staff.staff_chat import StaffChat, SupportContacts
from bot.users.repository import UserRepository
from tests.infra.builders import an_infra
from tests.orders.builders import an_open_order, as_sent, orders_in_each_state
from tests.orders.crashes import Crash
from tests.settlement.fake_settlement import MovedClock
from tests.texts import TRANSLATIONS
from tests.times import NOW, SECOND
from tests.users.builders import a_user, load_sessions

EMMA, GROUP = 1001, -100_1
Does = Callable[[], Awaitable[None]]


class Telegram:
    """A fake Telegram, which keeps the messages it accepts. `fates` are the results of the next messages."""

    def __init__(self) -> None:
        self.chat: list[str] = []
        self.fates: list[Any] = []

    async def send_text(self, chat_id: int, html: str, *_: Any, **__: Any) -> Outcome:
        assert chat_id == EMMA
        fate = self.fates.pop(0) if self.fates else None
        if isinstance(fate, TryLater | Invalid | Unreachable):
            return fate
        self.chat.append(html)
        if fate is not None:
            await fate()
        return Delivered(len(self.chat))


class World:
    """A bot, its database and Telegram."""

    def __init__(self, sqlite_store: Database, clock: MovedClock) -> None:
        self.store, self.clock, self.telegram = sqlite_store, clock, Telegram()
        infra, none = an_infra(sqlite_store, clock, self.telegram), cast("Any", None)
        status_messages = StatusMessages(infra, none, none, SupportContacts(StaffChat(0, frozenset())))
        self.sessions = load_sessions(infra)
        self.missed_messages = MissedMessages(sqlite_store, status_messages)

    async def orders(self, *references: str) -> None:
        """Place some orders of Emma."""
        await self.save(*(an_open_order(reference=reference) for reference in references))

    async def save(self, *orders: Order) -> None:
        """Save orders of Emma, each with ids of its own."""
        async with self.store.transaction() as tx:
            for order in orders:
                own = {"draft_id": order.reference, "service_id": order.reference, "bolt11": None}
                assert await OrderRepository(tx).add(replace(order, **own))  # type: ignore[arg-type]

    async def is_blocked(self) -> None:
        """Let Emma block the bot."""
        async with self.store.transaction() as tx:
            known = await UserRepository(tx).get(EMMA)
            assert known is not None
            await UserRepository(tx).save(replace(known, blocked_at=self.clock.now()))

    async def reject_messages(
        self, *references: str, kind: OrderNotification = OrderNotification.PAID, whole_chat: bool = False
    ) -> None:
        """Let Telegram reject a message about each order, one after the other."""
        for reference in references:
            self.clock.passes(seconds=1)
            now = self.clock.now()
            notification: Notification[AboutOrder] = Notification(
                chat_id=EMMA,
                subject=f"order:{reference}",
                kind=kind,
                payload=AboutOrder(reference),
                due_at=now,
                created_at=now,
            )
            async with self.store.transaction() as tx:
                outcome = Undeliverable("message is too long", whole_chat=whole_chat)
                await follow_ups(frozenset())[kind](tx, notification, outcome, now)

    async def missed(self) -> tuple[MissedOrder, ...]:
        """Return the orders that Emma missed a message about, and hasn't been shown."""
        async with self.store.reading() as tx:
            return await MissedOrderRepository(tx).of_user(EMMA)

    async def session(self, chat_id: int = EMMA, language: str = "en", does: Does | None = None) -> list[str]:
        """Let Emma send a message with the effect `does`, and return the new messages in her chat."""
        before = len(self.telegram.chat)
        user = {"id": EMMA, "is_bot": False, "first_name": "Emma", "language_code": language}
        chat = {"id": chat_id, "type": "private" if chat_id == EMMA else "supergroup"}
        message = {"message_id": 7, "date": 1_790_000_000, "chat": chat, "from": user, "text": "halo"}
        update = Update.de_json({"update_id": 3, "message": message}, None)
        assert update is not None
        session = await self.sessions.load(update, (self.missed_messages.load,))
        assert session is not None
        if does is not None:
            await does()
        await self.missed_messages.show(session)
        await self.sessions.finish(session)
        return self.telegram.chat[before:]


@pytest.fixture
async def world(sqlite_store: Database, clock: MovedClock, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr("bot.users.session.RETRY_PAUSES", Backoff(first=0.0))
    async with sqlite_store.transaction() as tx:
        await UserRepository(tx).save(a_user(EMMA))
    return World(sqlite_store, clock)


def are_messages_of(seen: list[str], *references: str, language: str = "en") -> bool:
    """Return whether these are the messages of these orders, in this sequence."""
    notice = TRANSLATIONS.get(language)("orders.chat.missed")
    return len(seen) == len(references) and all(
        message.startswith(notice) and reference in message for message, reference in zip(seen, references, strict=True)
    )


async def test_what_telegram_does_not_accept_now_is_shown_at_the_next_visit(world: World) -> None:
    await world.orders("AAA2345", "BBB2345", "CCC2345")
    await world.reject_messages("AAA2345", "BBB2345", "CCC2345")
    world.telegram.fates = [None, *[TryLater(0)] * 3]
    assert are_messages_of(await world.session(), "AAA2345")
    world.telegram.fates = [Unreachable("blocked")]
    assert await world.session() == []
    assert are_messages_of(await world.session(), "BBB2345", "CCC2345")
    assert await world.session() == []


@pytest.mark.parametrize("count", [1, 6])
async def test_after_a_kill_behind_telegrams_answer_they_are_shown_again(world: World, count: int) -> None:
    async def is_killed() -> None:
        raise Crash

    references = [f"AAA234{n}" for n in range(count)]
    await world.orders(*references)
    await world.reject_messages(*references)
    world.telegram.fates = [is_killed]
    with pytest.raises(Crash):
        await world.session()
    assert len(await world.session()) == count
    assert world.telegram.chat[0] == world.telegram.chat[1]
    assert await world.session() == []


@pytest.mark.parametrize("kind", OrderNotification)
async def test_whatever_did_not_reach_someone_who_blocked_the_bot_is_shown_on_return(
    world: World, kind: OrderNotification
) -> None:
    await world.save(an_open_order(reference="AAA2345", step=OrderStep.PAID, paid_at=NOW))
    await world.is_blocked()
    await world.reject_messages("AAA2345", kind=kind, whole_chat=True)
    (seen,) = await world.session()
    assert seen.startswith(TRANSLATIONS.get("en")("orders.chat.meanwhile"))
    assert "AAA2345" in seen
    assert await world.session() == []


def a_failed_order(reference: str, **changes: Any) -> Order:
    failed = {"state": "FAILED", "phase": Phase.DONE, "step": OrderStep.SENDING, "paid_at": NOW, "ended_at": NOW}
    return an_open_order(reference=reference, **{**failed, **changes})


async def test_the_removal_of_an_invoice_waits_again_before_anything_is_shown(world: World) -> None:
    order = an_open_order(reference="AAA2345", step=OrderStep.PAID, paid_at=NOW)
    await world.save(order)
    await world.is_blocked()
    async with world.store.transaction() as tx:
        await OutboxRepository(tx).add(order_notifications(order, (OrderNotification.REMOVE_INVOICE,), NOW))
        await OutboxRepository(tx).give_up_chat(EMMA, "blocked")
    await world.reject_messages("AAA2345", kind=OrderNotification.REMOVE_INVOICE, whole_chat=True)
    waiting: list[StoredNotification] = []

    async def looks() -> None:
        async with world.store.reading() as tx:
            waiting.extend(await OutboxRepository(tx).find_unsent(EMMA))

    world.telegram.fates = [looks]
    assert len(await world.session()) == 1
    assert [each.kind for each in waiting] == [OrderNotification.REMOVE_INVOICE]


async def test_a_paid_order_that_failed_is_told_however_many_orders_are_newer(world: World) -> None:
    await world.is_blocked()
    now = world.clock.now() + 2 * SECOND
    await world.save(a_failed_order("OLD2345", paid_at=now, ended_at=now, created_at=now - 9 * SECOND))
    await world.save(*(as_sent(an_open_order(reference=f"AAA234{n}", created_at=now)) for n in range(9)))
    world.clock.passes(seconds=5)
    await world.reject_messages("OLD2345", *(f"AAA234{n}" for n in range(9)), whole_chat=True)
    first, *_ = await world.session()
    assert "OLD2345" in first
    assert await world.session() == []


REFERENCES = [f"{a}{b}C2345" for a in "ABCDEFGHJK" for b in "ABCDEFGHJK"]


@pytest.mark.parametrize("language", LOCALES)
@pytest.mark.parametrize("fails_at", [None, 0, 3, 7, 11])
async def test_of_a_hundred_orders_each_is_named_or_counted(world: World, language: str, fails_at: int | None) -> None:
    states = [order for _, order in orders_in_each_state()]
    placed = [replace(states[n % len(states)], reference=reference) for n, reference in enumerate(REFERENCES)]
    await world.save(*placed)
    await world.is_blocked()
    await world.reject_messages(*REFERENCES, whole_chat=True)
    if fails_at is not None:
        world.telegram.fates = [*[None] * fails_at, *[TryLater(0)] * 9]
    seen: list[str] = []
    while await world.missed():
        seen += await world.session(language=language)
    urgent = {order.reference for order in placed if needs_attention(order, world.clock.now())}
    assert len(urgent) > MAX_SHOWN
    text = "\n".join(seen)
    assert {reference for reference in REFERENCES if reference in text} >= urgent
    counted = sum(int(count) for count in re.findall(r"^\S+ [^\n:]+(?:: [^\n:]+)?: (\d+)$", text, re.MULTILINE))
    named = sum(reference in text for reference in REFERENCES)
    assert named + counted == len(REFERENCES)
    assert all(len(message) < TEXT_UNITS for message in seen)
    places = [text.index(reference) for reference in urgent]
    counting = text.index(TRANSLATIONS.get(language).plural("orders.chat.missed_others", counted))
    assert max(places) < counting, "trouble comes first"

"""One user's many messages don't delay others in the staff's group, and none of them is lost."""

from collections.abc import AsyncIterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from bot.core.zones import PRESUMED
from bot.infra.outbox.delivery import OutboxDelivery
from bot.infra.outbox.model import NotificationStatus
from bot.infra.outbox.rendering import Renderers
from bot.infra.outbox.repository import OutboxRepository
from bot.infra.telegram.outbound.sender import Delivered, Outcome, TryLater
from bot.support import staff_messages
from bot.support.model import BotMessage, IncomingMessage, MediaKind, Ticket
from bot.support.repository import BotMessageRepository
from bot.support.service import MAX_WAITING, UserTicketService
from bot.support.topics import TicketTopics
from bot.users.readers import RenderContext, RenderContexts
from tests.infra.builders import an_infra
from tests.settlement.fake_settlement import MovedClock
from tests.support.ticket_system import EMMA, GROUP, SARI, TicketSystem
from tests.texts import TRANSLATIONS
from tests.times import DAY
from tests.users.builders import a_user

EN = TRANSLATIONS.get("en")
WORDS = [f"word number {number}" for number in range(1, 47)]


class Group:
    """A fake Telegram that keeps what is sent to a group without topics, and which message it replies to."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, int | None]] = []
        self.fails_next: list[Outcome] = []
        self.topics = SimpleNamespace(has_topics=self._has_topics)
        self.names = SimpleNamespace(find=self._find)

    @property
    def texts(self) -> list[str]:
        return [text for text, _ in self.sent]

    async def send_text(self, _: int, text: str, *__: Any, reply_to: int | None = None, **___: Any) -> Outcome:
        if self.fails_next:
            return self.fails_next.pop()
        self.sent.append((text, reply_to))
        return Delivered(len(self.sent))

    async def send_photo(self, chat_id: int, _: str, text: str, *__: Any, **how: Any) -> Outcome:
        return await self.send_text(chat_id, text, **how)

    async def edit_text(self, *_: Any, **__: Any) -> Outcome:
        return Delivered(1)

    async def _has_topics(self, _: int) -> bool:
        return False

    async def _find(self, _: object) -> dict[int, str]:
        return {}


class CrowdedSystem(TicketSystem):
    """The tickets of users, with the messages that the group gets."""

    def __init__(self, database: str) -> None:
        super().__init__(database, MovedClock())
        self.chat = Group()
        infra = an_infra(self.store, self.clock, self.chat)
        renderers: Renderers[RenderContext] = Renderers(
            RenderContexts(infra).open, self.messages_to_staff(TicketTopics(infra)).renderers()
        )
        self.delivery = OutboxDelivery(self.store, renderers, self.clock, follow_ups=self.follow_ups())
        self.users = UserTicketService(self.store, self.clock, self.staff_chat, reopen_within=7 * DAY)

    async def ask(self, user_id: int, text: str, order: str = "") -> Ticket:
        incoming = IncomingMessage(chat_id=user_id, message_id=next(self._numbers), text=text)
        return (await self.users.ask(a_user(user_id), incoming, order)).ticket

    async def write(self, ticket: Ticket, text: str, photo: str | None = None) -> IncomingMessage:
        incoming = replace(self.new_message(text, photo=photo), chat_id=ticket.user_id)
        await self.users.write(a_user(ticket.user_id), incoming, ticket.reference)
        return incoming

    async def message(self, number: int) -> BotMessage | None:
        async with self.store.reading() as tx:
            return await BotMessageRepository(tx).get(GROUP, number)

    async def unsent(self, ticket: Ticket) -> list[str]:
        async with self.store.reading() as tx:
            rows = await OutboxRepository(tx).find_by_subject(f"ticket:{ticket.reference}")
        return [row.kind for row in rows if row.status is not NotificationStatus.SENT]


@pytest.fixture
async def system(database: str) -> AsyncIterator[CrowdedSystem]:
    made = CrowdedSystem(database)
    yield made
    await made.store.close()


async def test_a_new_ticket_goes_before_the_many_messages_of_another(system: CrowdedSystem) -> None:
    emma = await system.ask(EMMA, "Hello")
    await system.deliver()
    for number in range(9):
        await system.write(emma, "", photo=f"photo {number}")
    sari = await system.ask(SARI, "My money is gone")
    before = len(system.chat.sent)
    await system.deliver()
    place = next(place for place, text in enumerate(system.chat.texts[before:]) if sari.reference in text)
    assert place <= 1
    assert len(system.chat.sent) == before + 9 + 2


async def test_texts_that_wait_go_out_as_one_message_with_every_word(system: CrowdedSystem) -> None:
    ticket = await system.ask(EMMA, WORDS[0])
    for text in WORDS[1:]:
        await system.write(ticket, text)
    await system.deliver()
    _card, *words = system.chat.texts
    assert len(words) == 1
    assert [each.split("</blockquote>")[0] for each in words[0].split("<blockquote>")[1:]] == WORDS
    assert await system.unsent(ticket) == []
    assert words[0].count(EN.clock(system.clock.now(), PRESUMED)) == 1, "the time is there once"
    await system.write(ticket, "and one more")
    await system.deliver()
    assert system.chat.texts[-1].endswith("<blockquote>and one more</blockquote>")


async def test_what_does_not_fit_into_one_message_follows_in_the_next(system: CrowdedSystem) -> None:
    long = [f"{number} {'rupiah ' * 200}".strip() for number in range(1, 8)]
    ticket = await system.ask(EMMA, long[0])
    for text in long[1:]:
        await system.write(ticket, text)
    await system.deliver()
    words = "\n".join(system.chat.texts[1:])
    assert [each.split("</blockquote>")[0] for each in words.split("<blockquote>")[1:]] == long
    assert len(system.chat.texts) == 1 + 4
    assert max(map(len, system.chat.texts)) < 4096 + 300


async def test_a_heading_that_does_not_fit_costs_no_word(
    system: CrowdedSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staff_messages, "OWN_UNITS", -200)
    texts = ["w" * 4080, "b", "c"]
    ticket = await system.ask(EMMA, texts[0])
    for text in texts[1:]:
        await system.write(ticket, text)
    await system.deliver()
    shown = "\n".join(system.chat.texts[1:])
    assert len(system.chat.texts) == 3, "the card, the heading and the texts"
    assert [each.split("</blockquote>")[0] for each in shown.split("<blockquote>")[1:]] == texts


async def test_many_short_texts_stay_within_what_telegram_formats(system: CrowdedSystem) -> None:
    ticket = await system.ask(EMMA, "0")
    for number in range(1, 120):
        await system.write(ticket, str(number))
    await system.deliver()
    shown = system.chat.texts[1:]
    assert [each.count("<blockquote>") for each in shown] == [50, 50, 20]


async def test_a_picture_keeps_its_place_among_texts(system: CrowdedSystem) -> None:
    ticket = await system.ask(EMMA, "one")
    for text, photo in (("two", None), ("three", "photo"), ("four", None), ("five", None)):
        await system.write(ticket, text, photo)
    await system.deliver()
    parts = [
        [word for word in ("one", "two", "three", "four", "five") if f">{word}<" in text] for text in system.chat.texts
    ]
    assert parts == [[], ["one", "two"], ["three"], ["four", "five"]]


async def test_a_reply_to_one_message_of_many_texts_is_to_their_ticket(system: CrowdedSystem) -> None:
    ticket = await system.ask(EMMA, "one")
    await system.write(ticket, "two")
    await system.deliver()
    shown = await system.message(2)
    assert shown is not None
    assert shown.ticket == ticket.reference


async def test_an_edit_shows_the_new_text_of_its_part_under_the_message_with_all(system: CrowdedSystem) -> None:
    ticket = await system.ask(EMMA, "one")
    written = [await system.write(ticket, text) for text in ("two", "three", "four")]
    await system.deliver()
    await system.write(ticket, "five")
    await system.deliver()
    for text, message in (("4", written[2]), ("2", written[0])):
        entry = await system.tickets.find(message.chat_id, message.message_id)
        assert entry is not None
        await system.tickets.edit(entry, EMMA, replace(message, text=text))
        await system.deliver()
        assert system.chat.texts[-1].endswith(f"<blockquote>{text}</blockquote>")
        assert "three" not in system.chat.texts[-1]
        assert system.chat.sent[-1][1] == 2, "the message with all four"


async def test_what_may_have_arrived_is_repeated_with_every_word_once(system: CrowdedSystem) -> None:
    ticket = await system.ask(EMMA, "one")
    await system.deliver()
    system.chat.fails_next = [TryLater(1, maybe_sent=True)]
    for text in ("two", "three"):
        await system.write(ticket, text)
    await system.deliver()
    await system.write(ticket, "four")
    system.clock.passes(minutes=1)
    await system.deliver()
    assert all(f">{word}<" in system.chat.texts[-1] for word in ("two", "three", "four"))
    assert len(system.chat.texts) == 3
    assert await system.unsent(ticket) == []


async def test_the_user_is_told_to_wait_once_when_many_messages_wait(system: CrowdedSystem) -> None:
    ticket = await system.ask(EMMA, "1")
    told = []
    for number in range(2, MAX_WAITING + 5):
        await system.write(ticket, str(number), photo="photo")
        told += [number] if await system.users.is_crowded(ticket) else []
    assert told == [MAX_WAITING]
    await system.deliver()
    assert not await system.users.is_crowded(ticket)
    assert len(await system.entries(ticket)) == MAX_WAITING + 4
    assert MediaKind.PHOTO in {entry.media for entry in await system.entries(ticket)}

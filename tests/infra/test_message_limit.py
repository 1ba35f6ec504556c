"""The message limit: users are warned with a time, other chats aren't affected, and late updates don't count."""

import asyncio
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from telegram import CallbackQuery, Chat, Message, Update, User

from bot.infra.i18n import Translator
from bot.infra.telegram.inbound.attempts import RECEIVED_AT
from bot.infra.telegram.inbound.chat_queues import ChatQueues
from bot.infra.telegram.inbound.message_limit import WINDOW, MessageLimit
from tests.infra.fake_inbox import FakeStore, LoopClock, inbox_in_memory  # noqa: F401  a fixture
from tests.infra.test_chat_queues import TakenOver, item
from tests.settlement.fake_settlement import BEGINNING, MovedClock
from tests.texts import TRANSLATIONS, text
from tests.virtual_time import in_virtual_time

if TYPE_CHECKING:
    from bot.infra.telegram.outbound.sender import Messenger

EMMA, SARI, OSCAR = 1001, 1002, 2001


SILENT: Any = None
"""A messenger that isn't used."""


async def fail_lookup(_: int) -> Translator:
    raise AssertionError("nobody is refused")


@dataclass
class LimitedChats:
    """A message limit that records its warnings."""

    clock: MovedClock = field(default_factory=MovedClock)
    per_minute: int = 3
    offset: timedelta = timedelta(0)
    sent: list[tuple[int, str]] = field(default_factory=list)
    answered: list[str] = field(default_factory=list)
    looked_up: int = 0

    def __post_init__(self) -> None:
        messenger = cast("Messenger", SimpleNamespace(send_text=self._send, answer_press=self._answer))
        exempt = frozenset({OSCAR})
        self.limiter = MessageLimit(
            self.per_minute, self.clock, messenger, self._translator_for, exempt=exempt, offset=self.offset
        )

    async def rejects(self, update: Update, *, received: datetime | str | None = "now") -> bool:
        token = RECEIVED_AT.set(self.clock.now() if isinstance(received, str) else received)
        try:
            return await self.limiter.rejects(update)
        finally:
            RECEIVED_AT.reset(token)

    async def send_messages(self, times: int, chat: int = EMMA) -> list[bool]:
        return [await self.rejects(typed(chat, self.clock.now())) for _ in range(times)]

    async def _translator_for(self, _: int) -> Translator:
        self.looked_up += 1
        return TRANSLATIONS.get("en")

    async def _send(self, chat_id: int, html: str, *_: object, **__: object) -> None:
        self.sent.append((chat_id, html))

    async def _answer(self, _: str, html: str, *, alert: bool) -> None:
        assert alert
        self.answered.append(html)


def typed(chat_id: int, at: datetime, kind: str = Chat.PRIVATE) -> Update:
    user = User(chat_id, "Emma", is_bot=False)
    return Update(1, message=Message(1, at, Chat(chat_id, kind), from_user=user, text="halo"))


def pressed(chat_id: int) -> Update:
    user, chat = User(chat_id, "Emma", is_bot=False), Chat(chat_id, Chat.PRIVATE)
    under = Message(1, BEGINNING - timedelta(days=1), chat)
    return Update(1, callback_query=CallbackQuery("press", user, "x", message=under, data="new"))


@pytest.fixture
def chats() -> LimitedChats:
    return LimitedChats()


async def test_what_is_within_the_limit_is_let_in_and_one_more_is_told_when_again(chats: LimitedChats) -> None:
    assert await chats.send_messages(1) == [False]
    chats.clock.passes(seconds=20)
    assert await chats.send_messages(3) == [False, False, True]
    assert chats.sent == [(EMMA, text("infra.limits.messages", count=40))]


async def test_a_spell_of_refusals_is_told_once_and_looks_its_user_up_once(chats: LimitedChats) -> None:
    refused = await chats.send_messages(100)
    assert refused == [False] * 3 + [True] * 97
    assert len(chats.sent) == 1
    assert chats.looked_up == 1


async def test_each_press_that_is_too_much_is_answered_so_that_its_button_stops_waiting(chats: LimitedChats) -> None:
    await chats.send_messages(3)
    assert [await chats.rejects(pressed(EMMA)) for _ in range(3)] == [True] * 3
    assert chats.answered == [text("infra.limits.messages", count=60)] * 3
    assert chats.sent == []
    assert chats.looked_up == 1


async def test_a_flood_is_felt_in_its_own_chat_alone(chats: LimitedChats) -> None:
    await chats.send_messages(50)
    assert await chats.send_messages(3, SARI) == [False] * 3


async def test_staff_are_never_too_much_and_neither_is_anybody_without_a_limit(chats: LimitedChats) -> None:
    assert not any(await chats.send_messages(500, OSCAR))
    assert not any(await LimitedChats(per_minute=0).send_messages(500))


async def test_what_a_former_process_has_kept_and_what_is_tried_again_is_no_flood(chats: LimitedChats) -> None:
    for _ in range(50):
        assert not await chats.rejects(typed(EMMA, chats.clock.now()), received=None)
        assert not await chats.rejects(pressed(EMMA), received=None)


async def test_what_was_sent_while_nobody_listened_is_no_flood_though_it_comes_at_once(chats: LimitedChats) -> None:
    earlier = BEGINNING - timedelta(minutes=5)
    assert not any([await chats.rejects(typed(EMMA, earlier)) for _ in range(50)])
    assert await chats.send_messages(3) == [False] * 3, "and leaves the whole limit"


@pytest.mark.parametrize("offset", [timedelta(hours=-1), timedelta(0), timedelta(hours=1)])
async def test_a_clock_that_differs_from_telegrams_changes_nothing(offset: timedelta) -> None:
    chats = LimitedChats(offset=offset)
    earlier = BEGINNING + offset - timedelta(minutes=5)
    assert not any([await chats.rejects(typed(EMMA, earlier)) for _ in range(50)])
    live = [await chats.rejects(typed(EMMA, chats.clock.now() + offset)) for _ in range(4)]
    assert live == [False, False, False, True]


@given(gaps=st.lists(st.floats(0, 40), max_size=60), limit=st.integers(1, 5))
def test_no_minute_holds_more_than_the_limit_and_nobody_below_it_is_refused(gaps: list[float], limit: int) -> None:
    clock = MovedClock()
    limiter, accepted = MessageLimit(limit, clock, SILENT, fail_lookup), list[datetime]()
    for gap in gaps:
        clock.passes(seconds=gap)
        now = clock.now()
        recent = [at for at in accepted if at > now - WINDOW]
        assert limiter.count_message(EMMA, now) is (len(recent) < limit)
        if len(recent) < limit:
            accepted.append(now)
        else:
            assert limiter.get_next_free_time(EMMA) == recent[0] + WINDOW


class FirstAttemptFailed(Exception):
    """Raised by the first attempt."""


@in_virtual_time
async def test_the_queues_say_when_an_update_came_in_unless_it_is_taken_up_again() -> None:
    store, clock, seen = FakeStore(), LoopClock(), list[tuple[int, datetime | None]]()
    left_behind = item(1, EMMA)
    async with store.transaction() as tx:
        await tx.inbox.add([left_behind])
    await asyncio.sleep(60)

    async def process(update: Update) -> None:
        seen.append((update.update_id, RECEIVED_AT.get()))
        if update.update_id == 3 and len(seen) == 3:
            raise FirstAttemptFailed

    queues = ChatQueues(store.port, process, clock, leases=TakenOver())
    await queues.claim_waiting()
    await asyncio.sleep(1)
    received = [item(2, EMMA), item(3, EMMA)]
    async with store.transaction() as tx:
        await tx.inbox.add(received)
    queues.submit_updates(received, [2, 3])
    await asyncio.sleep(10)
    assert seen == [(1, None), (2, received[0].received_at), (3, received[1].received_at), (3, None)]

"""The receiver, in virtual time: it acknowledges updates after it saved them, and survives failures."""

import asyncio
import contextlib
from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pytest
from telegram.error import InvalidToken, TelegramError

from bot.infra.telegram.inbound.receiver import Receiver, UpdateIntake, find_chat_id
from bot.infra.telegram.inbound.repository import InboxItem
from bot.infra.telegram.outcomes import TokenRefused
from tests.infra.fake_inbox import FakeStore, LoopClock, inbox_in_memory  # noqa: F401  a fixture
from tests.virtual_time import in_virtual_time, now


class FakeTelegram:
    """A fake source of updates. It returns updates until they are acknowledged, and raises `errors`."""

    def __init__(self, *updates: dict[str, Any]) -> None:
        self.updates = list(updates)
        self.errors: list[TelegramError] = []
        self.polls: list[tuple[float, int | None]] = []

    async def fetch(self, offset: int | None) -> Sequence[dict[str, Any]]:
        self.polls.append((now(), offset))
        await asyncio.sleep(0.1)
        if self.errors:
            raise self.errors.pop(0)
        if offset is not None:
            self.updates = [update for update in self.updates if update["update_id"] >= offset]
        if not self.updates:
            await asyncio.sleep(25)
        return self.updates[:100]


class FakeQueues:
    """Fake queues that record calls."""

    def __init__(self) -> None:
        self.submitted: list[int] = []
        self.reread: list[int] = []
        self.calls: list[str] = []

    def expecting(self, _update_ids: Any) -> AbstractContextManager[None]:
        return nullcontext()

    def submit_updates(self, items: Sequence[InboxItem], new_ids: Collection[int]) -> None:
        self.calls += ["new" if item.id in new_ids else "again" for item in items]
        self.submitted += [item.id for item in items if item.id in new_ids]
        self.reread += [item.chat_id for item in items if item.id not in new_ids]


def message(update_id: int, chat: int = 1) -> dict[str, Any]:
    chat_of_user = {"id": chat, "type": "private"}
    return {"update_id": update_id, "message": {"message_id": 1, "date": 0, "chat": chat_of_user, "text": "hi"}}


async def receive(telegram: FakeTelegram, store: FakeStore, queues: FakeQueues, seconds: float) -> None:
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(Receiver(telegram, UpdateIntake(store.port, queues, LoopClock())).run(), seconds)


@in_virtual_time
async def test_updates_are_in_the_inbox_before_the_poll_that_acknowledges_them() -> None:
    store, queues, telegram = FakeStore(commits_take=2.0), FakeQueues(), FakeTelegram(message(7), message(8, 2))
    await receive(telegram, store, queues, 1.5)
    assert [offset for _, offset in telegram.polls] == [None], "still committing: not acknowledged"
    await receive(telegram, store, queues, 5)
    assert [offset for _, offset in telegram.polls] == [None, None, 9]
    assert set(store.inbox.rows) == {7, 8}
    assert queues.submitted == [7, 8]


@in_virtual_time
async def test_a_commit_that_only_seemed_to_fail_still_reaches_its_queue() -> None:
    store, queues, telegram = FakeStore(), FakeQueues(), FakeTelegram(message(7, chat=5))
    store.late_failures = [ConnectionError("lost after the commit")]
    await receive(telegram, store, queues, 10)
    assert queues.submitted == []
    assert queues.reread == [5]


@in_virtual_time
async def test_an_update_that_comes_twice_is_submitted_once() -> None:
    store, queues, telegram = FakeStore(), FakeQueues(), FakeTelegram(message(7))
    await receive(telegram, store, queues, 0.2)
    await receive(telegram, store, queues, 10)
    assert queues.submitted == [7]


@in_virtual_time
async def test_ids_that_begin_anew_below_the_last_one_while_the_bot_runs_are_received() -> None:
    store, queues, telegram = FakeStore(), FakeQueues(), FakeTelegram(message(900))
    receiving = asyncio.create_task(receive(telegram, store, queues, 100))
    await asyncio.sleep(50)
    telegram.updates.append(message(7))
    await receiving
    assert queues.submitted == [900, 7]
    assert [offset for _, offset in telegram.polls[:3]] == [None, 901, None]


@in_virtual_time
async def test_a_refused_token_ends_the_bot_in_words_without_the_token() -> None:
    telegram = FakeTelegram()
    telegram.errors = [InvalidToken("123:secret")] * 5
    with pytest.raises(TokenRefused) as refused:
        await receive(telegram, FakeStore(), FakeQueues(), 60)
    assert "secret" not in str(refused.value)
    assert refused.value.__cause__ is None


@in_virtual_time
async def test_one_strange_refusal_does_not_end_the_bot() -> None:
    telegram = FakeTelegram(message(7))
    telegram.errors = [InvalidToken()]
    queues = FakeQueues()
    await receive(telegram, FakeStore(), queues, 60)
    assert queues.submitted == [7]


def test_the_chat_of_an_update_is_where_its_answer_goes() -> None:
    press = {"update_id": 1, "callback_query": {"id": "1", "from": {"id": 44}, "message": {"chat": {"id": -100}}}}
    inline = {"update_id": 1, "callback_query": {"id": "1", "from": {"id": 44}, "inline_message_id": "x"}}
    member = {"update_id": 1, "my_chat_member": {"chat": {"id": 5}, "from": {"id": 44}}}
    assert [find_chat_id(update) for update in (message(1, 9), press, inline, member)] == [9, -100, 44, 5]
    assert find_chat_id({"update_id": 1}) is None


@pytest.mark.parametrize(
    "event",
    [
        {"boost_added": {"boost_count": 1}},
        {"users_shared": {"request_id": 1, "users": [{"user_id": 3}]}},
        {"chat_shared": {"request_id": 1, "chat_id": 3}},
        {"new_chat_photo": [{"file_id": "x"}]},
        {"chat_background_set": {"type": {"type": "fill"}}},
        {"pinned_message": {"message_id": 3, "text": "pinned"}},
        {"message_auto_delete_timer_changed": {"message_auto_delete_time": 86_400}},
        {"gift": {"gift": {"id": "1"}}},
        {"an_event_of_the_next_bot_api": {}},
    ],
)
def test_a_service_message_in_a_private_chat_is_not_taken_for_typed(event: dict[str, Any]) -> None:
    update = message(1, 9)
    del update["message"]["text"]
    update["message"] |= event
    assert find_chat_id(update) is None
    update["message"]["chat"]["type"] = "supergroup"  # topics of tickets have events that count
    assert find_chat_id(update) == 9

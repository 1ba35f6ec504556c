"""The live message of a broadcast is shown even if the operator's own row can't be read."""

from typing import Any, cast

from sqlalchemy import text

from bot.broadcasts.deliveries import DeliveryService, LiveMessages
from bot.broadcasts.model import BroadcastStatus, DeliveryStatus, Progress
from bot.infra.db.database import Database
from bot.infra.telegram.outbound.sender import Delivered, Outcome
from bot.users.model import User
from bot.users.repository import UserRepository
from tests.broadcasts.builders import OPERATOR, a_broadcast
from tests.infra.builders import an_infra
from tests.settlement.fake_settlement import MovedClock


class SentMessages:
    """A messenger that records the chats it sends to."""

    def __init__(self) -> None:
        self.chats: list[int] = []

    async def send_text(self, chat_id: int, *_: Any, **__: Any) -> Outcome:
        self.chats.append(chat_id)
        return Delivered(7)


async def test_the_progress_is_shown_to_an_operator_who_cannot_be_read(sqlite_store: Database) -> None:
    sent, now = SentMessages(), MovedClock().now()
    async with sqlite_store.transaction() as tx:
        await UserRepository(tx).save(User(id=OPERATOR, created_at=now, phrase="winter stair harp"))
    async with sqlite_store._writer.begin() as connection:
        await connection.execute(text("UPDATE users SET phrase = 's1.no.key' WHERE id = :key"), {"key": OPERATOR})
    infra = an_infra(sqlite_store, MovedClock(), sent)
    live = LiveMessages(infra, DeliveryService(infra, cast("Any", None), per_second=30))
    running = a_broadcast("b1b1", now, status=BroadcastStatus.RUNNING, started_at=now)
    assert await live._edit_or_send(Progress(running, {DeliveryStatus.WAITING: 3})) == 7
    assert sent.chats == [OPERATOR]
    assert sqlite_store.unreadable_rows() == {f"users {OPERATOR}"}

"""Operators are asked once to confirm a waiting broadcast, unless one of them has decided already."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bot.broadcasts.messages import render_waiting, waiting_notifications
from bot.broadcasts.model import Broadcast, BroadcastStatus, BroadcastWarning
from bot.broadcasts.repository import BroadcastRepository
from bot.infra.db.database import Database
from bot.infra.outbox.model import Sent
from bot.infra.telegram.outbound.sender import Delivered, Outcome
from bot.users.model import User
from tests.infra.keys import VAULT
from tests.rendering import context_for
from tests.settlement.fake_settlement import MovedClock
from tests.texts import label, readable, says, text

OSCAR = 2001


class SentMessages:
    """A messenger that records the messages it sends."""

    def __init__(self, outcome: Outcome) -> None:
        self.texts: list[str] = []
        self.labels: list[str] = []
        self._outcome = outcome

    async def send_text(self, chat_id: int, markup: str, keyboard: Any = (), **_: Any) -> Outcome:
        assert chat_id == OSCAR
        self.texts.append(readable(markup))
        self.labels += [button.label for row in keyboard for button in row]
        return self._outcome


async def render(file: str, sent: SentMessages, status: BroadcastStatus, *, maybe_sent: bool = False) -> object:
    store, clock = Database(file, VAULT), MovedClock()
    now = clock.now()
    waiting = Broadcast(id="0123456789", operator_id=OSCAR, created_at=now, starts_at=now - timedelta(minutes=6))
    async with store.transaction() as tx:
        await BroadcastRepository(tx).add(replace(waiting, status=status))
    (notification,) = waiting_notifications(waiting, [OSCAR], (BroadcastWarning.STALE, BroadcastWarning.JUMPED), now)
    reader = User(id=OSCAR, created_at=now, language_code="en")
    context = context_for(reader, store=store, messenger=sent, now=now)
    outcome = await render_waiting(replace(notification, maybe_sent=maybe_sent), context)
    await store.close()
    return outcome


async def test_a_waiting_broadcast_is_reported_with_its_reasons_and_buttons(file: str) -> None:
    sent = SentMessages(Delivered(7))
    assert await render(file, sent, BroadcastStatus.PAUSED, maybe_sent=True) == Sent(7)
    reasons = "\n".join(f"⚠️ {text(f'broadcasts.waits.{warning}')}" for warning in ("stale", "jumped"))
    (outcome,) = sent.texts
    assert says(outcome, "broadcasts.waiting", why=reasons)
    assert sent.labels == [label("broadcasts.preview"), label("broadcasts.call_off")]


@pytest.mark.parametrize("status", [each for each in BroadcastStatus if each is not BroadcastStatus.PAUSED])
async def test_a_broadcast_that_was_decided_meanwhile_is_not_reported(file: str, status: BroadcastStatus) -> None:
    sent = SentMessages(Delivered(7))
    assert await render(file, sent, status) == Sent()
    assert sent.texts == []

"""Names of users for staff: asked from Telegram once an hour, kept in memory only, and never waited for long."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

import pytest
from telegram.error import BadRequest

from bot.infra.telegram.outbound import names
from bot.infra.telegram.outbound.names import KEEP_SECONDS, Names
from bot.infra.telegram.ui.reader import Reader
from tests.screens import HOSTILE_NAMES, JAKARTA, NOW
from tests.texts import TRANSLATIONS, readable

EMMA, SARI = 1001, 1002


@dataclass
class Chat:
    first_name: str | None


@dataclass
class FakeBot:
    """Answers getChat with these names. A user without one is unknown to Telegram."""

    known: dict[int, str | None] = field(default_factory=dict)
    asked: list[int] = field(default_factory=list)
    error: Exception | None = None
    hangs: bool = False

    async def get_chat(self, user_id: int) -> Chat:
        self.asked.append(user_id)
        if self.hangs:
            await asyncio.Event().wait()
        if self.error is not None:
            raise self.error
        if user_id not in self.known:
            raise BadRequest("Chat not found")
        return Chat(self.known[user_id])


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


def a_cache(bot: FakeBot, clock: Clock | None = None) -> Names:
    made: Any = Names(bot, clock or Clock())  # type: ignore[arg-type]
    assert isinstance(made, Names)
    return made


async def test_a_name_is_asked_for_once_an_hour() -> None:
    bot, clock = FakeBot({EMMA: "Emma"}), Clock()
    cache = a_cache(bot, clock)
    assert await cache.find((EMMA, EMMA, None, 0)) == {EMMA: "Emma"}
    assert await cache.find((EMMA,)) == {EMMA: "Emma"}
    assert bot.asked == [EMMA]
    bot.known[EMMA] = "Emma K."
    clock.now += KEEP_SECONDS
    assert await cache.find((EMMA,)) == {EMMA: "Emma K."}


async def test_a_message_does_not_wait_long_for_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names, "LONGEST_WAIT", 0.01)
    assert await a_cache(FakeBot({EMMA: "Emma"}, hangs=True)).find((EMMA,)) == {}


@pytest.mark.parametrize("name", HOSTILE_NAMES)
async def test_a_name_stays_text_on_one_line_and_the_number_stands_beside_it(name: str) -> None:
    found = await a_cache(FakeBot({EMMA: name})).find((EMMA,))
    reader = Reader(TRANSLATIONS.get("en"), JAKARTA, NOW, found)
    shown = readable(reader.format_user(EMMA))
    assert "\n" not in shown
    assert shown.endswith(f"({EMMA})" if found else str(EMMA))
    assert f'href="tg://user?id={EMMA}"' in reader.mention(EMMA)
    assert reader.mention(EMMA).count("<a ") == 1
    assert readable(reader.format_staff(EMMA)) == reader.name_of(EMMA)

"""What Telegram shows of the bot to users who haven't started it."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from bot.home.command_menus import CommandMenus
from bot.infra.telegram.outcomes import SlowDown
from bot.infra.telegram.ui.routes import Menu
from tests.infra.builders import an_infra
from tests.texts import text


async def test_both_descriptions_are_set_in_each_language_and_in_english_for_all_others() -> None:
    said: dict[str | None, list[str]] = {}

    async def describe(words: str, *, language_code: str | None) -> None:
        said.setdefault(language_code, []).append(words)

    nothing = cast("Any", None)
    bot = cast("Any", SimpleNamespace(set_my_description=describe, set_my_short_description=describe))
    menus = CommandMenus(bot, an_infra(nothing, nothing), nothing, operator_ids=frozenset(), staff_chat=nothing)
    await menus.set_descriptions()
    read = {None: "en", "en": "en"} | dict.fromkeys(("id", "ms", "jv", "su"), "id")
    keys = ("home.about.description", "home.about.short")
    assert said == {code: [text(key, locale) for key in keys] for code, locale in read.items()}


@pytest.mark.parametrize("method", ["set_menus", "set_descriptions"])
async def test_menus_and_descriptions_wait_as_long_as_telegram_asks_for(method: str) -> None:
    calls: list[str] = []

    async def refuse(*_: object, **__: object) -> None:
        calls.append(method)
        raise SlowDown(300)

    bot = SimpleNamespace(set_my_commands=refuse, set_my_description=refuse)
    menus = CommandMenus(
        cast("Any", bot),
        an_infra(cast("Any", None), cast("Any", None)),
        {Menu.EVERYONE: ("send",)},
        operator_ids=frozenset(),
        staff_chat=cast("Any", None),
    )
    assert await getattr(menus, method)() == 300
    assert len(calls) == 1

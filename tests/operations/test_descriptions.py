"""What Telegram shows of the bot to users who haven't started it."""

from typing import Any, cast

from bot.operations.command_menus import CommandMenus
from tests.infra.builders import an_infra
from tests.sandbox.telegram_sandbox import running
from tests.texts import text


async def test_both_descriptions_are_set_in_each_language_and_in_english_for_all_others() -> None:
    nothing = cast("Any", None)
    async with running() as server:
        menus = CommandMenus(
            server.bot,
            an_infra(nothing, nothing),
            operator_ids=frozenset(),
            staff_chat=nothing,
        )
        await menus.set_descriptions()
        for code, locale in (("en", "en"), ("id", "id"), ("de", "en"), (None, "en")):
            assert (await server.bot.get_my_description(code)).description == text(
                "operations.about.description", locale
            )
            assert (await server.bot.get_my_short_description(code)).short_description == text(
                "operations.about.short", locale
            )

"""What Telegram shows of the bot to users who haven't started it."""

from typing import Any, cast

import pytest

from bot.infra.i18n import LOCALES
from bot.operations.command_menus import CommandMenus
from tests.sandbox.telegram_sandbox import running
from tests.texts import TRANSLATIONS, text


@pytest.mark.parametrize("default", LOCALES)
async def test_both_descriptions_are_set_in_each_language_and_for_all_others(default: str) -> None:
    nothing = cast("Any", None)
    async with running() as server:
        menus = CommandMenus(
            server.bot,
            database=nothing,
            translations=TRANSLATIONS,
            default_locale=default,
            operator_ids=frozenset(),
            staff_chat=nothing,
            list_menus=nothing,
        )
        await menus.set_descriptions()
        for code, locale in (("en", "en"), ("id", "id"), ("de", default), (None, default)):
            assert (await server.bot.get_my_description(code)).description == text(
                "operations.about.description", locale
            )
            assert (await server.bot.get_my_short_description(code)).short_description == text(
                "operations.about.short", locale
            )

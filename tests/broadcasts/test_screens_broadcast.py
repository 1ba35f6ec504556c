"""Screens for operators fit Telegram's limits, and readers get what was previewed."""

from dataclasses import replace
from decimal import Decimal

import pytest

from bot.broadcasts.model import (
    Audience,
)
from bot.broadcasts.screens.compose import build_keyboard, check_length, render_text
from bot.core.errors import Rejection
from bot.infra.i18n import LOCALES
from bot.infra.telegram.ui.screen import Screen
from tests.broadcasts.samples import QUOTE, a_draft
from tests.screens import HOSTILE_NAMES, ScreenCase, check_screen
from tests.texts import TRANSLATIONS


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("source", [*HOSTILE_NAMES, ""])
@pytest.mark.parametrize("usdc", [None, Decimal("16234.5")])
def test_the_usual_text_is_a_message_whatever_the_service_says(locale: str, source: str, usdc: Decimal | None) -> None:
    t = TRANSLATIONS.get(locale)
    quote = replace(QUOTE, source=source, usdc_idr=usdc)
    check_screen(
        ScreenCase("usual", Screen(render_text(a_draft(quote=quote), t), build_keyboard(t)), (t.rate(QUOTE.btc_idr),))
    )


@pytest.mark.parametrize(("picture", "limit"), [(None, 4096), ("photo", 1024)])
def test_what_is_too_long_for_telegram_once_filled_is_refused(picture: str | None, limit: int) -> None:
    own = a_draft(picture=picture, audience=Audience(locale="en"))
    check_length(replace(own, texts={"en": "😀" * (limit // 2)}), TRANSLATIONS)
    with pytest.raises(Rejection, match="too_long"):
        check_length(replace(own, texts={"en": "😀" * (limit // 2) + "x"}), TRANSLATIONS)
    with pytest.raises(Rejection, match="too_long"):
        check_length(replace(own, texts={"en": "x" * (limit - 8) + "{rate}"}), TRANSLATIONS)
    check_length(replace(own, texts={"en": "<b>&amp;</b>" * limit}), TRANSLATIONS)

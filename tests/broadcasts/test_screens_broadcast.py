"""Screens for operators fit Telegram's limits, and readers get what was previewed."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from bot.broadcasts.buttons import BroadcastButton
from bot.broadcasts.model import (
    VARIABLES,
    Audience,
    BroadcastWarning,
    Preview,
    read_template,
)
from bot.broadcasts.screens import compose
from bot.broadcasts.screens.compose import build_keyboard, check_length, render_text
from bot.core.errors import Rejection
from bot.infra.i18n import LOCALES
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Screen
from tests.broadcasts.samples import QUOTE, a_draft
from tests.screens import HOSTILE_NAMES, JAKARTA, NOW, ScreenCase, check_screen
from tests.texts import TRANSLATIONS, says


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("source", [*HOSTILE_NAMES, ""])
@pytest.mark.parametrize("usdc", [None, Decimal("16234.5")])
def test_the_usual_text_is_a_message_whatever_the_service_says(locale: str, source: str, usdc: Decimal | None) -> None:
    t = TRANSLATIONS.get(locale)
    quote = replace(QUOTE, source=source, usdc_idr=usdc)
    check_screen(
        ScreenCase("usual", Screen(render_text(a_draft(quote=quote), t), build_keyboard(t)), (t.rate(QUOTE.btc_idr),))
    )


def test_the_usual_text_says_the_same_numbers_in_both_languages() -> None:
    texts = [
        ScreenCase("", Screen(render_text(a_draft(quote=QUOTE), TRANSLATIONS.get(locale)))).text for locale in LOCALES
    ]
    assert [each for each in ("Rp1,700,123,457", "5,882 sats", "58,820 sats") if each in texts[0]] == [
        "Rp1,700,123,457",
        "5,882 sats",
        "58,820 sats",
    ]
    assert [each for each in ("Rp1.700.123.457", "5.882 sats", "58.820 sats") if each in texts[1]] == [
        "Rp1.700.123.457",
        "5.882 sats",
        "58.820 sats",
    ]


@pytest.mark.parametrize("locale", LOCALES)
def test_every_variable_is_filled_into_a_text_of_ones_own(locale: str) -> None:
    template = read_template(" ".join(f"<b>{{{name}}}</b>" for name in VARIABLES))
    broadcast = a_draft(texts={locale: template}, quote=QUOTE)
    text = render_text(broadcast, TRANSLATIONS.get(locale))
    assert "{" not in text
    check_screen(ScreenCase("own", Screen(text), (TRANSLATIONS.get(locale).rate(QUOTE.btc_idr),)))


@pytest.mark.parametrize(("picture", "limit"), [(None, 4096), ("photo", 1024)])
def test_what_is_too_long_for_telegram_once_filled_is_refused(picture: str | None, limit: int) -> None:
    own = a_draft(picture=picture, audience=Audience(locale="en"))
    check_length(replace(own, texts={"en": "😀" * (limit // 2)}), TRANSLATIONS)
    with pytest.raises(Rejection, match="too_long"):
        check_length(replace(own, texts={"en": "😀" * (limit // 2) + "x"}), TRANSLATIONS)
    with pytest.raises(Rejection, match="too_long"):
        check_length(replace(own, texts={"en": "x" * (limit - 8) + "{rate}"}), TRANSLATIONS)
    check_length(replace(own, texts={"en": "<b>&amp;</b>" * limit}), TRANSLATIONS)


def test_a_second_question_says_how_the_rate_moved_and_its_button_has_the_warnings() -> None:
    last = replace(QUOTE, btc_idr=QUOTE.btc_idr / 2)
    preview = Preview(a_draft(quote=QUOTE), {"en": 3}, timedelta(0), (BroadcastWarning.JUMPED,), last)
    seen = ScreenCase("sure", compose.ask_to_confirm_again(Reader(TRANSLATIONS.get("en"), JAKARTA, NOW), preview))
    rates = {"before": "Rp850,061,728", "rate": "Rp1,700,123,457"}
    assert says(seen.text, "broadcasts.jumped_up", percent="100%", **rates)
    press = BroadcastButton.read(seen.buttons[0].data or "")
    assert press is not None
    assert (press.action, press.argument) == ("sure", "j")

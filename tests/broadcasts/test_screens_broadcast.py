"""Screens for operators fit Telegram's limits, and readers get what was previewed."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from bot.app import build_declared
from bot.broadcasts.buttons import BroadcastButton
from bot.broadcasts.model import (
    VARIABLES,
    Audience,
    BroadcastPage,
    BroadcastWarning,
    Preview,
    read_template,
)
from bot.broadcasts.screens import compose, confirmed
from bot.broadcasts.screens.compose import build_keyboard, check_length, render_text
from bot.core.errors import Rejection
from bot.infra.i18n import LOCALES
from bot.infra.telegram.ui.callbacks import read_button
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Screen
from tests.architecture.every_screen import screens_of_modules
from tests.broadcasts.samples import QUOTE, a_draft
from tests.screens import HOSTILE_NAMES, JAKARTA, NOW, Outside, ScreenCase, check_screen
from tests.settlement.builders import LISTED_BCA
from tests.texts import TRANSLATIONS, says


@pytest.mark.parametrize("locale", LOCALES)
def test_every_button_is_one_that_is_answered(locale: str) -> None:
    (feature,) = (each for each in build_declared().features if each.name == "broadcasts")
    answered = {route.name for routes in feature.routes for route in routes.routes}
    outside = Outside(TRANSLATIONS.get(locale), LISTED_BCA)
    modules = (compose, confirmed)
    for seen in screens_of_modules(outside, *modules):
        for button in seen.buttons:
            pressed = read_button(button.data or "")
            assert pressed is not None, button
            assert pressed.prefix in answered, button


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("source", [*HOSTILE_NAMES, ""])
@pytest.mark.parametrize("usdc", [None, Decimal("16234.5")])
def test_the_usual_text_is_a_message_whatever_the_service_says(locale: str, source: str, usdc: Decimal | None) -> None:
    t = TRANSLATIONS.get(locale)
    quote = replace(QUOTE, source=source, usdc_idr=usdc)
    check_screen(
        ScreenCase("usual", Screen(render_text(a_draft(quote=quote), t), build_keyboard(t)), (t.rate(QUOTE.btc_idr),))
    )


@pytest.mark.parametrize(("locale", "said"), [("en", "1 USDC = Rp16,235"), ("id", "1 USDC = Rp16.235")])
def test_the_usual_text_has_usdc_in_whole_rupiah(locale: str, said: str) -> None:
    quote = replace(QUOTE, usdc_idr=Decimal("16234.5"))
    shown = ScreenCase("", Screen(render_text(a_draft(quote=quote), TRANSLATIONS.get(locale))))
    assert said in shown.text.split("\n")


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


def test_only_a_text_with_variables_needs_a_quote() -> None:
    t = TRANSLATIONS.get("en")
    assert render_text(a_draft(texts={"en": "<b>Hi</b>"}), t) == "<b>Hi</b>"
    with pytest.raises(ValueError, match="no quote"):
        render_text(a_draft(texts={"en": "{rate}"}), t)


@pytest.mark.parametrize(("picture", "limit"), [(None, 4096), ("photo", 1024)])
def test_what_is_too_long_for_telegram_once_filled_is_refused(picture: str | None, limit: int) -> None:
    own = a_draft(picture=picture, audience=Audience(locale="en"))
    check_length(replace(own, texts={"en": "😀" * (limit // 2)}), TRANSLATIONS)
    with pytest.raises(Rejection, match="too_long"):
        check_length(replace(own, texts={"en": "😀" * (limit // 2) + "x"}), TRANSLATIONS)
    with pytest.raises(Rejection, match="too_long"):
        check_length(replace(own, texts={"en": "x" * (limit - 8) + "{rate}"}), TRANSLATIONS)
    check_length(replace(own, texts={"en": "<b>&amp;</b>" * limit}), TRANSLATIONS)


def test_the_usual_text_fits_under_a_picture() -> None:
    check_length(a_draft(picture="photo"), TRANSLATIONS)


def test_a_second_question_says_how_the_rate_moved_and_its_button_has_the_warnings() -> None:
    last = replace(QUOTE, btc_idr=QUOTE.btc_idr / 2)
    preview = Preview(a_draft(quote=QUOTE), {"en": 3}, timedelta(0), (BroadcastWarning.JUMPED,), last)
    seen = ScreenCase("sure", compose.ask_to_confirm_again(Reader(TRANSLATIONS.get("en"), JAKARTA, NOW), preview))
    rates = {"before": "Rp850,061,728", "rate": "Rp1,700,123,457"}
    assert says(seen.text, "broadcasts.jumped_up", percent="100%", **rates)
    press = BroadcastButton.read(seen.buttons[0].data or "")
    assert press is not None
    assert (press.action, press.argument) == ("sure", "j")


@pytest.mark.parametrize("forged", ["bc:x:1:page", "bc:0123456789:1:", "bc:list:-1", "bc:0123456789:1:text:<b>"])
def test_forged_buttons_are_read_as_nothing(forged: str) -> None:
    assert read_button(forged) is None


@pytest.mark.parametrize("locale", LOCALES)
def test_a_text_of_ones_own_is_listed_by_its_first_words(locale: str) -> None:
    texts = {"en": "<b>No fees</b> &amp; more\nuntil Friday", "id": "<b>Tanpa biaya</b> &amp; lainnya\nsampai Jumat"}
    written = a_draft(is_rate=False, texts=texts)
    page = BroadcastPage((written,), {}, 0, 1)
    listed = ScreenCase("", confirmed.show_list(Reader(TRANSLATIONS.get(locale), JAKARTA, NOW), page)).text
    assert {"en": "“No fees & more until Friday”", "id": "“Tanpa biaya & lainnya sampai Jumat”"}[locale] in listed
    nothing = replace(page, broadcasts=(replace(written, texts={}),))
    assert "“…”" in ScreenCase("", confirmed.show_list(Reader(TRANSLATIONS.get(locale), JAKARTA, NOW), nothing)).text

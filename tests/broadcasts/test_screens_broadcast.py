"""Screens for operators fit Telegram's limits, and readers get what was previewed."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from bot.app import build_declared_features
from bot.broadcasts.buttons import BroadcastButton
from bot.broadcasts.drafts import BroadcastPage, Preview
from bot.broadcasts.model import (
    CHART,
    PERIODS,
    VARIABLES,
    WIDEST_QUOTE,
    Audience,
    Broadcast,
    BroadcastStatus,
    BroadcastWarning,
    DeliveryStatus,
    read_template,
)
from bot.broadcasts.run import Progress
from bot.broadcasts.screens import compose as broadcast_compose
from bot.broadcasts.screens import confirm as broadcast_confirm
from bot.broadcasts.screens import list as broadcast_list
from bot.broadcasts.screens import progress as broadcast_progress
from bot.broadcasts.screens.text import build_keyboard, check_length, render_text
from bot.core.errors import Rejection
from bot.infra.i18n import LOCALES, Translator
from bot.infra.telegram.ui.callbacks import read_button
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Screen
from bot.settlement.model import Quote
from tests.screens import HOSTILE_NAMES, JAKARTA, NOW, ScreenCase, check_screen
from tests.texts import TRANSLATIONS, says

QUOTE = Quote(Decimal("1700123456.5"), NOW, Decimal("16234.5"), "an <exchange>")


def a_broadcast(**changes: Any) -> Broadcast:
    """Return a draft about the rate."""
    known: dict[str, Any] = {"id": "0123456789", "operator_id": 2001, "created_at": NOW, "revision": 999_999_999}
    return Broadcast(**{**known, **changes})


def in_each_status() -> Iterator[Broadcast]:
    """Yield a broadcast in each status."""
    draft = a_broadcast(quote=QUOTE)
    yield draft
    yield replace(draft, texts={"en": "Hello", "id": "Halo"}, is_rate=False, quote=None)
    yield replace(draft, starts_at=NOW + timedelta(days=2))
    yield replace(draft, daily_minute=1439)
    yield replace(draft, status=BroadcastStatus.DISCARDED)
    confirmed = replace(draft, confirmed_at=NOW, confirmed_by=2**52, chat_id=2**52, starts_at=NOW)
    yield replace(confirmed, status=BroadcastStatus.SCHEDULED)
    yield replace(confirmed, status=BroadcastStatus.SCHEDULED, daily_minute=420, quote=None)
    yield replace(confirmed, status=BroadcastStatus.PAUSED, quote=None)
    yield replace(confirmed, status=BroadcastStatus.STOPPED, ended_at=NOW, report={})
    begun = replace(confirmed, started_at=NOW, series="9876543210")
    yield replace(begun, status=BroadcastStatus.RUNNING)
    yield replace(begun, status=BroadcastStatus.PAUSED)
    report = {str(status): 10**6 for status in DeliveryStatus}
    yield replace(begun, status=BroadcastStatus.DONE, ended_at=NOW, report=report)


def every_screen(t: Translator) -> Iterator[ScreenCase]:
    for picture in (None, "photo", *(CHART + period for period in PERIODS)):
        for audience in (Audience(), Audience(locale="id"), Audience(locale="en", active_days=1)):
            draft = a_broadcast(picture=picture, audience=audience, texts={"en": "Hello"})
            yield ScreenCase("composing", broadcast_compose.show_draft(Reader(t, JAKARTA, NOW), draft))
            yield ScreenCase("pictures", broadcast_compose.ask_picture(t, draft))
            for readers in ({}, {"en": 1}, {"en": 10**7, "id": 10**7}):
                yield ScreenCase("audiences", broadcast_compose.ask_audience(t, draft, readers))
    for broadcast in in_each_status():
        yield from _of(t, broadcast)
        no_results: dict[DeliveryStatus, int] = {}
        for results in () if broadcast.started_at is None else (no_results, dict.fromkeys(DeliveryStatus, 10**6)):
            progress = Progress(broadcast, results, 30.0, is_rate_limited=True)
            yield ScreenCase("progress", broadcast_progress.show_progress(t, progress, JAKARTA))
    yield ScreenCase("discarded", broadcast_compose.show_discarded(t))
    every = tuple(in_each_status())
    counts = {each.id: each.report or {} for each in every}
    for page in (BroadcastPage((), {}, 0, 0), BroadcastPage(every[-5:], counts, 5, 10**6)):
        yield ScreenCase("list", broadcast_list.show_list(Reader(t, JAKARTA, NOW), page))


def _of(t: Translator, broadcast: Broadcast) -> Iterator[ScreenCase]:
    for locale in LOCALES:
        yield ScreenCase("text", broadcast_compose.ask_text(t, broadcast, locale), ("{sats_100k}", "{time}"))
    yield ScreenCase("moments", broadcast_compose.ask_start(Reader(t, JAKARTA, NOW), broadcast))
    yield ScreenCase("daily", broadcast_compose.ask_daily_time(Reader(t, JAKARTA, NOW), broadcast))
    for duration in (timedelta(0), timedelta(seconds=61), timedelta(hours=30)):
        preview = Preview(
            broadcast,
            {"en": 12, "id": 10**6},
            duration,
            (BroadcastWarning.STALE, BroadcastWarning.JUMPED),
            WIDEST_QUOTE,
        )
        yield ScreenCase(
            "confirm", broadcast_confirm.ask_to_confirm(Reader(t, JAKARTA, NOW), preview), (t.number(1_000_012),)
        )
        yield ScreenCase("sure", broadcast_confirm.ask_to_confirm_again(Reader(t, JAKARTA, NOW), preview))
    for refused in (True, False):
        yield ScreenCase("not shown", broadcast_confirm.explain_not_shown(t, broadcast, is_refused=refused))
    yield ScreenCase("heading", broadcast_confirm.show_heading(t, "en", 12))
    yield ScreenCase("confirmed", broadcast_confirm.show_confirmed(Reader(t, JAKARTA, NOW), broadcast))
    yield ScreenCase("waits", broadcast_confirm.show_waiting(Reader(t, JAKARTA, NOW), broadcast, BroadcastWarning))
    counts = broadcast.report or {"waiting": 3}
    yield ScreenCase("page", broadcast_list.show_broadcast(Reader(t, JAKARTA, NOW), broadcast, counts))


@pytest.mark.parametrize("locale", LOCALES)
def test_every_screen_is_a_message_that_telegram_takes(locale: str) -> None:
    for seen in every_screen(TRANSLATIONS.get(locale)):
        check_screen(seen)


@pytest.mark.parametrize("locale", LOCALES)
def test_every_button_is_one_that_is_answered(locale: str) -> None:
    (feature,) = (each for each in build_declared_features() if each.name == "broadcasts")
    answered = {kind for routes in feature.routes for kind in routes.button_kinds()}
    for seen in every_screen(TRANSLATIONS.get(locale)):
        for button in seen.buttons:
            pressed = button.data or ""
            assert type(read_button(pressed)) in answered, button


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("source", [*HOSTILE_NAMES, ""])
@pytest.mark.parametrize("usdc", [None, Decimal("16234.5")])
def test_the_usual_text_is_a_message_whatever_the_service_says(locale: str, source: str, usdc: Decimal | None) -> None:
    t = TRANSLATIONS.get(locale)
    quote = replace(QUOTE, source=source, usdc_idr=usdc)
    check_screen(
        ScreenCase(
            "usual", Screen(render_text(a_broadcast(quote=quote), t), build_keyboard(t)), (t.rate(QUOTE.btc_idr),)
        )
    )


@pytest.mark.parametrize(("locale", "said"), [("en", "1 USDC = Rp16,235"), ("id", "1 USDC = Rp16.235")])
def test_the_usual_text_has_usdc_in_whole_rupiah(locale: str, said: str) -> None:
    quote = replace(QUOTE, usdc_idr=Decimal("16234.5"))
    shown = ScreenCase("", Screen(render_text(a_broadcast(quote=quote), TRANSLATIONS.get(locale))))
    assert said in shown.text.split("\n")


def test_the_usual_text_says_the_same_numbers_in_both_languages() -> None:
    texts = [
        ScreenCase("", Screen(render_text(a_broadcast(quote=QUOTE), TRANSLATIONS.get(locale)))).text
        for locale in LOCALES
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
    broadcast = a_broadcast(texts={locale: template}, quote=QUOTE)
    text = render_text(broadcast, TRANSLATIONS.get(locale))
    assert "{" not in text
    check_screen(ScreenCase("own", Screen(text), (TRANSLATIONS.get(locale).rate(QUOTE.btc_idr),)))


def test_only_a_text_with_variables_needs_a_quote() -> None:
    t = TRANSLATIONS.get("en")
    assert render_text(a_broadcast(texts={"en": "<b>Hi</b>"}), t) == "<b>Hi</b>"
    with pytest.raises(ValueError, match="no quote"):
        render_text(a_broadcast(texts={"en": "{rate}"}), t)


@pytest.mark.parametrize(("picture", "limit"), [(None, 4096), ("photo", 1024)])
def test_what_is_too_long_for_telegram_once_filled_is_refused(picture: str | None, limit: int) -> None:
    own = a_broadcast(picture=picture, audience=Audience(locale="en"))
    check_length(replace(own, texts={"en": "😀" * (limit // 2)}), TRANSLATIONS)
    with pytest.raises(Rejection, match="too_long"):
        check_length(replace(own, texts={"en": "😀" * (limit // 2) + "x"}), TRANSLATIONS)
    with pytest.raises(Rejection, match="too_long"):
        check_length(replace(own, texts={"en": "x" * (limit - 8) + "{rate}"}), TRANSLATIONS)
    check_length(replace(own, texts={"en": "<b>&amp;</b>" * limit}), TRANSLATIONS)


def test_the_usual_text_fits_under_a_picture() -> None:
    check_length(a_broadcast(picture="photo"), TRANSLATIONS)


def test_a_second_question_says_how_the_rate_moved_and_its_button_has_the_warnings() -> None:
    last = replace(QUOTE, btc_idr=QUOTE.btc_idr / 2)
    preview = Preview(a_broadcast(quote=QUOTE), {"en": 3}, timedelta(0), (BroadcastWarning.JUMPED,), last)
    seen = ScreenCase(
        "sure", broadcast_confirm.ask_to_confirm_again(Reader(TRANSLATIONS.get("en"), JAKARTA, NOW), preview)
    )
    rates = {"before": "Rp850,061,728", "rate": "Rp1,700,123,457"}
    assert says(seen.text, "broadcasts.jumped_up", percent="100%", **rates)
    press = BroadcastButton.read(seen.buttons[0].data or "")
    assert press is not None
    assert (press.action, press.argument) == ("sure", "j")


@pytest.mark.parametrize("forged", ["bc:x:1:page", "bc:0123456789:1:", "bc:list:-1", "bc:0123456789:1:text:<b>"])
def test_forged_buttons_are_read_as_nothing(forged: str) -> None:
    assert read_button(forged) is None
